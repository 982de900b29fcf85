"""The sets of distributions that a mechanism's guarantee can state."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from skrldp._params import is_whole
from skrldp._sentences import inside

RULES = ("chi2", "asymptotic", "finite-sample", "given")


@dataclass(frozen=True)
class StatedRenyiSet:
    """The ball in Rényi divergence around the public distribution.

    Parameters
    ----------
    alpha : float
        Order of the divergence.
    radius : float
        Its greatest value, in nats; 0 for the public distribution alone.
    rule : {"chi2", "finite-sample", "given"}
        Where the radius comes from.
    beta : float or None
        Probability that a ball made by this rule misses the true distribution, at most (for "chi2",
        approximately); None for a given radius.
    n_values : int or None
        The number of values of U that there may be, for which a rule makes the radius; None for
        those listed.

    Raises
    ------
    ValueError
        If a figure is out of its range, or two do not fit together.

    Examples
    --------
    >>> StatedRenyiSet(alpha=2.0, radius=0.1, rule="chi2", beta=0.05).is_point
    False
    """

    alpha: float
    radius: float
    rule: str
    beta: float | None = None
    n_values: int | None = None

    kind: ClassVar[str] = "renyi"  # as the JSON names it
    is_everything: ClassVar[bool] = False
    covers_groups: ClassVar[bool] = True  # known values are covered by the same event
    of_conditionals: ClassVar[bool] = False
    rules: ClassVar[tuple[str, ...]] = ("chi2", "finite-sample", "given")

    def __post_init__(self) -> None:
        """Check the figures."""
        if not 0.0 < as_float(self, "alpha") < math.inf:
            raise ValueError(f"alpha={self.alpha!r} is no finite number > 0.")
        if not 0.0 <= as_float(self, "radius") < math.inf:
            raise ValueError(f"radius={self.radius!r} is no finite number >= 0.")
        _check_rule(self)
        if self.rule == "finite-sample" and self.alpha != 1.0:
            raise ValueError(f"rule='finite-sample' is for alpha=1, got alpha={self.alpha!r}.")

    @property
    def is_point(self) -> bool:
        """Whether it holds nothing but the public distribution."""
        return self.radius == 0.0

    def describe(self) -> str:
        """Say in words which distributions are inside."""
        return inside(self, "a set of distributions (a Rényi ball around the public one)")

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the uncertainty set that a sanitizer takes."""
        return {"alpha": self.alpha, **_rule_of(self, self.radius)}


@dataclass(frozen=True)
class StatedLikelihoodRatioSet:
    r"""The distributions whose conditionals of U have small log likelihood ratios.

    With the public probability w of a secret and the divergence D of its public conditional from
    the distribution's own, it holds those with :math:`w_s D_s \le b_1 + w_s\delta` for each secret
    and :math:`w_s D_s + w_t D_t \le b_2 + (w_s + w_t)\delta` for each two, whatever their
    marginal of S.

    Parameters
    ----------
    single, pair : float
        The budgets :math:`b_1` and :math:`b_2`, in nats: log likelihood ratios divided by the
        number of public records. The pair budget is at least the single one and at most twice it.
    drift : float
        By how much the divergence of each conditional may exceed that, δ, in nats.
    rule : {"finite-sample", "asymptotic", "given"}
        Where the budgets come from.
    beta : float or None
        Probability that a set made by this rule misses the true conditionals, at most (for
        "asymptotic", approximately); None for given budgets.
    n_values : int or None
        The number of values of U that there may be, for which a rule makes the budgets; None for
        those listed.

    Raises
    ------
    ValueError
        If a figure is out of its range, or two do not fit together.

    Examples
    --------
    >>> StatedLikelihoodRatioSet(0.07, 0.1, 0.0, "finite-sample", 0.05).is_point
    False
    >>> StatedLikelihoodRatioSet(0.07, 0.15, 0.0, "given")
    Traceback (most recent call last):
    ...
    ValueError: pair=0.15 must lie between single=0.07 and twice that.
    """

    single: float
    pair: float
    drift: float
    rule: str
    beta: float | None = None
    n_values: int | None = None

    kind: ClassVar[str] = "likelihood-ratio"
    is_everything: ClassVar[bool] = False
    of_conditionals: ClassVar[bool] = True  # the probabilities of the secrets are not limited
    rules: ClassVar[tuple[str, ...]] = ("finite-sample", "asymptotic", "given")

    def __post_init__(self) -> None:
        """Check the figures."""
        for name in ("single", "pair", "drift"):
            if not 0.0 <= as_float(self, name) < math.inf:
                raise ValueError(f"{name}={getattr(self, name)!r} is no finite number >= 0.")
        if not self.single <= self.pair <= 2.0 * self.single:
            raise ValueError(
                f"pair={self.pair!r} must lie between single={self.single!r} and twice that."
            )
        _check_rule(self)

    @property
    def covers_groups(self) -> bool:
        """Whether the same numbers for known values are of the same event."""
        return self.n_values is not None

    @property
    def is_point(self) -> bool:
        """Whether it holds nothing but the public conditionals."""
        return self.pair == 0.0 and self.drift == 0.0

    def describe(self) -> str:
        """Say in words which distributions are inside."""
        words = "a set of distributions (by likelihood ratios of their conditionals)"
        return inside(self, words)

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the uncertainty set that a sanitizer takes."""
        return {"drift": self.drift, **_rule_of(self, self.pair)}


StatedSet = StatedRenyiSet | StatedLikelihoodRatioSet
STATED_SETS: dict[str, type[StatedSet]] = {
    stated.kind: stated for stated in (StatedRenyiSet, StatedLikelihoodRatioSet)
}


def _check_rule(stated: StatedSet) -> None:
    if stated.rule not in stated.rules:
        raise ValueError(f"rule={stated.rule!r} is none of {', '.join(map(repr, stated.rules))}.")
    if stated.rule == "given":
        if stated.beta is not None:
            raise ValueError(f"a given set has no beta, got {stated.beta!r}.")
    elif not 0.0 < as_float(stated, "beta") < 1.0:
        raise ValueError(f"beta={stated.beta!r} is no probability between 0 and 1.")
    n_values = stated.n_values
    if n_values is not None and not (is_whole(n_values) and n_values > 0):
        raise ValueError(f"n_values={n_values!r} is no whole number >= 1.")


def _rule_of(stated: StatedSet, radius: float) -> dict[str, Any]:
    """Return the radius and beta of a parameter object: by the rule, or as given."""
    if stated.rule == "given":
        return {"radius": radius}
    return {"radius": stated.rule, "beta": stated.beta}


def as_float(holder: Any, name: str) -> float:
    """Turn a figure of a frozen object into a float; what is no number is left as it is.

    Returns float: NaN, which the checks refuse, if it is not a number.
    """
    number = real(getattr(holder, name))
    if not math.isnan(number):
        object.__setattr__(holder, name, number)  # 1 and 1.0 are written alike
    return number


def real(value: Any) -> float:
    """Return a number as a float.

    Returns float: NaN, which the checks refuse, if it is no number, or no float holds it.
    """
    if isinstance(value, bool) or not isinstance(value, float | int):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
