"""Clients of manifests."""

import json

import numpy as np
import pytest
from block_tables import fitted_blocks, wide_table

from skrldp import BlockSanitizer, Manifest, SRRSanitizer, client

TEXT = fitted_blocks().manifest_.to_json()
TABLE = wide_table(500, seed=2)
RECORD = {"age": 1, "ill": "yes", "home": "there", "job": "c"}
KEY = bytes(range(32))


def test_records_in_the_order_of_the_table_are_refused_where_columns_have_names():
    """A manifest has another order of columns than its table: S would be taken for U."""
    device = client.load(TEXT, permanent_key=KEY)
    ordered = [tuple(RECORD.values()), tuple(RECORD[name] for name, _ in device.columns)]
    for given in (ordered, np.array(ordered, dtype=object)):
        with pytest.raises(ValueError, match="values by position, but"):
            device.report_many(given, ids=[0, 1])


def test_arrays_are_read_in_the_order_of_the_table():
    table = np.random.default_rng(0).integers(0, 2, (400, 4))
    sanitizer = BlockSanitizer(
        sensitive=[3], blocks=[[2], [0], [1]], base=SRRSanitizer(), categories=[[0, 1]] * 4
    )
    device = client.load(sanitizer.fit(table).manifest_.to_json(), permanent_key=KEY)
    named = [dict(enumerate(row)) for row in table.tolist()]
    by_name = device.report_many(named, ids=range(400))
    for rows in (table, table.tolist()):
        np.testing.assert_array_equal(device.report_many(rows, ids=range(400)), by_name)
    with pytest.raises(ValueError, match="has 3 values"):
        device.report_many(table[:, :3], ids=range(400))


def test_the_format_is_told_by_the_format_alone():
    """Not by what stands first, nor by a name among the columns."""
    fields = json.loads(TEXT)
    behind = json.dumps({name: fields[name] for name in ("mechanisms", "weights", "version")})
    behind = behind[:-1] + ', "format": "skrldp-manifest"}'
    assert client.load(behind).digest == client.load(TEXT).digest
    one = fitted_blocks().manifest_.mechanisms[0]
    named = one.named(None, [("skrldp-manifest", False), ("ill", True), ("home", False)])
    assert client.load(named.to_json()).columns[0] == ("skrldp-manifest", False)


def test_digests_and_bad_arguments(tmp_path):
    digest = Manifest.from_json(TEXT).digest
    assert client.load(TEXT, digest=digest).digest == digest
    with pytest.raises(ValueError, match="different mechanism"):
        client.load(TEXT, digest="0" * 64)
    with pytest.raises(ValueError, match="not available for manifests"):
        client.load(TEXT, limit=client.ReportLimit(1, tmp_path / "counts"))
    with pytest.raises(ValueError, match="need an id"):
        client.load(TEXT, permanent_key=KEY).report(RECORD)
    with pytest.raises(ValueError, match="does not use ids"):
        client.load(TEXT).report(RECORD, id=1)
    with pytest.raises(ValueError, match="random_state"):
        client.load(TEXT, permanent_key=KEY, random_state=0)
    with pytest.raises(AttributeError, match=r"read-only|cannot be changed"):
        client.load(TEXT).manifest = None
