"""Blocks of columns are designed one by one, and promise together what is asked of the whole.

Each block is proven at its share of beta, shares lower the errors, the blocks do not depend on the
table's library, and what no block can report is refused whatever the block.
"""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from block_tables import KNOWN, fitted_blocks, wide_table
from conftest import few_iterations

from skrldp import (
    AllDistributions,
    AOptimalSanitizer,
    BlockSanitizer,
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    SRRSanitizer,
    SurveyDesign,
    certify,
)
from skrldp.mechanism.manifest import Manifest
from skrldp.sanitizers.block_sanitizer import errors_of, models
from skrldp.targets import Marginal

# Designs end early, to save time.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TABLE = wide_table()


def blocks(**options):
    own = {"eps": 1.0, "sensitive": "ill", "base": GRRSanitizer(), "categories": KNOWN}
    return BlockSanitizer(**(own | options))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {("age",), ("home",), ("job",)}),
        ({"blocks": "pairs"}, {("age", "home"), ("age", "job"), ("home", "job")}),
        ({"blocks": ["job", ["age", "home"]]}, {("job",), ("age", "home")}),
        ({"blocks": [["job", "age", "home"]]}, {("age", "home", "job")}),
        ({"base": SRRSanitizer(), "blocks": [0, [2, 3]]}, {("age",), ("home", "job")}),
    ],
)
def test_blocks_follow_from_what_is_asked(options, expected):
    assert set(blocks(**options).fit(TABLE).blocks_) == expected


def test_every_block_is_proven_at_its_share_of_beta():
    sanitizer = fitted_blocks("singles", 4.0)
    assert sanitizer.manifest_.claims.beta == pytest.approx(0.05, rel=1e-12)
    for one, mechanism in zip(sanitizer.sanitizers_, sanitizer.manifest_.mechanisms, strict=True):
        around = LikelihoodRatioSet(beta=0.05 / 3)
        assert certify(mechanism, around, one.joint_).holds(2.0)
        assert mechanism.claims.eps_worst_case <= 4.0
        assert mechanism.claims.beta == pytest.approx(0.05 / 3)
    assert sanitizer.certificate_.eps == max(one.eps for one in sanitizer.certificates_)
    assert sanitizer.certificate_.holds(2.0)
    assert sanitizer.manifest_.claims.bound_of(2) <= 6.0


def test_a_set_without_beta_is_taken_as_it_is():
    found = blocks(base=SRRSanitizer(uncertainty=AllDistributions())).fit(TABLE)
    assert all(one.claims.main.around.is_everything for one in found.manifest_.mechanisms)
    around = LikelihoodRatioSet(drift=0.01)
    drift = blocks(base=IRSanitizer(uncertainty=around))
    around = drift.fit(TABLE).certificate_.uncertainty
    assert (around.drift, around.beta) == (0.01, pytest.approx(0.05 / 3))
    assert drift.base.uncertainty.beta == 0.05  # the user's own set is not changed


def test_shares_lower_the_errors():
    best = blocks().fit(TABLE)
    even = Manifest.of(best.manifest_.mechanisms, np.full(3, 1 / 3))

    def total(manifest):
        margins, functions, information = models(manifest, [s.joint_ for s in best.sanitizers_])
        return (errors_of(margins, information, functions, manifest.shares) ** 2).sum()

    assert total(best.manifest_) == pytest.approx((best.std_error_**2).sum())
    assert total(best.manifest_) < 0.999 * total(even)


@pytest.mark.slow
def test_processes_print_each_block_and_give_the_same_manifest(capfd):
    """The largest block is the first, so that no process waits for it."""
    frame = pl.from_pandas(TABLE).lazy()
    parallel = blocks(n_jobs=2, verbose=1).fit(frame)
    out, err = capfd.readouterr()
    shown = [line.split(": ")[1] for line in out.splitlines()]
    assert sorted(shown) == ["age", "home", "job"]
    values = [len(KNOWN[name]) for name in shown]
    assert values == sorted(values, reverse=True)
    assert err == ""  # it is not a terminal
    assert parallel.manifest_.digest == blocks().fit(TABLE).manifest_.digest
    assert capfd.readouterr() == ("", "")
    with pytest.raises(ValueError, match="rows of a lazy frame, because they have no order"):
        blocks().fit(frame, sample_weight=np.ones(len(TABLE)))


class Undesigned(GRRSanitizer):
    _most_cells = 2_000
    fit = None


def test_all_blocks_beyond_the_limit_are_named_before_any_design():
    rng = np.random.default_rng(0)
    table = TABLE.assign(zip=np.arange(len(TABLE)) % 700, pay=rng.random(len(TABLE)))
    expected = (
        r"^7 of 10 blocks have more cells than the 2,000 that Undesigned designs: "
        r"\('age', 'zip'\) 4,200; .*; \.\.\.\. Column 'pay' has 4,000 values\. .*Bins"
    )
    for own in (table, pl.from_pandas(table).lazy()):
        with pytest.raises(ValueError, match=expected):
            blocks(blocks="pairs", base=Undesigned(), categories="auto").fit(own)


def test_unknown_values_are_refused_whatever_the_block():
    """One record, whose block is mostly another one: no call passes."""
    sanitizer = fitted_blocks("singles")
    fresh = copy.deepcopy(sanitizer).set_params(random_state=None)
    record = TABLE.iloc[:1].assign(job="z")
    for _ in range(20):
        with pytest.raises(ValueError, match="column 'job' has a value unseen"):
            fresh.transform(record)
    with pytest.raises(ValueError, match="a base with handle_unknown='infrequent_if_exist'"):
        sanitizer.transform(TABLE.assign(job="none"))
    with pytest.raises(ValueError, match="'ill'"):
        sanitizer.transform(TABLE.iloc[:1].assign(ill="perhaps"))


def test_what_sees_u_alone_needs_no_secret():
    with few_iterations(5):
        sanitizer = blocks(base=AOptimalSanitizer(observe="nonsensitive"), random_state=0)
        sanitizer.fit(TABLE)
    other = TABLE.assign(ill=np.where(TABLE["ill"] == "no", "yes", "no"))
    pd.testing.assert_frame_equal(sanitizer.transform(TABLE), sanitizer.transform(other))


BY_POSITION = AOptimalSanitizer(targets=["nonsensitive", Marginal([1])])
OF_A_SURVEY = AOptimalSanitizer(survey=SurveyDesign(weights="w"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"blocks": ["age", "home"]}, r"no block contains the columns \['job'\]"),
        ({"blocks": ["age", "home", "wage"]}, "'wage' not found"),
        ({"eps_worst_case": 2.0}, "GRRSanitizer has no parameter eps_worst_case"),
        # Of a block, column 1 is its own one: the report told what nobody had proven.
        ({"base": AOptimalSanitizer(observer_columns=[1])}, "pass it to BlockSanitizer"),
        ({"base": GRRSanitizer(sensitive="age")}, "remove sensitive from the base"),
        ({"base": BY_POSITION}, r"Marginal\(columns=\[1\].*selects a column by position"),
        ({"base": OF_A_SURVEY}, r"Fit AOptimalSanitizer\(survey=...\) directly"),
        ({"categories": KNOWN | {"job": ["a", "b"]}}, "(?s)'job'.*lacks"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        blocks(**options).fit(TABLE)
    with pytest.raises(ValueError, match="feature names"):
        fitted_blocks("singles").transform(TABLE[["age", "ill"]])


def test_a_fit_that_fails_names_the_block_and_changes_nothing():
    sanitizer = blocks().fit(TABLE)
    before = sanitizer.manifest_.digest
    with pytest.raises(ValueError, match=r"'job'.*only one value") as caught:
        sanitizer.set_params(categories="auto").fit(TABLE.assign(job="a"))
    assert caught.value.__notes__ == ["This concerns the block of 'job'."]
    assert sanitizer.manifest_.digest == before


@pytest.mark.parametrize("sensitive", [0, 3])
def test_every_table_gives_the_same_blocks_and_reports(sensitive):
    """In arrays and in frames whose columns have numbers, blocks have positions of their own."""
    names = list(TABLE)
    own = {"blocks": "pairs", "categories": "auto", "random_state": 0}
    named = blocks(sensitive=[names[sensitive]], **own)
    expected = named.fit(TABLE).transform(TABLE)
    digest = named.manifest_.digest
    assert list(expected) == ["block", "report"] == named.get_feature_names_out().tolist()
    frame = pl.from_pandas(TABLE)
    found = named.fit(frame).transform(frame)
    assert named.manifest_.digest == digest and isinstance(found, pl.DataFrame)
    np.testing.assert_array_equal(found, expected)
    for table in (TABLE.to_numpy(dtype=object), TABLE.set_axis(range(4), axis=1)):
        found = blocks(sensitive=[sensitive], **own).fit(table)
        blocks_by_name = [tuple(names[k] for k in block) for block in found.blocks_]
        assert blocks_by_name == [*named.blocks_]
        np.testing.assert_array_equal(found.transform(table), expected)
    with pytest.raises(ValueError, match=r"the columns are named \[1, 0, 2, 3\]"):
        blocks(sensitive=slice(1), **own).fit(TABLE.set_axis([1, 0, 2, 3], axis=1))
