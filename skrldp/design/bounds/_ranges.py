"""What the sums of shapes and of means, and the cuts, rule out of a box without a program."""

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.design.bounds._box import CLOSED, WIDER, Box

__all__ = ["Ranges"]


_LEAST = 1e-6  # what R . c must exceed for a cut to count


class Ranges:
    """Shapes of a secret average to 1, means too, and a cut bounds the ratio of two means.

    Parameters
    ----------
    share : array of shape (a,)
        Probability of each cell, given its secret.
    secret : integer array of shape (a,)
        The secret of each cell.
    seen : integer array of shape (c,)
        The cells with records.
    weight : array of shape (a1,)
        Probability of each secret.
    """

    def __init__(self, share: Floats, secret: Indices, seen: Indices, weight: Floats) -> None:
        self._share, self._secret, self._seen, self._weight = share, secret, seen, weight
        self._of, self._a1 = secret[seen], len(weight)
        self._first = self._second = np.zeros(0, dtype=np.intp)
        self._factor, self._more, self._less = np.zeros(0), *np.zeros((2, 0, len(seen)))

    def add(self, cuts: Floats) -> None:
        """Learn cuts, ``factor R_1 . v_s <= R_2 . v_t``.

        Shapes: `cuts` (m, a).
        """
        of_secret = (self._secret[:, None] == np.arange(self._a1)).astype(float)
        positive, negative = np.maximum(cuts, 0.0), np.maximum(-cuts, 0.0)
        plus, minus = positive @ of_secret, negative @ of_secret
        first, second = plus.argmax(axis=1), minus.argmax(axis=1)
        up, down = plus.max(axis=1), minus.max(axis=1)
        # What has no records is not among the shapes, so R_2 must not have it.
        unseen = negative.sum(axis=1) - negative[:, self._seen].sum(axis=1)
        fits = (plus.sum(axis=1) <= up * (1.0 + CLOSED)) & (up > 0)
        fits &= (minus.sum(axis=1) <= down * (1.0 + CLOSED)) & (down > 0)
        fits &= (first != second) & (unseen <= 0)
        up, down = np.where(fits, up, 1.0), np.where(fits, down, 1.0)
        # R . c = 1 + (R - P) . c, which is known better where R is near P.
        public = np.where(of_secret.T > 0, self._share, 0.0)
        more = (positive / up[:, None] - public[first])[:, self._seen]
        less = (negative / down[:, None] - public[second])[:, self._seen]
        self._first = np.append(self._first, first)
        self._second = np.append(self._second, second)
        self._factor = np.append(self._factor, np.where(fits, down / up, np.inf))
        self._more = np.concatenate([self._more, more])
        self._less = np.concatenate([self._less, less])

    def within(self, box: Box) -> Box:
        """Leave out of a box some of what no row can have."""
        box = self._averaged(box)
        if box.empty:
            return box
        c = len(self._seen)
        lower, upper = box.lower.copy(), box.upper.copy()
        low, high = lower[c:], upper[c:]
        ratios = self._ratios(box)
        for _ in range(2):
            np.minimum(high, (ratios * high).min(axis=1), out=high)
            np.maximum(low, (low[:, None] / ratios).max(axis=0), out=low)
        return self._averaged(Box(lower, upper))

    def _averaged(self, box: Box) -> Box:
        """Use that the shapes of each secret average to 1, and the means."""
        c = len(self._seen)
        lower, upper = box.lower.copy(), box.upper.copy()
        one = np.zeros(self._a1, dtype=np.intp)
        for part, weight, group in (
            (slice(0, c), self._share[self._seen], self._of),
            (slice(c, None), self._weight, one),
        ):
            for _ in range(2):
                low, high = weight * lower[part], weight * upper[part]
                rest_low = np.bincount(group, low, self._a1)[group] - low
                rest_high = np.bincount(group, high, self._a1)[group] - high
                most, least = (1.0 - rest_low) / weight, (1.0 - rest_high) / weight
                spare = CLOSED / weight  # for the rounding of sums of about 1
                upper[part] = np.minimum(upper[part], np.maximum(most, 0.0) * WIDER + spare)
                lower[part] = np.maximum(lower[part], least / WIDER - spare)
        return Box(lower, upper)

    def _ratios(self, box: Box) -> Floats:
        """Bound the mean of each secret over that of each other, shape (a1, a1)."""
        c = len(self._seen)
        lower, upper = box.lower[:c], box.upper[:c]
        least = 1.0 + np.maximum(self._more, 0.0) @ lower + np.minimum(self._more, 0.0) @ upper
        most = 1.0 + np.maximum(self._less, 0.0) @ upper + np.minimum(self._less, 0.0) @ lower
        ratio = np.full(len(least), np.inf)
        np.divide(self._factor * most, least, out=ratio, where=least > _LEAST)
        ratios = np.full((self._a1, self._a1), np.inf)
        np.minimum.at(ratios, (self._first, self._second), np.maximum(ratio, _LEAST) * WIDER)
        return ratios
