"""A warning of reports that no distribution of records makes: raw records, or another mechanism's.

The statistic is the likelihood ratio of all multinomial distributions against those that the
mechanism can make, Σ_y N f_y log(f_y / p_y) at the most likely p. At the true p, which has no
greater likelihood, it is N KL(f ‖ p), whose tail has a bound for every N and p
(docs/proofs.md, section E), so rare symbols raise no false alarms.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from skrldp._typing import Floats
from skrldp.estimation.channels import Channel
from skrldp.estimation.likelihood import maximise
from skrldp.sets import tail_bound

__all__ = ["contradiction", "warn_of_contradiction"]

_FALSE_ALARMS = 1e-6  # of samples of a mechanism's own reports that may be warned of, at most
_STEPS = 500


def contradiction(
    channel: Channel,
    counts: Floats,
    likely: Floats,
    level: float,
    time_limit: float | None = None,
) -> float:
    """Test whether a mechanism can make such reports.

    Shapes: counts (b,), likely (a,).
    """
    n = float(counts.sum())
    seen = counts > 0
    shares = counts[seen] / n
    entropy = float(shares @ np.log(shares))
    steps = int(channel.possible.sum()) - 1

    def ratio(distribution: Floats) -> float:
        report = channel.forward(distribution)[seen]
        return n * (entropy - float(shares @ np.log(report))) if report.min() > 0.0 else np.inf

    def is_rare(statistic: float) -> bool:
        # No tail is below exp(-statistic): a quick answer for most.
        high = steps > 0 and statistic >= -np.log(level)
        return high and float(tail_bound(steps, 0)(statistic)) <= level

    if not is_rare(ratio(likely)):
        return 0.0
    best = maximise(channel, counts / n, 1.0 / n, _STEPS, time_limit)
    found = ratio(best.distribution) - n * best.gap
    return found if is_rare(found) else 0.0


def warn_of_contradiction(
    channel: Channel,
    counts: Floats,
    likely: Floats,
    time_limit: float | None = None,
    *,
    block: Sequence[Any] = (),
    tests: int = 1,
) -> None:
    """Warn if reports contradict the mechanism; see :func:`contradiction`.

    `block` has the columns of U in the mechanism's block, of as many as there are `tests`.
    """
    statistic = contradiction(channel, counts, likely, _FALSE_ALARMS / tests, time_limit)
    if statistic == 0.0:
        return
    of = f"the block ({', '.join(map(repr, block))})" if block else "this mechanism"
    warnings.warn(
        f"no distribution of records explains these {counts.sum():,.0f} reports of {of}: "
        f"the likelihood ratio is {statistic:.4g} nats, which chance gives in less than "
        f"{_FALSE_ALARMS:g} of all samples. Estimates and errors are worth nothing if the reports "
        "are raw records, or of another mechanism, or each person reported many times. Fit what "
        "this mechanism sent, each person once.",
        UserWarning,
        stacklevel=3,
    )
