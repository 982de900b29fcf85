"""How often the confidence set holds the true distribution, for radii that claim 95 %.

True distributions are fixed (uniform, or Zipf's with probabilities as 1/k) or drawn from Jeffreys'
prior, anew for each table. ``--quick`` draws fewer tables.
"""

import sys

import numpy as np
from scipy.special import rel_entr

from skrldp import RenyiBall

CELLS = (4, 15, 40, 240)
PER_CELL = (1, 5, 20, 100)
SETS = {
    "chi2, alpha = 1": RenyiBall(alpha=1),
    "chi2, alpha = 2": RenyiBall(alpha=2),
    "finite-sample": RenyiBall(alpha=1, radius="finite-sample"),
}
DISTRIBUTIONS = ("uniform", "Zipf", "Jeffreys")


def true_distributions(name, cells, tables, rng):
    """Distributions of shape (1 or tables, cells)."""
    if name == "Jeffreys":
        return rng.dirichlet(np.full(cells, 0.5), size=tables)
    distribution = np.ones(cells) if name == "uniform" else 1.0 / np.arange(1, cells + 1)
    return distribution[None] / distribution.sum()


def covered(ball, shares, distributions, n):
    """Whether the ball around each empirical distribution (tables, cells) holds the true one."""
    if ball.alpha == 1.0:
        divergence = rel_entr(shares, distributions).sum(axis=-1)
    else:  # order 2
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(shares > 0, shares**2 / distributions, 0.0)
        divergence = np.log(terms.sum(axis=-1))
    return divergence <= ball.radius_for(n, shares.shape[1])


def main(tables):
    print(f"Share of {tables:,} tables whose set, of level 0.95, holds the true distribution")
    print(
        f"{'truth':<9} {'cells':>5} {'n':>6}" + "".join(f"{name:>17}" for name in SETS) + "   ratio"
    )
    rng = np.random.default_rng(0)
    for name in DISTRIBUTIONS:
        for cells in CELLS:
            for n in (cells * share for share in PER_CELL):
                distributions = true_distributions(name, cells, tables, rng)
                shares = rng.multinomial(n, distributions, size=tables) / n
                held = [covered(ball, shares, distributions, n).mean() for ball in SETS.values()]
                radii = [ball.radius_for(n, cells) for ball in SETS.values()]
                print(
                    f"{name:<9} {cells:>5} {n:>6}"
                    + "".join(f"{share:>17.3f}" for share in held)
                    + f"{radii[2] / radii[0]:>8.2f}"
                )


if __name__ == "__main__":
    main(1_000 if "--quick" in sys.argv else 10_000)
