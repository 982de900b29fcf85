"""The public distribution over a mechanism's cells, counted in a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.alphabet import chance_of_infrequent, spent_on_values
from skrldp.cli._formats import Kind
from skrldp.cli._mechanism import cell_reader, names_of, placed, record_types
from skrldp.cli._opened import counts_of
from skrldp.cli._progress import progress
from skrldp.cli._tables import Wanted, open_batches
from skrldp.joint import JointDistribution
from skrldp.mechanism import Guarantee, Mechanism
from skrldp.surveys import SurveyTotals

__all__ = ["joint_of", "public_counts"]


def public_counts(
    mechanism: Mechanism, path: str, kind: Kind, counts: str | None
) -> JointDistribution:
    """Count the records of a public table in the mechanism's cells."""
    names = names_of(mechanism)
    types, converted = record_types(mechanism, names) if kind.is_text else ({}, None)
    columns = [*names, *([] if counts is None else [counts])]
    found = np.zeros(len(mechanism.secrets) * len(mechanism.values))
    with open_batches(path, kind, Wanted(columns, types), converted) as source:
        cells_of = placed(cell_reader(mechanism), source)
        for batch in progress(source, "counted"):
            weights = None if counts is None else counts_of(batch, counts, path).to_numpy()
            found += np.bincount(cells_of(batch), weights, len(found))
    return joint_of(mechanism, found)


def joint_of(
    mechanism: Mechanism, counts: Any, survey: SurveyTotals | None = None
) -> JointDistribution:
    """Return the distribution of counted records, with what the mechanism states of its values."""
    claim = mechanism.guarantee
    most = _most_values(claim)
    counts = counts.reshape(len(mechanism.secrets), len(mechanism.values))
    return JointDistribution(
        counts,
        mechanism.secrets,
        mechanism.values,
        alphabet=None if claim is None else claim.alphabet,
        most_values=None if most is None else max(most, len(mechanism.values)),
        beta_of_values=_beta_of_values(mechanism, counts),
        survey=survey,
    )


def _most_values(claim: Guarantee | None) -> int | None:
    """Return how many values of U sets are to allow for, if more than are listed.

    Where values were learned, that is one more than an asymptotic set counts: what no record has.
    None if what is claimed does not say.
    """
    stated = None if claim is None else claim.distributions
    if claim is None or stated is None or isinstance(stated, str):
        return None
    if stated.n_values is None:  # an asymptotic set does not say whether that one is listed
        return 0 if stated.rule == "finite-sample" else None
    asymptotic = stated.rule in ("chi2", "asymptotic")
    return stated.n_values + (asymptotic and claim.alphabet == "frequent")


def _beta_of_values(mechanism: Mechanism, counts: NDArray[Any]) -> float | None:
    """Bound the probability that values are frequent falsely: by the claim, or by the counts."""
    claim = mechanism.guarantee
    if claim is None or isinstance(claim.distributions, str):
        return None
    beta = claim.distributions.beta
    spent = spent_on_values(0.05 if beta is None else beta)
    # No value of a column has fewer records than a combination with it.
    chance = chance_of_infrequent(int(counts.sum()), int(counts.sum(axis=0).min()))
    return min(spent, len(mechanism.columns or "su") * chance)
