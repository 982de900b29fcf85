"""The part of a survey that is an independent sample of the population."""

import hashlib

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from skrldp._typing import Floats, Indices
from skrldp.surveys._records import SurveyRecords

__all__ = ["independent_part"]

_SALT = b"skrldp: an independent part of a survey, version 1\n"
_BITS = 53
# How often a table is refused as a stratum has too few records. Half of it lets a sample of four
# strata of 250 be 1 % smaller, twice as much 1 % larger.
_RUN_OUT = 1e-3


def independent_part(
    records: SurveyRecords, content: NDArray[np.bytes_] | list[bytes]
) -> NDArray[np.bool_]:
    """Tell which records to keep, so that those kept are an independent sample of the population.

    A record is kept with probability ``weight / max_weight``; of a cluster one record at most, with
    probability ``sum of weights / max_weight``, drawn in proportion to the weights. If records (or
    clusters) were drawn independently with probabilities inverse to their weights, those kept are
    drawn independently and alike within their stratum. Of several strata, as many of them are kept
    as a sample of the population would have (Theorem 39).

    The coins come from a digest of the sorted table, with a fixed salt: nobody can toss again until
    they like the result, and the order of the rows does not matter. Whatever is proven about the
    result takes that digest for a random oracle.

    Parameters
    ----------
    records : SurveyRecords
        With the greatest weight that the design could give, and the sizes of strata.
    content : sequence of n bytes
        What each record says, weights and clusters included.

    Returns
    -------
    array of n bool

    Raises
    ------
    ValueError
        If there are replicate weights, or strata of unknown sizes; if a weight is greater than the
        greatest; or a stratum has fewer records than a sample of the population would have.
    """
    assert records.max_weights is not None
    if records.replicates is not None:
        raise ValueError(
            "the exact set (radius='finite-sample') is for records, or clusters, that were drawn "
            "independently, or so within strata, and replicate weights do not tell which: give "
            "strata and clusters, or use LikelihoodRatioSet(radius='asymptotic')."
        )
    if len(records.max_weights) > 1 and records.stratum_sizes is None:
        raise ValueError(
            "the exact set (radius='finite-sample') is for records, or clusters, that were drawn "
            "independently; the sizes of strata were not. Name a column of how many people of the "
            "population each stratum has, SurveyDesign(stratum_sizes=...), or use "
            "LikelihoodRatioSet(radius='asymptotic')."
        )
    _check_weights(records)
    coins, order = _coins(content)
    if records.are_clustered:
        kept = _one_of_each(records, coins[0], order)
    else:
        kept = coins[0] * records.max_weights[records.strata] < records.weights
    if len(records.max_weights) == 1:
        return kept
    return _as_drawn_from_all(records, kept, coins, order)


def _check_weights(records: SurveyRecords) -> None:
    """Refuse weights that are greater than the design's greatest."""
    assert records.max_weights is not None
    mass, strata = records.weights, records.strata
    if records.clusters is not None:
        mass = np.bincount(records.clusters, records.weights).astype(np.float64)
        strata = np.zeros(len(mass), dtype=np.intp)
        strata[records.clusters] = records.strata
    most = records.max_weights[strata]
    over = mass > most
    if over.any():
        first = int(np.argmax(over))
        what = "cluster's sum of weights" if records.are_clustered else "weight"
        raise ValueError(
            f"max_weight={most[first]:g} is less than a {what} of the table, {mass[first]:g}. It "
            "must be the greatest that the design could give, known before the records were drawn."
        )


def _as_drawn_from_all(
    records: SurveyRecords, kept: NDArray[np.bool_], coins: Floats, order: Indices
) -> NDArray[np.bool_]:
    """Keep as many records of each stratum as a sample of the population would have.

    The size of that sample depends on nothing but the numbers of records that strata have.
    """
    assert records.stratum_sizes is not None
    _, first = np.unique(records.strata[order], return_index=True)
    shares = records.stratum_sizes / records.stratum_sizes.sum()
    there = np.bincount(records.strata[kept], minlength=len(shares))
    size = _sample_size(there, shares)
    # Strata in the order in which they first occur in the sorted table, whatever the rows' order.
    named = np.argsort(first)
    ends = np.cumsum(shares[named])
    ends[-1] = 1.0
    drawn = named[np.searchsorted(ends, coins[1][order][:size], side="right")]
    wanted = np.bincount(drawn, minlength=len(shares))
    if size == 0 or np.any(wanted > there):
        raise ValueError(
            "a stratum has fewer records that could be kept than an independent sample of the "
            f"population has: of {len(there):,} strata the smallest has {int(there.min()):,}. This "
            f"happens in one of {round(1 / _RUN_OUT):,} tables, or where a stratum has next to "
            "none. Join small strata with others, or use LikelihoodRatioSet(radius='asymptotic')."
        )
    by_coin = np.lexsort((coins[2], ~kept, records.strata))
    starts = np.cumsum(np.bincount(records.strata)) - np.bincount(records.strata)
    rank = np.empty(len(kept), dtype=np.intp)
    rank[by_coin] = np.arange(len(kept)) - starts[records.strata[by_coin]]
    chosen: NDArray[np.bool_] = kept & (rank < wanted[records.strata])
    return chosen


def _sample_size(there: Indices, shares: Floats) -> int:
    """Return the greatest size of a sample in which hardly ever a stratum has more than `there`."""
    low, high = 0, int(there.sum()) + 1
    while high - low > 1:
        size = (low + high) // 2
        more = bdtrc(there, size, shares)[there < size].sum()
        low, high = (size, high) if more <= _RUN_OUT else (low, size)
    return low


def _coins(content: NDArray[np.bytes_] | list[bytes]) -> tuple[Floats, Indices]:
    """Return uniform numbers for each row, shape (3, n), and the order of the sorted table."""
    order: Indices = np.array(sorted(range(len(content)), key=content.__getitem__), dtype=np.intp)
    digest = hashlib.sha256(_SALT)
    for place in order:
        digest.update(hashlib.sha256(content[place]).digest())
    coins = np.empty((3, len(order)))
    coins[:, order] = _uniform(digest.digest(), 3 * len(order)).reshape(3, -1)
    return coins, order


def _one_of_each(records: SurveyRecords, coins: Floats, order: Indices) -> NDArray[np.bool_]:
    """Keep one record of some clusters: the coin of a cluster's first record is the cluster's.

    One uniform number decides both: below ``mass / max_weight`` it is uniform up to there, and says
    which record.
    """
    assert records.clusters is not None and records.max_weights is not None
    sequence = order[np.argsort(records.clusters[order], kind="stable")]
    cluster = records.clusters[sequence]
    first = np.flatnonzero(np.r_[True, cluster[1:] != cluster[:-1]])
    # Of each cluster, a point on the line of its weights.
    point = coins[sequence[first]] * records.max_weights[records.strata[sequence[first]]]
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
