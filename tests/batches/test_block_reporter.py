"""Batches of records to blocks and reports."""

import pickle

import pandas as pd
import polars as pl
import pytest
from block_tables import fitted_blocks, wide_table

from skrldp import batches

pa = pytest.importorskip("pyarrow")

MANIFEST = fitted_blocks().manifest_
TABLE = wide_table(3_000, seed=4).assign(person=[f"p{n}" for n in range(3_000)])


def reporter(**options):
    return batches.BlockReporter(
        MANIFEST.to_json(), **({"id": "person", "key": bytes(range(32))} | options)
    )


def test_reports_do_not_depend_on_order_batches_libraries_or_copies():
    expected = reporter()(TABLE)
    shuffled = TABLE.sample(frac=1.0, random_state=0)
    again = reporter()(shuffled).set_index("person").loc[expected["person"]].reset_index()
    pd.testing.assert_frame_equal(again, expected, check_index_type=False)
    whole = pa.Table.from_pandas(TABLE, preserve_index=False)
    batched = pa.Table.from_batches(reporter()(whole.to_batches(max_chunksize=700)))
    pd.testing.assert_frame_equal(batched.to_pandas(), expected)
    polars = reporter()(pl.from_pandas(TABLE)).to_pandas()
    pd.testing.assert_frame_equal(polars, expected)
    public = reporter(
        key=batches.KeyVariable("A_KEY"), key_check=batches.key_check(bytes(range(32)))
    )
    assert pickle.loads(pickle.dumps(public)).digest == MANIFEST.digest


def test_the_block_is_the_person_s_whatever_the_record():
    first = reporter()(TABLE)
    other = TABLE.assign(
        **{name: TABLE[name].iloc[::-1].to_numpy() for name in ("age", "ill", "job")}
    )
    second = reporter()(other)
    pd.testing.assert_series_equal(first["block"], second["block"])
    assert not first["report"].equals(second["report"])
    assert not first["block"].equals(reporter(key=bytes(range(1, 33)))(TABLE)["block"])


def test_bad_input():
    with pytest.raises(ValueError, match="does not know a value"):
        reporter()(TABLE.assign(job="z"))
    with pytest.raises(ValueError, match="different names"):
        reporter(keep=["block"])
    for kind, text, message in (
        (batches.Reporter, MANIFEST.to_json(), r"got Manifest, .* use BlockReporter"),
        (batches.LedgerReporter, MANIFEST.to_json(), r"got Manifest, .* use BlockReporter"),
        (batches.BlockReporter, MANIFEST.mechanisms[0].to_json(), r"a Manifest .* use Reporter"),
    ):
        with pytest.raises(ValueError, match=message):
            kind(text, id="person", key=bytes(range(32)))
