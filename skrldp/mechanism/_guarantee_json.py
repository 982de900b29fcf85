"""The part of a mechanism's JSON that states its guarantee; `docs/client.md` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any, Literal, TypeVar

from skrldp.alphabet import brief
from skrldp.mechanism._guarantee import FurtherBound, Guarantee, ProvenBound
from skrldp.mechanism._json_checks import check_keys, malformed
from skrldp.mechanism._stated_sets import STATED_SETS, StatedRenyiSet, StatedSet

__all__ = ["claims_of", "guarantee_from"]

T = TypeVar("T")

_PROOF = ("eps_requested", "eps", "eps_attained")
# What is left out where it is not stated, in the order in which it is written.
_OPTIONAL = {1: (), 2: ("alphabet",), 3: ("eps_all", "eps_given_u", "alphabet")}


def claims_of(guarantee: Guarantee) -> dict[str, Any]:
    """Return a guarantee as JSON holds it.

    Returns dict: with the keys in canonical order.
    """
    bounds = ("eps_all", "eps_given_u")
    claims = _stated_fields(guarantee, (*_PROOF, *bounds, "n_records", "alphabet"))
    claims["distributions"] = _set_of(guarantee.distributions)
    if guarantee.further:
        claims["further"] = [
            {
                **_stated_fields(each, ("secret", "known", *_PROOF, "alphabet")),
                "distributions": _set_of(each.distributions),
            }
            for each in guarantee.further
        ]
    return claims


def guarantee_from(claims: Any, version: int) -> Guarantee:
    """Read a guarantee.

    Raises ValueError if it does not follow the format exactly, or its figures are impossible.
    """
    key = "laws" if version == 1 else "distributions"
    needed, optional = (*_PROOF, "n_records", key), _OPTIONAL[version]
    _check_object(claims, needed, (*optional, *(("further",) if version > 2 else ())), "guarantee")
    figures = {name: claims[name] for name in (*needed[:-1], *optional) if name in claims}
    if "further" in claims:
        figures["further"] = _statements(claims["further"])
    around = _set_from(claims[key], f"guarantee.{key}", version)
    return _made(Guarantee, {**figures, "distributions": around})


def _statements(found: Any) -> tuple[FurtherBound, ...]:
    if not isinstance(found, list) or not found:
        raise malformed("guarantee.further must be a list that is not empty")
    statements = []
    for claims in found:
        where, needed = "each of guarantee.further", ("secret", "known", *_PROOF)
        _check_object(claims, (*needed, "distributions"), ("alphabet",), where)
        figures = {name: claims[name] for name in (*needed, "alphabet") if name in claims}
        around = _set_from(claims["distributions"], "guarantee.further.distributions", 3)
        statements.append(_made(FurtherBound, {**figures, "distributions": around}))
    return tuple(statements)


def _check_object(claims: Any, needed: Sequence[str], optional: Sequence[str], where: str) -> None:
    """Check that it is an object with these keys, and that nothing optional is null."""
    if not isinstance(claims, dict):
        raise malformed(f"{where} must be an object")
    check_keys(claims, needed, optional, where)
    for name in optional:
        if name in claims and claims[name] is None:
            raise malformed(f"in its guarantee, {name} is null: leave it out")


def _stated_fields(stated: ProvenBound, order: Sequence[str]) -> dict[str, Any]:
    """Return fields by name, without those that are not stated; `n_records` is null then."""
    found = {name: getattr(stated, name) for name in order}
    return {name: it for name, it in found.items() if it is not None or name == "n_records"}


def _set_of(around: StatedSet | Literal["all"]) -> str | dict[str, Any]:
    if isinstance(around, str):
        return around
    figures = {name: it for name, it in asdict(around).items() if it is not None or name == "beta"}
    return {"set": around.kind, **figures}


def _set_from(around: Any, where: str, version: int) -> StatedSet | Literal["all"]:
    """Read the set of distributions that a proof is for."""
    if around == "all":
        return "all"
    if not isinstance(around, dict):
        raise malformed(f"{where} must be 'all' or an object")
    of_old = version == 1  # which knew balls alone, and did not say so
    kind = StatedRenyiSet.kind if of_old else around.get("set")
    if not isinstance(kind, str) or kind not in STATED_SETS:
        raise malformed(
            f"{where} has the set {brief(repr(kind))}, none of {', '.join(map(repr, STATED_SETS))}"
        )
    needed = tuple(field.name for field in fields(STATED_SETS[kind]) if field.name != "n_values")
    optional = ("n_values",) if version > 2 else ()
    _check_object(around, needed if of_old else ("set", *needed), optional, where)
    return _made(STATED_SETS[kind], {name: it for name, it in around.items() if name != "set"})


def _made(kind: type[T], figures: dict[str, Any]) -> T:
    """Make a part of the guarantee of its figures."""
    try:
        return kind(**figures)
    except ValueError as error:
        raise malformed(f"in its guarantee, {str(error).rstrip('.')}") from None
