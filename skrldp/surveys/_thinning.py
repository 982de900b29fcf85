"""Parts of a survey: an independent sample of the population, and clusters that are set aside."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats, Indices
from skrldp.surveys._records import SurveyRecords

__all__ = ["clusters_aside", "independent_part"]

_SALT = b"skrldp: an independent part of a survey, version 1\n"
_SALT_ASIDE = b"skrldp: clusters of a survey that are set aside, version 1\n"
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
    mass: Floats = records.weights
    if records.clusters is not None:
        mass = np.bincount(records.clusters, records.weights).astype(np.float64)
    if mass.max() > max_weight:
        what = "cluster's sum of weights" if records.are_clustered else "weight"
        raise ValueError(
            f"max_weight={max_weight:g} is less than a {what} of the table, {mass.max():g}. It "
            "must be the greatest that the design could give, known before the records were drawn."
        )
    coins, order = _coins(content, _SALT)
    if records.clusters is None or not records.are_clustered:
        kept: NDArray[np.bool_] = coins * max_weight < records.weights
        return kept
    return _one_of_each(records, max_weight, coins, order)


def clusters_aside(
    records: SurveyRecords, fraction: float, content: NDArray[np.bytes_] | list[bytes]
) -> tuple[NDArray[np.bool_], Floats]:
    """Tell which records to set aside, by whole clusters, and how much more the others then weigh.

    Of each stratum a fixed number of clusters is drawn, and two at the least are left. If clusters
    are drawn independently and alike within a stratum, so are those that are left. The coins come
    from a digest of the sorted table, as in :func:`independent_part`.

    Returns arrays of n bool and of n factors.
    """
    coins, order = _coins(content, _SALT_ASIDE)
    clusters = np.arange(len(coins)) if records.clusters is None else records.clusters
    _, first = np.unique(clusters[order], return_index=True)
    first = order[first]  # of each cluster, the first record of the sorted table
    stratum, coin = records.strata[first], coins[first]
    size = np.bincount(stratum)
    number = np.clip(np.rint(fraction * size), 0, np.maximum(size - 2, 0)).astype(int)
    by_coin = np.lexsort((coin, stratum))
    rank = np.empty(len(coin), dtype=int)
    rank[by_coin] = np.arange(len(coin)) - (np.cumsum(size) - size)[stratum[by_coin]]
    aside = rank < number[stratum]
    factors = size / (size - number)
    return aside[clusters], factors[records.strata]


def _coins(content: NDArray[np.bytes_] | list[bytes], salt: bytes) -> tuple[Floats, Indices]:
    """Return a uniform number for each row, and the order of the sorted table."""
    order: Indices = np.array(sorted(range(len(content)), key=content.__getitem__), dtype=np.intp)
    digest = hashlib.sha256(salt)
    for place in order:
        digest.update(hashlib.sha256(content[place]).digest())
    coins = np.empty(len(order))
    coins[order] = _uniform(digest.digest(), len(order))
    return coins, order


def _one_of_each(
    records: SurveyRecords, max_weight: float, coins: Floats, order: Indices
) -> NDArray[np.bool_]:
    """Keep one record of some clusters: the coin of a cluster's first record is the cluster's.

    One uniform number decides both: below ``mass / max_weight`` it is uniform up to there, and says
    which record.
    """
    assert records.clusters is not None
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
