"""A stated number of fresh reports about each person: none more, whatever happens in between."""

import copy
import math
import os
import pickle
import sqlite3
import stat
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp import Mechanism, ReportLimitError, SkrldpError
from skrldp.claims import Around, Claim, Claims
from skrldp.client import ReportLimit, load

AROUND = Around("renyi", {"alpha": 2.0, "radius": 0.1}, "given")
ROW = {"ill": "yes", "age": 1}


def text_of(eps_worst_case=4.0):
    claims = [Claim(0.75, 0.5, AROUND, ("ill",))]
    if eps_worst_case is not None:
        claims.append(Claim(eps_worst_case, 0.0, secret=("ill",)))
    mechanism = Mechanism.from_matrix([[0.5, 0.25], [0.5, 0.75]], ("no", "yes"), (1,))
    mechanism = mechanism.named(None, [("ill", True), ("age", False)])
    return replace(mechanism, claims=Claims(tuple(claims))).to_json()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "counts.sqlite"


def counted(path):
    with closing(sqlite3.connect(path)) as counts:
        return sorted(made for (made,) in counts.execute("SELECT made FROM reports"))


def test_the_next_report_is_refused_for_good(path):
    """By this client, a copy, one that is loaded later, and one with another file name for it."""
    device = load(text_of(), limit=ReportLimit(2, path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 or os.name != "posix"
    assert {device.report(ROW, id="me") for _ in range(2)} <= {0, 1}
    others = [
        load(text_of(), limit=ReportLimit(2, path)),
        load(text_of(), limit=ReportLimit(1, str(path.parent / "." / path.name))),
        copy.deepcopy(device),
        load(text_of(), limit=pickle.loads(pickle.dumps(ReportLimit(2, path)))),
    ]
    for client in [device, *others]:
        with pytest.raises(ReportLimitError) as caught:
            client.report(ROW, id="me")
        assert isinstance(caught.value, SkrldpError) and "me" not in str(caught.value).split()
    with pytest.raises(
        ReportLimitError, match=r"2 of 2 reports.*2 reports together leak at most 4\.75 nats"
    ):
        device.report({"ill": "no", "age": 1}, id="me")  # the record changed
    assert counted(path) == [2]
    for person in ("you", b"me", 1, "1"):
        assert device.report(ROW, id=person) in (0, 1)
    assert load(text_of(), limit=ReportLimit(3, path)).report(ROW, id="me") in (0, 1)
    # Another mechanism counts for itself; asking with it is to ask again.
    assert load(text_of(eps_worst_case=5.0), limit=ReportLimit(1, path)).report(ROW, id="me") in (
        0,
        1,
    )
    assert b"person" in path.read_bytes() and b"you" not in path.read_bytes()


def test_a_batch_is_reported_whole_or_not_at_all(path):
    device = load(text_of(), limit=ReportLimit(2, path))
    assert device.report_many([ROW] * 3, ids=[1, 2, 1]).shape == (3,)
    for ids, place in (([3, 4, 1], 2), ([3, 2, 2], 1), ([3, 3, 3], 0), ([5] * 4, 0)):
        with pytest.raises(ReportLimitError, match=f"record {place}:"):
            device.report_many([ROW] * len(ids), ids=ids)
    assert counted(path) == [1, 2]
    for records, ids in (
        ([ROW, {"ill": "?", "age": 1}], [3, 4]),
        ([ROW, ROW], [3, None]),
        ([ROW, ROW], [3, 4, 5]),
        ([ROW, ROW], None),
    ):
        with pytest.raises(ValueError, match=r"does not know|an id must be|ids|an id for each"):
            device.report_many(records, ids=ids)
    assert counted(path) == [1, 2]
    assert device.report_many([ROW] * 3, ids=np.array([2, 3, 3])).shape == (3,)
    assert device.report_many([], ids=[]).shape == (0,)
    assert counted(path) == [2, 2, 2]


@given(st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=6), st.integers(1, 4))
def test_nobody_has_more_reports_than_are_allowed(tmp_path_factory, batches, most):
    path = tmp_path_factory.mktemp("counts") / "counts.sqlite"
    made = Counter()
    for ids in batches:
        device = load(text_of(), limit=ReportLimit(most, path))
        if max((made + Counter(ids)).values(), default=0) > most:
            with pytest.raises(ReportLimitError):
                device.report_many([ROW] * len(ids), ids=ids)
        else:
            made += Counter(ids)
            assert len(device.report_many([ROW] * len(ids), ids=ids)) == len(ids)
        assert counted(path) == sorted(made.values())


def test_a_report_is_counted_before_it_is_drawn(path, monkeypatch):
    """Otherwise whoever ends the client in between has one report more."""
    device = load(text_of(), limit=ReportLimit(2, path))
    seen = []

    def ended(*arguments):
        seen.append(counted(path))
        raise KeyboardInterrupt

    monkeypatch.setattr("skrldp.client.clients.RandomStream", ended)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            device.report(ROW, id="me")
    assert seen == [[1], [2]]
    with pytest.raises(ReportLimitError):
        device.report(ROW, id="me")


def test_clients_at_the_same_time_share_the_number(path):
    def ask(client):
        try:
            return client.report_many([ROW, ROW], ids=["me", "you"]).size
        except ReportLimitError:
            return 0

    same = load(text_of(), limit=ReportLimit(5, path))
    clients = [same] * 8 + [load(text_of(), limit=ReportLimit(5, path)) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, clients)) == 5 * 2
    assert counted(path) == [5, 5]


def test_as_many_reports_as_have_a_bound(path):
    open_end = text_of(eps_worst_case=None)
    with pytest.raises(ValueError, match=r"but 2 may reveal the secret.*eps_worst_case="):
        load(open_end, limit=ReportLimit(2, path))
    one = load(open_end, limit=ReportLimit(1, path))
    assert one.report(ROW, id=1) in (0, 1)
    with pytest.raises(ReportLimitError, match=r"1 report leaks at most 0\.75 nats"):
        one.report(ROW, id=1)
    several = load(text_of(), limit=ReportLimit(3, path))
    assert "eps<=0.75 claimed, eps<=8.75 for 3 about one person" in repr(several)
    load(text_of(), limit=ReportLimit(3, path, eps=8.75))
    with pytest.raises(ValueError, match=r"3 reports .* 8\.75 nats, more than eps=8\.7"):
        load(text_of(), limit=ReportLimit(3, path, eps=8.7))
    bare = Mechanism.from_matrix([[1.0, 1.0]], ("no", "yes"), (1,)).to_json()
    with pytest.raises(ValueError, match="claims nothing"):
        load(bare, limit=ReportLimit(1, path))


def test_bad_limits(path):
    for bad in (0, -1, 1.5, True, "2", None, math.inf):
        with pytest.raises(ValueError, match=r"per_person=.* must be an integer >= 1"):
            ReportLimit(bad, path)
    for bad in (0, -1.0, math.nan, True, "1"):
        with pytest.raises(ValueError, match="eps"):
            ReportLimit(1, path, eps=bad)
    assert not path.exists()
    with pytest.raises(TypeError, match="limit must be ReportLimit"):
        load(text_of(), limit=3)
    with pytest.raises(ValueError, match="permanent_key or limit, not both"):
        load(text_of(), permanent_key=bytes(range(32)), limit=ReportLimit(3, path))
    device = load(text_of(), limit=ReportLimit(3, path))
    with pytest.raises(ValueError, match=r"counted reports \(limit\) need an id"):
        device.report(ROW)
    with pytest.raises(ValueError, match="counted reports do not use random_state"):
        load(text_of(), limit=ReportLimit(2, path), random_state=0)


def test_without_its_file_nothing_is_reported(tmp_path, path):
    """A file that is gone must not be taken for one in which nothing was counted yet."""
    device = load(text_of(), limit=ReportLimit(2, path))
    path.unlink()
    with pytest.raises(OSError, match="Nothing was reported"):
        device.report(ROW, id="me")
    assert not path.exists()
    path.touch()
    with pytest.raises(OSError, match="no such table"):
        device.report(ROW, id="me")
    text, other = tmp_path / "text", tmp_path / "other.sqlite"
    text.write_text("a" * 5000)
    with closing(sqlite3.connect(other)) as tables:
        tables.execute("CREATE TABLE reports (person, made)")
    for wrong, error in (
        (text, OSError),
        (tmp_path, OSError),
        (tmp_path / "missing" / "counts", OSError),
        (other, ValueError),
    ):
        with pytest.raises(error, match=r"cannot be read and written|of a different kind"):
            ReportLimit(2, wrong)
    assert text.read_text() == "a" * 5000


def test_no_file_is_in_memory(tmp_path, monkeypatch):
    """SQLite takes these names for databases that end with the connection, and so forget."""
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file::memory:", "a?mode=memory", "b#c%20d"):
        device = load(text_of(), limit=ReportLimit(1, name))
        monkeypatch.chdir("/")
        assert device.report(ROW, id="me") in (0, 1)
        with pytest.raises(ReportLimitError):
            device.report(ROW, id="me")
        monkeypatch.chdir(tmp_path)
        assert counted(tmp_path / name) == [1]


def test_the_number_of_reports_cannot_be_changed(path):
    limit = ReportLimit(1, path)
    device = load(text_of(), limit=limit)
    for changed, name in ((limit, "per_person"), (limit, "path"), (device, "mechanism")):
        with pytest.raises(AttributeError, match=f"{name} of a .* cannot be changed"):
            setattr(changed, name, 50)
