"""Permanent reports of a client: one person, one report, computed from a key, an id and the record.

Their distribution, and that they are independent of each other, follows from that of keyed streams
(``tests/sampling/test_keyed_stream.py``); here is that a report is drawn from the described bits.
"""

import copy
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from block_tables import fitted_blocks, wide_table
from keyed_tapes import report_of_tape
from small_mechanisms import FORMS, KEY, ROWS, dense, rows_of

from skrldp.batches import BlockReporter, Reporter
from skrldp.client import load


def permanent(mechanism, key=KEY):
    return load(mechanism.to_json(), permanent_key=key)


def test_ids_that_numpy_has_cut_off_are_refused():
    """Its type S drops zero bytes at the end, which one of 256 UUIDs has: another id."""
    ids = [bytes([7] * 15 + [last]) for last in (0, 1)]
    client = permanent(dense())
    rows, _ = rows_of(2)
    one, other = (client.report_many(rows, ids=kind(ids)) for kind in (list, pd.Series))
    assert one.tolist() == other.tolist()
    with pytest.raises(ValueError, match=r"NumPy array of bytes .*zero bytes"):
        client.report_many(rows, ids=np.array(ids))


@pytest.mark.parametrize("form", FORMS)
def test_the_bits_are_those_that_are_described(form):
    mechanism = FORMS[form]()
    rows, cells = rows_of(20)
    cells = cells % 5 if form == "blind" else cells
    for row, cell in zip(rows, cells, strict=True):
        for person in ("é" * 9, b"\x00", -12, "7", 7, str(2**70)):
            expected = report_of_tape(mechanism, int(cell), person, KEY)
            assert permanent(mechanism).report(row, id=person) == expected


@pytest.mark.parametrize("blocks", [False, True])
def test_devices_and_tables_give_the_same_reports(blocks):
    """With one key and one mechanism, whatever kind of ids there is, and by turns."""
    public = wide_table(300)
    made = fitted_blocks().manifest_ if blocks else fitted_blocks().manifest_.mechanisms[0]
    reporter = (BlockReporter if blocks else Reporter)(made, id="person", key=KEY)
    device = load(made.to_json(), permanent_key=KEY)
    kinds = (list(range(-150, 150)), [f"p{n}" for n in range(300)], [b"%d" % n for n in range(300)])
    for ids in kinds:
        table = pa.table({**{name: list(public[name]) for name in public}, "person": ids})
        found = reporter(table)
        reports = device.report_many(public, ids=ids)
        for name, own in zip(
            ("block", "report")[-1 - blocks :], reports if blocks else [reports], strict=True
        ):
            assert own.tolist() == found[name].to_pylist()
    texts = [id if row % 2 else str(id) for row, id in enumerate(kinds[0])]
    mixed = device.report_many(public, ids=[*texts[:299], kinds[2][299]])
    first = device.report_many(public, ids=kinds[0])
    np.testing.assert_array_equal(np.array(mixed)[..., :299], np.array(first)[..., :299])
    assert np.array(mixed)[..., 299].tolist() == np.array(reports)[..., 299].tolist()


BAD_IDS = [None, True, 1.0, ("a",), "\ud800", "", b"", 2**64]


@pytest.mark.parametrize("bad", BAD_IDS)
def test_bad_ids(bad):
    client, wrong = permanent(dense()), r"an id must be|surrogate|an id is empty|more than 64 bits"
    with pytest.raises(ValueError, match=f"{wrong}|need an id"):
        client.report(ROWS[0], id=bad)
    with pytest.raises(ValueError, match=wrong):
        client.report_many(ROWS, ids=["fine", bad])


def test_ids_go_with_permanent_reports():
    client = permanent(dense())
    with pytest.raises(ValueError, match="need an id for each record"):
        client.report_many(ROWS)
    with pytest.raises(ValueError, match=r"Expected 2 ids.* got 3"):
        client.report_many(ROWS, ids=[1, 2, 3])
    with pytest.raises(ValueError, match="one id for each record, not a single str"):
        client.report_many(ROWS, ids="ab")
    with pytest.raises(ValueError, match="make reports permanent with load"):
        load(dense().to_json()).report(ROWS[0], id="me")


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (b"\x07" * 32, ValueError, "is a single byte repeated, .* secrets.token_bytes"),
        (bytes(15), ValueError, "at least 16 bytes .* got 15: make one with secrets.token_bytes"),
        ("a" * 32, TypeError, "a key of type bytes, got str"),
        (bytearray(32), TypeError, "got bytearray"),
    ],
)
def test_bad_keys(key, error, message):
    with pytest.raises(error, match=message):
        load(dense().to_json(), permanent_key=key)


def test_another_mechanism_is_refused():
    mechanism = dense()
    digest = mechanism.digest
    assert load(mechanism.to_json(), digest=digest).digest == digest
    assert load(mechanism.to_json().encode(), digest=digest, permanent_key=KEY).digest == digest
    text = mechanism.to_json().replace('"S"', '"s"')
    for wrong in (digest, digest.upper(), "", digest[:-1], f"{digest} "):
        with pytest.raises(
            ValueError, match=r"this is a different mechanism: its digest is [0-9a-f]"
        ):
            load(text, digest=wrong)
    for wrong in (digest.encode(), 0, False, [digest]):
        with pytest.raises(TypeError, match="digest must be a str"):
            load(mechanism.to_json(), digest=wrong)


def test_a_key_leaves_nothing_to_chance():
    assert load(dense().to_json(), permanent_key=bytes(range(16))).report(ROWS[0], id=1) in range(4)
    with pytest.raises(ValueError, match="do not use random_state"):
        load(dense().to_json(), permanent_key=KEY, random_state=0)


def test_the_key_is_not_written_with_the_client():
    """Pickles are stored and sent; a permanent client is loaded anew, with its key."""
    client = permanent(dense())
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="load it again with the key"):
            pickle.dumps(client, protocol)
    twin = copy.deepcopy(client)  # which stays in memory
    assert twin.report(ROWS[0], id=1) == client.report(ROWS[0], id=1)
    fresh = pickle.loads(pickle.dumps(load(dense().to_json())))
    assert fresh.digest == client.digest and fresh.report(ROWS[0]) in range(4)
