"""Larger blocks in place of several that targets name."""

import functools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning

from skrldp import (
    AOptimalSanitizer,
    BlockEstimator,
    BlockSanitizer,
    GRRSanitizer,
    IRSanitizer,
    expected_std_error,
    privacy_report,
)
from skrldp.sanitizers._larger_blocks import larger_blocks
from skrldp.targets import Marginal, Mean

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TARGETS = [Marginal(["a", "b"]), Marginal("b", by="c"), Mean("a", by="c")]
GROUPS = [["a", "b"], ["b", "c"], ["a", "c"]]


def table(n=20_000):
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.integers(0, 2, (n, 4)), columns=["s", "a", "b", "c"])


def blocks(**options):
    categories = {name: [0, 1] for name in "sabc"}
    own = {"sensitive": "s", "categories": categories, "targets": TARGETS, "random_state": 0}
    own["base"] = IRSanitizer()  # by formula, to save time
    return BlockSanitizer(**(own | options))


@functools.cache
def larger():
    return blocks().fit(table())


def test_a_larger_block_takes_the_place_of_those_that_tell_less():
    found, apart = larger(), blocks(max_cells=0).fit(table())
    assert found.blocks_ == (("a",), ("b",), ("c",), ("a", "b", "c"))
    assert set(apart.blocks_[3:]) == set(map(tuple, GROUPS))
    for columns in GROUPS:
        errors = [expected_std_error(one, 1_000, columns).max() for one in (found, apart)]
        assert errors[0] < 0.9 * errors[1]
    each = [np.sqrt((expected_std_error(found, 1, own) ** 2).sum()) for own in GROUPS]
    assert found.std_error_[3] == pytest.approx(math.hypot(*each))
    assert found.score(table()) == pytest.approx(-(found.std_error_**2).sum(), rel=1e-2)
    reports = found.transform(table())
    shares = BlockEstimator(found).fit(reports).marginal(["a", "c"])
    assert np.abs(shares.frequencies - 0.25).max() < 5 * shares.std_error.max()


def test_all_blocks_that_were_tried_count_in_beta():
    """The set of each is made as one of seven; four are chosen by what their reports tell."""
    found = larger()
    assert (found.n_designed_, len(found.blocks_)) == (7, 4)
    assert [one.uncertainty.beta for one in found.sanitizers_] == pytest.approx([0.05 / 7] * 4)
    assert found.manifest_.beta == pytest.approx(0.05)
    assert privacy_report(found).beta_together == pytest.approx(0.05)
    assert found.certificate_.holds(1.0)


def test_blocks_that_tell_more_stay():
    """Reports of GRR tell the less the more values there are."""
    found = blocks(base=GRRSanitizer()).fit(table(2_000))
    assert set(found.blocks_[3:]) == set(map(tuple, GROUPS))
    assert found.n_designed_ == 7
    named = blocks(base=GRRSanitizer(), blocks=GROUPS, targets=TARGETS).fit(table(2_000))
    assert named.n_designed_ == 3  # blocks that are named are left as they are


def test_warnings_are_about_the_blocks_that_stay():
    """A design that one step ends warns, of whatever block."""
    with pytest.warns(ConvergenceWarning) as told:
        found = blocks(base=AOptimalSanitizer(max_iter=1)).fit(table())
    assert found.n_designed_ == 7
    shown = " ".join(str(one.message) for one in told)
    assert found.blocks_ == (("a",), ("b",), ("c",), ("a", "b", "c"))
    assert "('a', 'b', 'c')" in shown
    assert not any(f"({', '.join(map(repr, group))})" in shown for group in GROUPS)
    assert {one.filename for one in told} == {__file__}


def test_learned_values_do_not_choose_which_blocks_are_tried():
    """Else blocks that other records would have had tried would have to count in beta, too."""
    options = {"base": GRRSanitizer(), "categories": "auto"}
    learned = blocks(**options).fit(table(2_000))
    assert (learned.n_designed_, len(learned.blocks_)) == (6, 6)
    lazy = blocks(**options).fit(pl.from_pandas(table(2_000)).lazy())
    assert lazy.manifest_.digest == learned.manifest_.digest
    texts = table(2_000).astype(str)
    levels = pd.CategoricalDtype(["0", "1"], ordered=True)
    declared = blocks(**options).fit(texts.astype(dict.fromkeys("abc", levels)))
    assert declared.n_designed_ == 7  # secrets may be learned: beta holds given all of them
    lazy = pl.from_pandas(texts).lazy().with_columns(pl.col("a", "b", "c").cast(pl.Enum("01")))
    assert blocks(**options).fit(lazy).manifest_.digest == declared.manifest_.digest


def test_which_blocks_are_tried_depends_on_the_numbers_of_categories():
    pairs = [(1, 2), (2, 3), (1, 3), (3, 4)]
    sizes = dict(enumerate([2, 3, 2, 5, 2]))
    found = larger_blocks(pairs, sizes, [0], 60)
    assert [(one.block, len(one.instead_of)) for one in found] == [((1, 2, 3), 3)]
    found = larger_blocks(pairs, sizes, [0], 59)
    assert [(one.block, one.instead_of) for one in found] == [((2, 3, 4), ((2, 3), (3, 4)))]
    found = larger_blocks(pairs, sizes, [0], 120)
    assert [one.block for one in found] == [(1, 2, 3, 4)]
    assert larger_blocks(pairs, sizes, [0], 39) == []
    assert larger_blocks(pairs[:1], sizes, [0], 1_000) == []
    assert larger_blocks([(1,), (2,)][:0], sizes, [0], 60) == []


@pytest.mark.parametrize("max_cells", [-1, 2.5, "many"])
def test_a_limit_is_a_whole_number(max_cells):
    with pytest.raises(ValueError, match=r"max_cells=.* must be a whole number >= 0"):
        blocks(max_cells=max_cells).fit(table(100))
