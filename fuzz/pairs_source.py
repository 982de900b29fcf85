"""Whether it is true where values of U come from: declared, frequent or learned."""

import math

import numpy as np
from pairs_table import FalseClaimError, u_columns


def _frequent_from(n, beta):
    """The least number of records by Theorem 36."""

    def chance(mean, least):
        few = math.exp(-mean) * (math.e * mean / 4.0) ** 4
        many = math.exp(-mean) * (math.e * mean / least) ** least
        return n / mean * (few + many)

    least = 7
    while min(chance(mean, least) for mean in range(6, least)) > beta * (1 + 1e-6):
        least += 1
    return least


def check_source(case, sanitizer, report, told):
    """Whether the values of U are declared, frequent or learned, and what is said."""
    source = sanitizer.joint_.alphabet
    declared = case.declared
    learned = [name for name in case.of_u if name not in declared]
    stated = [sanitizer.certificate_.uncertainty.beta]
    useful = getattr(sanitizer, "utility_uncertainty_", None)
    if useful is not None and isinstance(getattr(useful, "radius", None), str):
        stated.append(useful.beta)
    if source == "declared" and learned:
        raise FalseClaimError(f"the values of {learned} are said to be declared")
    if source == "frequent":
        _check_frequent(case, sanitizer, learned)
    words = {
        "declared": "the values of U are declared",
        "frequent": "each has enough of them",
        "learned": "the set may miss far more often",
    }
    text = " ".join(str(report).split())
    if any(beta is not None for beta in stated):
        if words[source] not in text:
            raise FalseClaimError(f"the values are {source}, and the report does not say so")
        if source == "learned" and not any("learned from the" in one for one in told):
            raise FalseClaimError("rare values were learned from the counted records, unwarned")


def _check_frequent(case, sanitizer, learned):
    """Each value of its own has as many records as the theorem wants, and the sets know."""
    joint, own = sanitizer.joint_, case.parameters
    if case.survey and not case.survey.startswith("exact"):
        raise FalseClaimError("values of a survey are said to be frequent")
    table = case.table
    weights = np.ones(len(table)) if case.weights is None else case.weights
    if case.survey:
        return  # which records were kept is not known here
    around = own.get("uncertainty")
    beta = getattr(around, "beta", None) or 0.05
    grouped = own.get("handle_unknown") == "infrequent_if_exist" or "min_frequency" in own
    judged = [[name] for name in learned]
    whole = not grouped and own.get("categories") not in ("product", "dtype") and len(case.of_u) > 1
    if whole and not case.declared & set(case.of_u):
        judged = [case.of_u]
    least = _frequent_from(int(weights.sum()), 0.02 * beta / max(1, len(judged)))
    most = 1
    for names in judged:
        counts = table.assign(_=weights).groupby(names, dropna=False)["_"].sum()
        kept = counts
        if len(names) == 1:
            place = u_columns(sanitizer.mechanism_).index(names[0])
            values = {v[place] if isinstance(v, tuple) else v for v in joint.values}
            own = [None if value != value else value for value in counts.index]
            kept = counts[[value in values for value in own]]
            others = (sanitizer.mechanism_.others or (None,) * 9)[place]
            if len(kept) < len(counts) and others is not True:
                raise FalseClaimError("'other' is a list of values that were learned")
        if (kept < least).any():
            raise FalseClaimError(f"a value with {kept.min()} records is said to be frequent")
        most *= int((counts >= 5).sum()) + 1
    if joint.most_values < most:
        raise FalseClaimError(f"the set is for {joint.most_values} values, and there may be {most}")
