"""An independent sample of the population, kept from the records of a survey."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats, Indices
from skrldp.surveys._records import SurveyRecords

__all__ = ["independent_part"]

_SALT = b"skrldp: an independent part of a survey, version 1\n"
_BITS = 53


def independent_part(
    records: SurveyRecords, max_weight: float, content: NDArray[np.bytes_] | list[bytes]
) -> NDArray[np.bool_]:
    """Tell which records to keep, so that those kept are an independent sample of the population.

    A record is kept with probability ``weight / max_weight``; of a cluster one record at most, with
    probability ``sum of weights / max_weight``, drawn in proportion to the weights. If records (or
    clusters) were drawn independently with probabilities inverse to their weights, those kept are
    drawn independently and alike.

    The coins come from a digest of the sorted table, with a fixed salt: nobody can toss again until
    they like the result, and the order of the rows does not matter. Whatever is proven about the
    result takes that digest for a random oracle.

    Parameters
    ----------
    records : SurveyRecords
        Without strata, whose sizes were not drawn.
    max_weight : float
        The greatest weight that the design could give a record, or a cluster.
    content : sequence of n bytes
        What each record says, weights and clusters included.

    Returns
    -------
    array of n bool

    Raises
    ------
    ValueError
        If there are strata or replicate weights, or a weight is greater than `max_weight`.
    """
    if records.replicates is not None or records.strata.max() > 0:
        raise ValueError(
            "the exact set (radius='finite-sample') is for records, or clusters, that were drawn "
            "independently; the sizes of strata were not. Use "
            "LikelihoodRatioSet(radius='asymptotic')."
        )
    mass: Floats = np.bincount(records.clusters, records.weights).astype(np.float64)
    if mass.max() > max_weight:
        what = "cluster's sum of weights" if records.are_clustered else "weight"
        raise ValueError(
            f"max_weight={max_weight:g} is less than a {what} of the table, {mass.max():g}. It "
            "must be the greatest that the design could give, known before the records were drawn."
        )
    order: Indices = np.array(sorted(range(len(content)), key=content.__getitem__), dtype=np.intp)
    digest = hashlib.sha256(_SALT)
    for place in order:
        digest.update(hashlib.sha256(content[place]).digest())
    coins = np.empty(len(order))
    coins[order] = _uniform(digest.digest(), len(order))
    if not records.are_clustered:
        kept: NDArray[np.bool_] = coins * max_weight < records.weights
        return kept
    return _one_of_each(records, mass, max_weight, coins, order)


def _one_of_each(
    records: SurveyRecords, mass: Floats, max_weight: float, coins: Floats, order: Indices
) -> NDArray[np.bool_]:
    """Keep one record of some clusters: the coin of a cluster's first record is the cluster's.

    One uniform number decides both: below ``mass / max_weight`` it is uniform up to there, and says
    which record.
    """
    sequence = order[np.argsort(records.clusters[order], kind="stable")]
    cluster = records.clusters[sequence]
    first = np.flatnonzero(np.r_[True, cluster[1:] != cluster[:-1]])
    point = coins[sequence[first]] * max_weight  # of each cluster, on the line of its weights
    ends = np.cumsum(records.weights[sequence])
    starts = np.r_[0.0, ends[:-1]]
    begin = np.repeat(starts[first], np.diff(np.r_[first, len(sequence)]))
    own = np.repeat(point, np.diff(np.r_[first, len(sequence)]))
    hit = (own >= starts - begin) & (own < ends - begin)
    kept = np.zeros(len(sequence), dtype=bool)
    kept[sequence[hit]] = True
    return kept


def _uniform(seed: bytes, n: int) -> Floats:
    """Return n numbers from [0, 1), of 53 bits each."""
    stream = hashlib.shake_256(seed).digest(8 * n)
    bits = np.frombuffer(stream, dtype="<u8") >> np.uint64(64 - _BITS)
    return bits.astype(np.float64) * 2.0**-_BITS
