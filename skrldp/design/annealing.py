r"""Deterministic annealing: an initial mechanism for searches that maximise information.

A *decoder* w gives a posterior distribution of X for each report. For every decoder,
:math:`I(X;Y) \ge \mathbb E \log(w_Y(X)/P_X)`, with equality at the true posterior. A mechanism
that maximises the right-hand side solves a linear program over private mechanisms, and replacing
the decoder by its posterior then never loses information: this is a Blahut-Arimoto step. If each
program were solved to optimality, the sequence would soon stop at a poor local optimum. Therefore
the decoder follows the mechanism after every Newton step, while the barrier parameter of the path
(:mod:`skrldp.design.central_path`) falls slowly and acts as a temperature (Rose 1998): at first all
reports are nearly alike, and they separate where the gain is largest.
"""

from collections.abc import Callable

import numpy as np

from skrldp._typing import Floats
from skrldp.design.central_path import CENTRING_RANGE, FIRST_GAP, CentralPath
from skrldp.design.limits import TIGHT, TOL, Limits
from skrldp.design.newton_system import MOST_IN_HESSIANS
from skrldp.design.path_blocks import path_blocks
from skrldp.design.programs import ExpectedCost
from skrldp.privacy.requirements import Requirements, repair


def annealed(
    distribution: Floats,
    expand: Callable[[Floats], Floats],
    scale: float,
    requirements: Requirements,
    n_reports: int,
    limits: Limits,
) -> Floats:
    """Follow the central path, and update the decoder to the mechanism after every step.

    `expand` returns the linear cost, of shape (b, a), that is tangent to the negative information
    at a mechanism; `scale` is the largest possible information. Shapes: `distribution` (a,).
    Returns (b, a): a private mechanism.
    """
    n_cells = requirements.n_cells
    n_reports = min(n_reports, max(n_cells, 2), max(MOST_IN_HESSIANS // n_cells**2, 2))
    cost = expand(_first_decoder(requirements.shape, n_reports))
    blocks = path_blocks(requirements)
    path = CentralPath(
        ExpectedCost(cost, distribution),
        blocks,
        scale=1.0,
        gap=FIRST_GAP * scale,
        workers=limits.workers,
    )
    began, end = limits.elapsed, TOL * scale
    # Fraction of the gap that remains after a step; its square root takes twice as many steps.
    cooling = 0.8
    while not (path.arrived(end) or limits.met):
        limits.count()
        slowest = max(cooling, min(1.0 - path.step_length, CENTRING_RANGE[1]))
        seconds = (limits.elapsed - began) / max(path.steps, 1)
        # Plan for half of the remaining time, because steps fall short of their target.
        n_left = np.inf if limits.left is None else 0.5 * limits.left / max(seconds, TIGHT)
        needed = (end / path.gap) ** (1.0 / max(n_left, 1.0))
        centring = slowest if needed >= cooling else max(needed, CENTRING_RANGE[0])
        if not path.advance(least_gap=end, centring=centring):
            break
        rows = np.maximum(path.rows, 0.0)
        cost = expand(rows)
        path.set_cost(cost)
        reached = -float(((rows / rows.sum(axis=0)) * cost * distribution).sum())
        end = TOL * max(reached, TIGHT)
    return repair(np.maximum(path.rows, 0.0), requirements)


def _first_decoder(shape: tuple[int, int], n_reports: int) -> Floats:
    """Draw noise in which each report favours one value of U, (b, a).

    Doubling the shape parameter of the gamma noise loses 13 % of the information at 9 cells if
    privacy holds for all distributions.
    """
    noise = np.random.default_rng(n_reports).gamma(0.5, size=(n_reports, *shape))
    report = np.arange(n_reports)
    noise[report, :, report % shape[1]] *= 5.0
    decoder: Floats = (noise / noise.sum(axis=0)).reshape(n_reports, -1)
    return decoder
