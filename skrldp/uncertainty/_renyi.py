"""Uncertainty sets: for which laws of X the privacy must hold."""

import math
from typing import Any

from scipy.special import chdtri
from sklearn.base import BaseEstimator

from skrldp._params import check_positive, is_number

__all__ = ["AllDistributions", "RenyiBall", "chi2_radius", "finite_sample_radius"]


class RenyiBall(BaseEstimator):
    r"""Confidence set of laws around the public one, a ball in Rényi divergence.

    :math:`F = \{P : D_\alpha(\hat P \| P) \le B\}` (Entropy (8)).

    Parameters
    ----------
    alpha : float, default=2.0
        Order of the divergence: 2 is the chi-squared test of both papers, 1 the
        Kullback-Leibler divergence. Below 1/2 the exact joint region is not convex, and only
        the regions ``"product"``, ``"box"`` and ``"lower"`` are offered.
    beta : float, default=0.05
        The set misses the true law with (about) this probability.
    radius : {"chi2", "finite-sample"} or float, default="chi2"
        ``"chi2"`` is the asymptotic radius of the papers; it needs many records for each cell.
        ``"finite-sample"`` (alpha = 1 only) holds for every number of records, at about twice
        the radius. A number is the radius B itself, in nats, and ``beta`` is not used.

    Attributes
    ----------
    B_ : float
        Radius, in nats. Set on the copy that a fitted sanitizer keeps.

    Examples
    --------
    >>> round(RenyiBall().radius_for(n=100, n_cells=4), 4)    # Entropy Example 1
    0.0752
    """

    def __init__(
        self, alpha: float = 2.0, *, beta: float = 0.05, radius: str | float = "chi2"
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.radius = radius

    def radius_for(self, n: int, n_cells: int) -> float:
        """Radius B of the ball for a table of n records over n_cells cells.

        Parameters
        ----------
        n : int
            Number of public records.
        n_cells : int
            Number of cells a.

        Returns
        -------
        float
            In nats; infinite where every law is inside.

        Raises
        ------
        ValueError
            If a parameter is out of its range.
        """
        alpha = _positive(self.alpha, "alpha")
        if isinstance(self.radius, str):
            beta = _positive(self.beta, "beta")
            if beta >= 1.0:
                raise ValueError(f"beta={self.beta!r} must be a probability between 0 and 1.")
            if self.radius == "chi2":
                return chi2_radius(alpha, beta, n, n_cells)
            if self.radius == "finite-sample":
                if alpha != 1.0:
                    raise ValueError(
                        "radius='finite-sample' is a bound for alpha=1 only, got "
                        f"alpha={self.alpha!r}: use RenyiBall(alpha=1, radius='finite-sample')."
                    )
                return finite_sample_radius(beta, n, n_cells)
        elif is_number(self.radius) and self.radius >= 0:  # false for NaN
            return float(self.radius)
        raise ValueError(
            f"radius={self.radius!r} must be 'chi2', 'finite-sample' or a number >= 0 (nats)."
        )


class AllDistributions(BaseEstimator):
    """The uncertainty set of all laws: privacy whatever the table says.

    Examples
    --------
    >>> AllDistributions().radius_for(n=100, n_cells=4)
    inf
    """

    alpha = 1.0  # any order: the ball of infinite radius

    def radius_for(self, n: int, n_cells: int) -> float:
        """Infinite: no law is outside.

        Parameters
        ----------
        n, n_cells : int
            Ignored.

        Returns
        -------
        float
        """
        return math.inf


def _positive(value: Any, name: str) -> float:
    check_positive(name, value)
    return float(value)


def chi2_radius(alpha: float, beta: float, n: int, n_cells: int) -> float:
    """Asymptotic radius: the chi-squared quantile, expressed as a Rényi divergence.

    Parameters
    ----------
    alpha : float
        Order of the divergence.
    beta : float
        Significance level.
    n, n_cells : int
        Number of records and of cells.

    Returns
    -------
    float
        In nats; infinite where, for alpha < 1, the quantile exceeds what the divergence can be.
    """
    quantile = float(chdtri(n_cells - 1, beta))
    if alpha == 1.0:
        return quantile / (2.0 * n)
    argument = alpha * (alpha - 1.0) * quantile / (2.0 * n)
    if argument <= -1.0:
        return math.inf
    return math.log1p(argument) / (alpha - 1.0)


def finite_sample_radius(beta: float, n: int, n_cells: int) -> float:
    """Kullback-Leibler radius that holds for every n, not only asymptotically.

    The smallest ``B > (a-1)/n`` with ``exp(-nB) (e n B / (a-1))^(a-1) <= beta`` (R. Agrawal,
    Finite-sample concentration of the multinomial in relative entropy, IEEE Transactions on
    Information Theory, 2020).

    Parameters
    ----------
    beta : float
        Probability that the ball misses the true law, at most.
    n, n_cells : int
        Number of records and of cells a.

    Returns
    -------
    float
        In nats.
    """
    from scipy.optimize import brentq  # slow to import, and seldom needed

    degrees = n_cells - 1
    level = -math.log(beta) / degrees
    # With B = (a-1) x / n the condition reads x - 1 - log(x) >= level, x > 1.
    upper = 2.0 * level + 4.0
    root = brentq(lambda x: x - 1.0 - math.log(x) - level, 1.0, upper, xtol=1e-14, rtol=1e-14)
    return degrees * float(root) * (1.0 + 1e-12) / n
