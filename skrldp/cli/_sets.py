"""The uncertainty set that options or a mechanism's guarantee state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skrldp.cli._errors import CommandError
from skrldp.mechanism import Guarantee
from skrldp.sets import AllDistributions, LikelihoodRatioSet, RenyiBall

if TYPE_CHECKING:
    from skrldp.surveys import SurveyDesign

__all__ = ["asked_set", "stated_in"]


def asked_set(
    uncertainty: str | None,
    beta: float | None,
    survey: SurveyDesign | None,
    claim: Guarantee | None = None,
) -> Any:
    """Make the set that the options state, else the one that a guarantee states, by its rule.

    That of a survey without a greatest weight is made for many clusters. A guarantee states such a
    set by its numbers alone.

    Returns LikelihoodRatioSet, RenyiBall, AllDistributions or None: none if nothing is stated.
    """
    by_ratios = uncertainty == "likelihood-ratio" or (
        uncertainty is None and (claim is None or _is_given(claim))
    )
    if survey is not None and survey.max_weight is None and by_ratios:
        own: Any = {} if beta is None else {"beta": beta}
        return LikelihoodRatioSet(radius="asymptotic", **own)
    return _by_options(uncertainty, beta) or stated_in(claim)


def _is_given(claim: Guarantee) -> bool:
    stated = claim.distributions
    return stated != "all" and stated.of_conditionals and stated.rule == "given"


def _by_options(uncertainty: str | None, beta: float | None) -> Any:
    if uncertainty in ("all", "public"):
        if beta is not None:
            raise CommandError(f"--beta does not go with --uncertainty {uncertainty}.")
        return AllDistributions() if uncertainty == "all" else RenyiBall(radius=0.0)
    own: Any = {} if beta is None else {"beta": beta}
    if uncertainty == "renyi":
        return RenyiBall(**own)
    return None if not own and uncertainty is None else LikelihoodRatioSet(**own)


def stated_in(guarantee: Guarantee | None) -> Any:
    """Make the set that a guarantee states, by its rule; None if there is no guarantee."""
    if guarantee is None:
        return None
    around = guarantee.distributions
    if isinstance(around, str):
        return AllDistributions()
    kinds: Any = {"likelihood-ratio": LikelihoodRatioSet, "renyi": RenyiBall}
    return kinds[around.kind](**around.parameters)
