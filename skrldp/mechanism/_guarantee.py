"""The figures of a mechanism's privacy proof, which are stored with it."""

import math
from dataclasses import dataclass

from skrldp.alphabet import SOURCES, source_in_words

__all__ = ["RULES", "Guarantee"]

RULES = ("chi2", "finite-sample", "given")


@dataclass(frozen=True)
class Guarantee:
    """A mechanism's proven privacy, and the distributions of the data that it holds for.

    A client can show these figures but not check them. Whoever has the public counts can prove them
    again with :func:`skrldp.certify`.

    Parameters
    ----------
    eps_requested : float
        The ε that was asked for, in nats.
    eps : float
        Proven upper bound on the leakage at every distribution of the set, in nats.
    eps_attained : float
        Leakage that some distribution of the set attains, in nats; at most `eps`.
    radius : float
        Radius of the Rényi ball of distributions around the public one, in nats. Infinite for all
        distributions; 0 for the public distribution alone.
    alpha : float or None
        Order of the ball; None for all distributions.
    rule : {"chi2", "finite-sample", "given"} or None
        Where the radius comes from; None for all distributions.
    beta : float or None
        Probability that a ball made by this rule misses the true distribution, at most (for "chi2",
        approximately); None for a given radius and for all distributions.
    n_records : int or None
        Number of public records; None if it is not stated.
    alphabet : {"declared", "split", "learned"} or None
        Where the values of U come from, on which `beta` depends: declared, learned from records
        that are not counted, or learned from the counted ones. None if it is not stated, and for
        all distributions.

    Raises
    ------
    ValueError
        If a figure is out of its range, or two do not fit together.

    Examples
    --------
    >>> guarantee = Guarantee(1.0, 0.99, 0.98, radius=0.1, alpha=2.0, rule="chi2", beta=0.05)
    >>> guarantee.for_all_distributions
    False
    >>> Guarantee(1.0, 0.99, 1.2, radius=0.1, alpha=2.0, rule="given")
    Traceback (most recent call last):
    ...
    ValueError: eps_attained=1.2 is more than eps=0.99, which is proven to be the most.
    """

    eps_requested: float
    eps: float
    eps_attained: float
    radius: float
    alpha: float | None = None
    rule: str | None = None
    beta: float | None = None
    n_records: int | None = None
    alphabet: str | None = None

    def __post_init__(self) -> None:
        """Check the figures."""
        for name in ("eps_requested", "eps", "eps_attained"):
            if not 0.0 <= self._number(name) < math.inf:
                raise ValueError(f"{name}={getattr(self, name)!r} is no finite number >= 0.")
        if self.eps_attained > self.eps:
            raise ValueError(
                f"eps_attained={self.eps_attained!r} is more than eps={self.eps!r}, which is "
                "proven to be the most."
            )
        if not self._number("radius") >= 0.0:
            raise ValueError(f"radius={self.radius!r} is no number >= 0.")
        if self.for_all_distributions:
            if (self.alpha, self.rule, self.beta, self.alphabet) != (None, None, None, None):
                raise ValueError(
                    "a guarantee for all distributions has no alpha, rule, beta or alphabet."
                )
        else:
            if not 0.0 < self._number("alpha") < math.inf:
                raise ValueError(f"alpha={self.alpha!r} is no finite number > 0.")
            if self.rule not in RULES:
                raise ValueError(f"rule={self.rule!r} is none of {', '.join(map(repr, RULES))}.")
            if self.rule == "given":
                if self.beta is not None:
                    raise ValueError(f"a given radius has no beta, got {self.beta!r}.")
            elif not 0.0 < self._number("beta") < 1.0:
                raise ValueError(f"beta={self.beta!r} is no probability between 0 and 1.")
        if self.alphabet is not None and self.alphabet not in SOURCES:
            raise ValueError(
                f"alphabet={self.alphabet!r} is none of {', '.join(map(repr, SOURCES))}."
            )
        n = self.n_records
        if n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 1):
            raise ValueError(f"n_records={n!r} is no whole number >= 1.")

    @property
    def condition(self) -> str | None:
        """On what `beta` is conditional, in words; None if there is no `beta`."""
        return None if self.beta is None else source_in_words(self.alphabet)

    @property
    def for_all_distributions(self) -> bool:
        """Whether it holds at all distributions of the data: k reports then leak at most k·eps."""
        return self.radius == math.inf

    def _number(self, name: str) -> float:
        """Turn a figure into a float; if it is not a number into NaN, which the checks refuse."""
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, float | int):
            return math.nan
        try:
            number = float(value)
        except OverflowError:
            return math.nan
        object.__setattr__(self, name, number)  # 1 and 1.0 are written alike
        return number
