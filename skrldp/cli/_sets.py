"""The uncertainty set that options or a mechanism's guarantee state."""

from __future__ import annotations

from typing import Any

from skrldp.cli._errors import CommandError
from skrldp.mechanism import Guarantee, StatedLikelihoodRatioSet

__all__ = ["stated_in", "uncertainty_of"]

SETS = ("likelihood-ratio", "renyi", "all", "public")


def uncertainty_of(uncertainty: str | None, beta: float | None) -> Any:
    """Make the set that the options state.

    Returns LikelihoodRatioSet, RenyiBall, AllDistributions or None: none if the options state
    nothing.
    """
    from skrldp.sets import AllDistributions, LikelihoodRatioSet, RenyiBall

    if uncertainty in ("all", "public"):
        if beta is not None:
            raise CommandError(f"--beta does not go with --uncertainty {uncertainty}.")
        return AllDistributions() if uncertainty == "all" else RenyiBall(radius=0.0)
    own: Any = {} if beta is None else {"beta": beta}
    if uncertainty == "renyi":
        return RenyiBall(**own)
    return None if not own and uncertainty is None else LikelihoodRatioSet(**own)


def stated_in(guarantee: Guarantee | None) -> Any:
    """Make the set that a guarantee states, by its rule.

    Returns LikelihoodRatioSet, RenyiBall, AllDistributions or None: none if there is no guarantee.
    """
    from skrldp.sets import AllDistributions, LikelihoodRatioSet, RenyiBall

    if guarantee is None:
        return None
    around = guarantee.distributions
    if isinstance(around, str):
        return AllDistributions()
    given: Any = {} if around.beta is None else {"beta": around.beta}
    if isinstance(around, StatedLikelihoodRatioSet):
        radius: Any = around.rule if around.rule != "given" else around.pair
        return LikelihoodRatioSet(radius=radius, drift=around.drift, **given)
    radius = around.rule if around.rule != "given" else around.radius
    return RenyiBall(around.alpha, radius=radius, **given)
