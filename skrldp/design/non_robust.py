r"""The most informative mechanism for the public distribution alone, by a formula.

By the chain rule :math:`I(X;Y) = I(S;Y) + I(U;Y|S)`. The second term is at most H(U|S). If the only
distribution is the public one, privacy concerns only S: the report is an ε-LDP report of S, so that
the first term is at most the capacity :math:`C_\epsilon(S)` of such reports. Both bounds are
attained together:

- Take the best ε-LDP mechanism for S alone, and lay the probabilities of its reports given s as
  blocks on an interval, one such interval for each s.
- Cut each interval at the cumulative :math:`P(u|s)`, so that its pieces correspond to the values of
  U.
- Divide each block where it is cut for any s, in proportion to its length. Each part of a block is
  a report. Its probabilities given the secrets have the same ratios as those of the block, so it is
  as private, and s and the report determine u.
"""

from typing import NamedTuple

import numpy as np

from skrldp._typing import Floats
from skrldp.design.limits import EQUAL, ROUNDING, Limits
from skrldp.design.solution import AT_PUBLIC, NEAR_PUBLIC, ObjectiveBound, Solution
from skrldp.design.subset_optimum import mutual_information_bound, optimal_response
from skrldp.information import entropy, mutual_information
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirement, Requirements


class _Response(NamedTuple):
    """A mechanism for S alone, its information, and an upper bound for all mechanisms."""

    matrix: Floats
    bound: ObjectiveBound
    status: str
    rounds: int


def optimum_at_public(
    joint: JointDistribution, requirements: Requirements, distribution: Floats, limits: Limits
) -> Solution | None:
    """Maximise I(X; Y) if privacy is for the public distribution alone, or for whole records.

    If the whole record is the secret, U has no columns, and all distributions are equivalent.

    Returns Solution or None: None for other requirements, or if mechanisms observe only U.

    The mechanism is optimal at the public distribution. Privacy does not restrict a cell without
    records if its secret has some. If the criterion's `distribution` (a,) assigns it a positive
    probability, it gets a separate report, which is optimal; otherwise it uses the least probable
    report.
    """
    one = _on_secrets(joint, requirements)
    if one is None:
        return None
    response = _response(joint, one.eps, limits)
    limits.count(response.rounds)
    seen = joint.marginal > 0
    matrix = coupled(response.matrix, joint.conditionals * seen[:, None])
    matrix = _with_cells_without_records(matrix, distribution)
    public = joint.probabilities.ravel()
    objective = mutual_information(matrix, public)
    about = "the whole record" if requirements.of_whole_records else "S"
    message = f"{len(response.matrix)} reports of {about}"
    message += "." if requirements.of_whole_records else " alone, divided by the values of U."
    if response.status != "optimal":
        message = f"The report of {about} is not quite optimal. {message}"
    return Solution(
        status=response.status,
        solver="coupling",
        objective=objective,
        bound=max(response.bound.value, objective),
        bound_by=response.bound.by,
        message=message,
        matrix=matrix,
    )


def _on_secrets(joint: JointDistribution, requirements: Requirements) -> Requirement | None:
    """Return a sole requirement if it is for all of S at one distribution of U, otherwise None."""
    one, layout = requirements.items[0], requirements.items[0].region.rows
    only = len(requirements) == 1 and (one.region.is_point or requirements.of_whole_records)
    plain = layout.in_order and layout.parts.shape == joint.counts.shape
    return one if only and plain and requirements.any_pair else None


def _response(joint: JointDistribution, eps: float, limits: Limits) -> _Response:
    """Find the best report of S alone."""
    counts = joint.people.sum(axis=1)
    seen = counts > 0
    of_values = joint.entropy - entropy(joint.marginal)
    # The gap is relative to the total information, most of which may be about U.
    most = mutual_information_bound(joint.marginal[:, None], eps)
    gap = EQUAL * (1.0 + of_values / most) if most > 0 else 1.0
    best = optimal_response(counts[seen], eps, gap=gap, limits=limits)
    # A secret without records is reported like the most frequent one.
    place = np.where(seen, np.cumsum(seen) - 1, int(counts[seen].argmax()))
    near = best.bound - best.information <= 2.0 * EQUAL * (of_values + best.information)
    bound = ObjectiveBound(of_values + best.bound, AT_PUBLIC if near else NEAR_PUBLIC)
    status = "optimal" if near else limits.status if limits.met else "optimal_inaccurate"
    return _Response(best.matrix[:, place], bound, status, best.rounds)


def coupled(response: Floats, conditionals: Floats) -> Floats:
    """Extend reports of S to reports that reveal U given the secret, at no cost in privacy.

    Shapes: `response` (m, a1); `conditionals` (a1, a2). Returns (b, a1 * a2): mechanism; the
    columns of cells with probability 0 are zero, unless this is true of all cells of their secret.
    With at most a1 reports of S, b is at most a1 * a2.

    Examples
    --------
    >>> import numpy as np
    >>> coupled(np.ones((1, 2)), np.array([[0.5, 0.5], [0.25, 0.75]]))
    array([[0.5       , 0.        , 1.        , 0.        ],
           [0.5       , 0.        , 0.        , 0.33333333],
           [0.        , 1.        , 0.        , 0.66666667]])
    """
    (n_secrets, n_values), n_blocks = conditionals.shape, len(response)
    seen = conditionals.sum(axis=1) > 0
    ends = np.cumsum(conditionals, axis=1)
    ends = np.where(seen[:, None], ends / np.where(seen, ends[:, -1], 1.0)[:, None], 0.0)
    stops = np.cumsum(response, axis=0)
    stops = stops / stops[-1]
    starts = np.concatenate([np.zeros((1, n_secrets)), stops[:-1]])
    rows = []
    for block in range(n_blocks):
        length = stops[block] - starts[block]
        some = seen & (length > 0)
        within = (ends[some] - starts[block, some, None]) / length[some, None]
        inner = np.unique(within[(within > ROUNDING) & (within < 1.0 - ROUNDING)])
        cuts = np.append(0.0, inner[np.diff(inner, prepend=0.0) > ROUNDING])
        parts = np.diff(cuts, append=1.0)
        middle = starts[block] + (cuts + parts / 2.0)[:, None] * length  # (parts, secrets)
        value = (middle[:, :, None] > ends).sum(axis=2)
        value = np.minimum(value, n_values - 1)
        told = np.arange(n_values) == value[:, :, None]
        rows.append(np.where(seen[:, None], told, True) * (parts[:, None] * length)[:, :, None])
    table = np.concatenate(rows).reshape(-1, n_secrets * n_values)
    table = table[table.any(axis=1)]
    total = table.sum(axis=0)
    return np.asarray(table / np.where(total > 0, total, 1.0))


def _with_cells_without_records(matrix: Floats, distribution: Floats) -> Floats:
    """Fill columns of zeros: a report of its own for a cell with records, else the rarest one."""
    empty = ~matrix.any(axis=0)
    own = np.eye(matrix.shape[1])[empty & (distribution > 0)]
    full = np.concatenate([matrix, own])
    full[int((matrix @ distribution).argmin()), empty & (distribution <= 0)] = 1.0
    return full
