r"""One way down the central path, while a decoder follows the mechanism.

For every decoder w, :math:`I(X;Y) \ge \mathbb E \log(w_Y(X)/P_X)`, with equality at the posterior.
So a mechanism that maximises the right hand side, which is a linear program over private
mechanisms (:mod:`skrldp.design.cutting_planes`), followed by its posterior, followed by the next
mechanism and so on, never loses information: a Blahut-Arimoto step, whose first half is a program
of the kind that RobustMSE solves. Solved to the end each time, these programs jump from corner to
corner and soon are stuck. Here the decoder follows every Newton step instead, while the barrier of
the path (:mod:`skrldp.design.interior_point`) is lowered slowly: at first all reports look alike,
then they part where most is to be gained, as in annealing. Good decoders from elsewhere take
another way: they stay as they are until the barrier is low, and follow from there, step by
well-centred step.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats
from skrldp.design._cost import ExpectedCost
from skrldp.design._run import Deadline
from skrldp.design.interior_point import CentralPath, PairFunction, pair_function
from skrldp.information import entropy, mutual_information
from skrldp.region import JointRegion, LowerRegion, ProductRegion, Region, repair

__all__ = ["Annealing", "Look", "distinct", "followable", "look_away"]


_ALIKE = 0.05  # l1 distance of posteriors below which reports are
_HOT = 30.0  # duality gap at the start, relative to the entropy: reports are nearly constant there
_COLD = 1e-3  # and at the end, relative to the information
_WARM = 2e-3  # where decoders that have stayed as they were begin to follow
_FROZEN = 1e-4  # and where they have followed to the end
_NOTHING = 1e-9  # nats
_RARE = 1e-5  # probability below which a report hardly matters
_SMOOTHING = 1e-5  # added to the probabilities of reports before a decoder is made of them
_CHECK = 10  # steps between two looks at the mechanism
_CENTRING = 6  # steps with one decoder, at most, until the path is centred
_LAST = 30  # and with the last one: what is not centred is costly to repair
_SETTLED = 1.5  # gap, relative to the one aimed at, that is near enough
_SOFTLY = 0.9  # part of the gap that is left between two decoders of a polish

Look = Callable[[Floats, float], None]


def look_away(matrix: Floats, information: float) -> None:
    """Do nothing with what is found on the way.

    Parameters
    ----------
    matrix : array of shape (b, a)
        A private mechanism.
    information : float
        What it tells, in nats.
    """


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
        around = region.conditionals, region.marginal, region.uncertainty
        region = ProductRegion(*around, region.same_secret, region.blind)
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
    seconds : float
        How long cooling took.
    """

    def __init__(
        self, law: Floats, region: Region, eps: float, start: Floats, look: Look = look_away
    ) -> None:
        self.law, self.region, self.eps, self.look = law, region, eps, look
        self.whole = max(entropy(law), _NOTHING)
        self.information, self.cold, self.seconds = 0.0, False, 0.0
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
        path, pace, began = self._path, _Pace(deadline, share), deadline.elapsed
        end, going = _COLD * self.whole, True
        while going and path.gap > _SETTLED * end and not deadline.passed:
            going = path.advance(least=end, share=pace.share(path, end))
            self._follow()
            end = _COLD * self._told()
            if path.steps % _CHECK == 0 or not going or deadline.passed:
                self._offer()
        self.cold = path.gap <= _SETTLED * end
        self._settle(path.gap, deadline, _LAST)
        self.seconds = deadline.elapsed - began

    def hold(self, deadline: Deadline) -> None:
        """Go down the path with the decoder as it is.

        Parameters
        ----------
        deadline : Deadline
            When to stop.
        """
        path, end, going = self._path, _WARM * self.whole, True
        while going and path.gap > _SETTLED * end and not deadline.passed:
            going = path.advance(least=end)
            end = _WARM * self._told()
        self.cold = path.gap <= _SETTLED * end
        self._settle(path.gap, deadline, _LAST)

    def polish(self, deadline: Deadline) -> None:
        """Let the decoder follow from where the path is, well centred each time.

        Parameters
        ----------
        deadline : Deadline
            When to stop.
        """
        path, going, began = self._path, True, deadline.elapsed
        gap, first = path.gap, path.steps
        while going and gap > _FROZEN * self._told() and not deadline.passed:
            gap *= _SOFTLY
            self._follow()
            going = self._settle(gap, deadline)
            pace = (deadline.elapsed - began) / max(path.steps - first, 1)
            if deadline.left is not None and deadline.left < 0.5 * _LAST * pace:
                break
        self._settle(gap, deadline, _LAST)

    def _settle(self, gap: float, deadline: Deadline, most: int = _CENTRING) -> bool:
        """Centre the path at a gap with the decoder as it is, and offer what is found."""
        going = True
        for _ in range(most):
            if deadline.passed or not going:
                break
            going = self._path.advance(least=gap, share=min(max(gap / self._path.gap, 0.1), 1.0))
            if self._path.reach >= 1.0 and self._path.gap <= _SETTLED * gap:
                break
        self._offer()
        return going

    def _rows(self) -> Floats:
        rows: Floats = np.maximum(self._path.rows.reshape(self.matrix.shape), 0.0)
        return rows

    def _told(self) -> float:
        rows = self._rows()
        return max(mutual_information(rows / rows.sum(axis=0), self.law), _NOTHING)

    def _follow(self) -> None:
        self._path.reprice(_decoder_cost(self._rows(), self.law))

    def _offer(self) -> None:
        private = repair(self._rows(), self.region, self.eps)
        information = mutual_information(private, self.law)
        if information > self.information:
            self.matrix, self.information = private, information
        self.look(private, information)


def distinct(matrix: Floats, law: Floats) -> NDArray[np.intp]:
    """Find reports that say what none before them says.

    Parameters
    ----------
    matrix : array of shape (b, a)
        Rows of mechanisms.
    law : array of shape (a,)
        Law of X.

    Returns
    -------
    array of shape (m,)
        Their places, in order. Reports that are hardly ever sent are not among them.
    """
    posterior = matrix * law
    mass = posterior.sum(axis=1)
    posterior /= np.maximum(mass, _NOTHING)[:, None]
    kept: list[int] = []
    for y in np.flatnonzero(mass > _RARE):
        if all(np.abs(posterior[y] - posterior[z]).sum() > _ALIKE for z in kept):
            kept.append(int(y))
    return np.array(kept, dtype=np.intp)


def _decoder_cost(matrix: Floats, law: Floats) -> Floats:
    """Minus the logarithm of the posterior over the prior; it must be a true posterior."""
    smooth = np.maximum(matrix, 0.0) + _SMOOTHING
    return np.log((smooth @ law)[:, None] / smooth)


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
