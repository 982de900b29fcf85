r"""PolyOpt for large alphabets: decoder and mechanism take turns along a central path.

For every decoder w, :math:`I(X;Y) \ge \mathbb E \log(w_Y(X)/P_X)`, with equality at the posterior.
So a mechanism that maximises the right hand side, which is a linear program over private
mechanisms (:mod:`skrldp.design.cuts`), followed by its posterior, followed by the next mechanism
and so on, never loses information: a Blahut-Arimoto step, whose first half is a program of the kind
that RobustMSE solves. Solved to the end each time, these programs jump from corner to corner and
soon are stuck. Here the decoder follows every Newton step instead, while the barrier of the path
(:mod:`skrldp.design.interior`) is lowered slowly: at first all reports look alike, then they part
where most is to be gained, as in annealing. Where this ends depends on the start, so it is
repeated, each time with more reports, more slowly, and from another start, always the same ones.
Once reports turn out alike, more of them are of no use, and only the starts change.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from skrldp.certificate import repair
from skrldp.design._pairs import PairFunction, pair_function
from skrldp.design.cone import Deadline
from skrldp.design.cost import ExpectedCost
from skrldp.design.interior import CentralPath
from skrldp.information import entropy, mutual_information
from skrldp.region import JointRegion, LowerRegion, ProductRegion, Region

__all__ = ["Annealing", "alternate", "followable", "starts"]

Floats = NDArray[np.float64]

# Numbers of reports, and the part of the gap that a step leaves, of one run after the other.
_RUNS = ((16, 0.8), (24, 0.9), (32, 0.95), (48, 0.95), (64, 0.97))
_ALIKE = 0.05  # l1 distance of posteriors below which reports are
_GAIN = 2e-4  # relative gain of two runs together below which there is no third
_HOT = 30.0  # duality gap at the start, relative to the entropy: reports are nearly constant there
_COLD = 1e-3  # and at the end, relative to the information
_NOTHING = 1e-9  # nats
_SMOOTHING = 1e-5  # added to the probabilities of reports before a decoder is made of them
_BIAS = 4.0  # how much more probable a start makes each report for its own value
_SPREAD = 0.5  # shape of the gamma variables that starts are made of
_CHECK = 10  # steps between two looks at the mechanism
_HURRY = 0.7  # of the steps of the run before that a run must have time for
_FEWEST = 8  # reports that are worth another run
_CENTRING = 3  # last steps, at the final gap

Look = Callable[[Floats, float], None]


def _look_away(matrix: Floats, information: float) -> None:
    pass


def followable(region: Region, eps: float) -> tuple[Region, PairFunction]:
    """Find the tightest region around a region that has a central path.

    Parameters
    ----------
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.

    Returns
    -------
    region : Region
        The same, or a larger one where it has none: boxes, a shared budget near order 1/2, and the
        public law with secrets that it lacks.
    pairs : PairFunction
        Its privacy.
    """
    pairs = pair_function(region, eps)
    if pairs is None and isinstance(region, JointRegion):
        ball = region.conditionals, region.marginal, region.alpha, region.radius
        region = ProductRegion(*ball, region.same_secret, region.blind)
        pairs = pair_function(region, eps)
    if pairs is None:
        region = LowerRegion.around(region)
        pairs = pair_function(region, eps)
    assert pairs is not None  # lower bounds have a central path
    return region, pairs


class Annealing:
    """A way down the path, and the best mechanism on it.

    Parameters
    ----------
    law : array of shape (number of cells of a row,)
        Law of X, or of U if the region is blind, by which information counts.
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.
    start : array of shape (b, a)
        Mechanism, private or not, whose posterior is the first decoder.
    look : callable
        Is shown each private mechanism and its information.

    Attributes
    ----------
    matrix : array of shape (b, a)
        The best mechanism so far, private for the region.
    information : float
        What it tells, in nats.
    steps : int
        Newton steps taken.
    cold : bool
        Whether the end of the path was reached.
    """

    def __init__(
        self, law: Floats, region: Region, eps: float, start: Floats, look: Look = _look_away
    ) -> None:
        self.law, self.region, self.eps, self.look = law, region, eps, look
        self.whole = max(entropy(law), _NOTHING)
        self.information, self.cold = 0.0, False
        self.matrix: Floats = np.full(start.shape, 1.0 / len(start))
        cost = ExpectedCost(_decoder_cost(start, law), law)
        _, pairs = followable(region, eps)
        gap = _HOT * self.whole
        self._path = CentralPath(cost, pairs, region.row_shape, scale=1.0, gap=gap)

    @property
    def steps(self) -> int:
        """Newton steps taken."""
        return self._path.steps

    def cool(self, share: float, deadline: Deadline) -> None:
        """Go down the path while the decoder follows the mechanism.

        Parameters
        ----------
        share : float
            Part of the duality gap that each step leaves, between 0 and 1.
        deadline : Deadline
            When to stop. The steps become longer when it draws near.
        """
        path, pace = self._path, _Pace(deadline, share)
        end, centred, going = _COLD * self.whole, 0, True
        while going and centred < _CENTRING and not deadline.passed:
            going = path.advance(least=end, share=pace.share(path, end))
            rows = np.maximum(path.rows.reshape(self.matrix.shape), 0.0)
            path.reprice(_decoder_cost(rows, self.law))
            told = mutual_information(rows / rows.sum(axis=0), self.law)
            end = _COLD * max(told, _NOTHING)
            centred += path.gap <= 1.5 * end
            if path.steps % _CHECK == 0 or centred or not going or deadline.passed:
                self._offer(rows)
        self.cold = centred > 0

    def _offer(self, rows: Floats) -> None:
        private = repair(rows, self.region, self.eps)
        information = mutual_information(private, self.law)
        if information > self.information:
            self.matrix, self.information = private, information
        self.look(private, information)

    def superfluous(self) -> NDArray[np.intp]:
        """Find reports of the best mechanism that say what another says.

        Returns
        -------
        array of shape (m,)
        """
        posterior = self.matrix * self.law
        mass = posterior.sum(axis=1)
        posterior /= np.maximum(mass, _NOTHING)[:, None]
        kept: list[int] = []
        for y in np.argsort(-mass, kind="stable"):
            if all(np.abs(posterior[y] - posterior[z]).sum() > _ALIKE for z in kept):
                kept.append(int(y))
        return np.setdiff1d(np.arange(len(mass)), kept)


def alternate(
    law: Floats,
    region: Region,
    eps: float,
    *,
    deadline: Deadline,
    look: Look = _look_away,
) -> tuple[list[Annealing], str]:
    """Anneal again and again, each time with more reports and more slowly.

    Parameters
    ----------
    law : array of shape (number of cells of a row,)
        Law of X, or of U if the region is blind, by which information counts.
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.
    deadline : Deadline
        When to stop.
    look : callable
        Is shown each private mechanism and its information.

    Returns
    -------
    runs : list of Annealing
        At least one.
    status : str
        ``"converged"`` or ``"time_limit"``.
    """
    runs: list[Annealing] = []
    if len(region.pairs[0]) == 0:  # nothing is secret, so records are reported as they are
        run = Annealing(law, region, eps, np.eye(law.size), look)
        run.matrix, run.information, run.cold = np.eye(law.size), entropy(law), True
        return [run], "converged"
    seconds = 0.0  # of a step, for each report
    for seed, (wanted, share) in enumerate(_RUNS):
        b = min(wanted, 2 * law.size)
        if len(runs) > 1 and 4 * len(runs[-1].superfluous()) > len(runs[-1].matrix):
            b = min(b, len(runs[-1].matrix))
        left = deadline.left
        if runs and left is not None:  # as many reports as there is time for
            b = min(b, int(left / max(_HURRY * runs[-1].steps * seconds, 1e-300)))
            if b < min(_FEWEST, 2 * law.size):
                return runs, "time_limit"
        began = deadline.elapsed
        run = Annealing(law, region, eps, starts(region.row_shape, b, seed), look)
        run.cool(share, deadline)
        runs.append(run)
        if deadline.passed:
            return runs, "time_limit"
        seconds = (deadline.elapsed - began) / (b * max(run.steps, 1))
        if len(runs) > 2:
            former = max(r.information for r in runs[:-2])
            if max(r.information for r in runs) <= former * (1.0 + _GAIN):
                break
    return runs, "converged"


class _Pace:
    """How much of the gap each step leaves, so that the end is reached in time."""

    def __init__(self, deadline: Deadline, share: float) -> None:
        self.deadline, self.slow = deadline, share
        self.began = deadline.elapsed

    def share(self, path: CentralPath, end: float) -> float:
        left = self.deadline.left
        if left is None or path.steps < _CHECK:
            return self.slow
        seconds = (self.deadline.elapsed - self.began) / path.steps
        steps = max(0.6 * left / seconds - _CENTRING, 1.0)  # many a step falls short of its aim
        return min(self.slow, max((end / max(path.gap, end)) ** (1.0 / steps), 0.1))


def starts(shape: tuple[int, int], b: int, seed: int) -> Floats:
    """Draw a mechanism to start from: noise, with a report for each value in turn.

    Parameters
    ----------
    shape : tuple (parts, a2)
        Shape of a row; see :attr:`skrldp.region.Region.row_shape`.
    b : int
        Number of reports.
    seed : int
        Which of the fixed starts.

    Returns
    -------
    array of shape (b, a)
    """
    noise = np.random.default_rng(seed).gamma(_SPREAD, size=(b, *shape)) + 1e-9
    report = np.arange(b)
    noise[report, :, report % shape[1]] *= 1.0 + _BIAS
    return (noise / noise.sum(axis=0)).reshape(b, -1)


def _decoder_cost(matrix: Floats, law: Floats) -> Floats:
    """Minus the logarithm of the posterior over the prior; it must be a true posterior."""
    smooth = np.maximum(matrix, 0.0) + _SMOOTHING
    return np.log((smooth @ law)[:, None] / smooth)
