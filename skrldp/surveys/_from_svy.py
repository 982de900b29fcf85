"""The design of a sample of the package svy, as parameters; svy itself is not needed."""

import math
from typing import Any

__all__ = ["design_of_svy"]

_SINGLETONS = {None: "error", "center": "center", "skip": "certainty"}


def design_of_svy(sample: Any) -> dict[str, Any]:
    """Return the parameters of a `SurveyDesign`; see there."""
    design = getattr(sample, "design", None)
    if design is None or not hasattr(design, "wgt"):
        raise TypeError(f"a svy.Sample has a design, and {type(sample).__name__} has none.")
    if design.wgt is None and design.prob is not None:
        raise ValueError(
            f"the sample has selection probabilities ({design.prob!r}) and no weights: add a "
            "column of their inverses, and name it in Design(wgt=...)."
        )
    if design.rep_wgts is not None:
        factors = list(sample.rep_coefs.values())
        if not all(math.isclose(factor, factors[0]) for factor in factors):
            raise ValueError(
                "the replicates have coefficients that differ, and SurveyDesign(scale=...) is one "
                "for all: give strata and clusters in place of replicate weights."
            )
        columns = list(sample.rep_columns)
        return {"weights": design.wgt, "replicate_weights": columns, "scale": float(factors[0])}
    rule = getattr(design.singleton, "method", None)
    rule = getattr(rule, "value", rule)
    if rule not in _SINGLETONS:
        raise ValueError(
            f"singleton={rule!r} has no equivalent here: join strata of one cluster with others, "
            f"or choose one of {[name for name in _SINGLETONS if name]}."
        )
    return {
        "weights": design.wgt,
        "strata": design.stratum,
        "clusters": design.psu,
        "nest": design.stratum is not None and design.psu is not None,
        "singleton": _SINGLETONS[rule],
    }
