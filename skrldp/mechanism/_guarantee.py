"""The figures of a mechanism's privacy proof, which are stored with it."""

import math
from dataclasses import dataclass
from typing import Literal

from skrldp.alphabet import SOURCES, source_in_words
from skrldp.mechanism._stated_sets import StatedLikelihoodRatioSet, StatedRenyiSet, as_float

__all__ = ["Guarantee"]


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
    distributions : StatedRenyiSet, StatedLikelihoodRatioSet or "all"
        The set of distributions that the proof is for.
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
    >>> ball = StatedRenyiSet(alpha=2.0, radius=0.1, rule="chi2", beta=0.05)
    >>> Guarantee(1.0, 0.99, 0.98, ball, n_records=100).for_all_distributions
    False
    >>> Guarantee(1.0, 0.99, 1.2, ball)
    Traceback (most recent call last):
    ...
    ValueError: eps_attained=1.2 is more than eps=0.99, which is proven to be the most.
    """

    eps_requested: float
    eps: float
    eps_attained: float
    distributions: StatedRenyiSet | StatedLikelihoodRatioSet | Literal["all"]
    n_records: int | None = None
    alphabet: str | None = None

    def __post_init__(self) -> None:
        """Check the figures."""
        for name in ("eps_requested", "eps", "eps_attained"):
            if not 0.0 <= as_float(self, name) < math.inf:
                raise ValueError(f"{name}={getattr(self, name)!r} is no finite number >= 0.")
        if self.eps_attained > self.eps:
            raise ValueError(
                f"eps_attained={self.eps_attained!r} is more than eps={self.eps!r}, which is "
                "proven to be the most."
            )
        around = self.distributions
        if not (isinstance(around, StatedRenyiSet | StatedLikelihoodRatioSet) or around == "all"):
            raise ValueError(f"distributions={around!r} is no stated set, and not 'all'.")
        if around == "all" and self.alphabet is not None:
            raise ValueError("a guarantee for all distributions has no alphabet.")
        n = self.n_records
        if n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 1):
            raise ValueError(f"n_records={n!r} is no whole number >= 1.")
        if self.alphabet is not None and self.alphabet not in SOURCES:
            raise ValueError(
                f"alphabet={self.alphabet!r} is none of {', '.join(map(repr, SOURCES))}."
            )

    @property
    def condition(self) -> str | None:
        """On what `beta` is conditional, in words; None if there is no `beta`."""
        around = self.distributions
        beta = None if isinstance(around, str) else around.beta
        return None if beta is None else source_in_words(self.alphabet)

    @property
    def for_all_distributions(self) -> bool:
        """Whether it holds at all distributions of the data: k reports then leak at most k·eps."""
        return self.distributions == "all"

    def describe_distributions(self) -> str:
        """Say in words which distributions it holds for.

        Returns
        -------
        str
        """
        if isinstance(self.distributions, str):
            return "all distributions"
        return self.distributions.describe()
