"""How large the likelihood-ratio statistics of the true conditionals can be, at error beta.

The statistic of secret s is G_s = N_s KL(p_s || R_s): N_s records with the secret, observed
conditional p_s, true conditional R_s. Its double is the likelihood-ratio statistic of R_s.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri

__all__ = ["likelihood_ratio_budgets"]

# Relative surplus over a root that was found to 1e-14: errs on the safe side.
_SURPLUS = 1e-12


def likelihood_ratio_budgets(
    counts: Sequence[int] | npt.NDArray[np.integer],
    n_values: int,
    beta: float,
    rule: Literal["finite-sample", "asymptotic"],
) -> tuple[float, float]:
    """Bounds on the statistics of single secrets and on their sums over pairs, at joint error beta.

    With probability at least ``1 - beta`` every secret has ``G_s <= single`` and every pair of
    secrets has ``G_s + G_t <= pair``.

    Parameters
    ----------
    counts : array of shape (n_secrets,)
        Records of each secret. The probability is conditional on them.
    n_values : int
        Number of values of U.
    beta : float
        Probability that one of the bounds fails, at most; in (0, 1).
    rule : {"finite-sample", "asymptotic"}
        "finite-sample" holds for every n and every distribution, "asymptotic" as every count grows.

    Returns
    -------
    single, pair : float
        In nats, multiplied by records.

    Examples
    --------
    >>> single, pair = likelihood_ratio_budgets([400, 600], 5, 0.05, "finite-sample")
    >>> single <= pair <= 2 * single
    True
    """
    if rule not in ("finite-sample", "asymptotic"):
        raise ValueError(f"rule must be 'finite-sample' or 'asymptotic'; got {rule!r}")
    if not 0.0 < beta < 1.0:
        raise ValueError(f"beta must lie between 0 and 1; got {beta}")
    secrets = int(np.count_nonzero(np.asarray(counts)))  # the others have G_s = 0
    if n_values <= 1 or secrets == 0:
        return 0.0, 0.0
    degrees = (n_values - 1) * min(secrets, 2)
    share = beta / max(1, secrets * (secrets - 1) // 2)
    if rule == "asymptotic":
        bound = float(chdtri(degrees, share)) / 2.0
    else:
        bound = _agrawal(degrees, share)
    return bound, bound


def _agrawal(degrees: int, beta: float) -> float:
    """Smallest c > k with exp(-c) (e c / k)^k <= beta."""
    from scipy.optimize import brentq  # slow to import, and seldom needed

    level = -math.log(beta) / degrees
    # With c = k x the condition reads x - 1 - log(x) >= level, x > 1.
    root = brentq(
        lambda x: x - 1.0 - math.log(x) - level, 1.0, 2.0 * level + 4.0, xtol=1e-14, rtol=1e-14
    )
    return degrees * float(root) * (1.0 + _SURPLUS)
