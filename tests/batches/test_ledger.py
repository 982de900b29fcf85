"""A ledger: at most k reports about each person, whatever runs, changes or ends in between."""

import hashlib
import hmac
import itertools
import pickle
import re
from dataclasses import replace

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from keyed_tapes import report_of_tape, tape
from lazy_frames import in_arrow

from skrldp import AllDistributions, JointDistribution, Mechanism, certify
from skrldp.batches import KeyVariable, LedgerReporter, Reporter, key_check
from skrldp.claims import Around, Claim, Claims

KEY, OTHER_KEY, LEDGER_KEY = bytes(range(32)), bytes(range(1, 33)), bytes(range(2, 34))


def mechanism(seed=0, eps_worst_case=4.0):
    """Twenty cells and six reports: a record that changes mostly has another report."""
    matrix = 0.02 + 0.88 * np.random.default_rng(seed).dirichlet(np.full(6, 0.3), size=20).T
    made = Mechanism.from_matrix(matrix, ("no", "yes"), tuple(range(10)))
    around = Around("renyi", {"alpha": 2.0, "radius": 0.1}, "given")
    claims = [Claim(0.75, 0.5, around, ("ill",))]
    claims += [] if eps_worst_case is None else [Claim(eps_worst_case, 0.0, secret=("ill",))]
    named = made.named(None, [("ill", True), ("age", False)])
    return replace(named, claims=Claims(tuple(claims)))


DESIGNS = [mechanism(0), mechanism(1)]


def reporter(design=0, **options):
    options = {"id": "person", "key": KEY, "ledger_key": LEDGER_KEY, **options}
    return LedgerReporter(DESIGNS[design], **options)


def records(persons, rng):
    """Return records that are new every time."""
    ill, age = rng.integers(0, 2, len(persons)), rng.integers(0, 10, len(persons))
    table = {"person": persons, "ill": np.array(["no", "yes"])[ill], "age": age}
    return pa.table({**table, "day": rng.integers(0, 9, len(persons))})


CONNECTIONS, NAMES = [], itertools.count()


@pytest.fixture(autouse=True)
def closed():
    yield
    while CONNECTIONS:
        CONNECTIONS.pop().close()


def of_duckdb(table):
    if not CONNECTIONS:
        CONNECTIONS.append(duckdb.connect())
    name = f"table_{next(NAMES)}"
    CONNECTIONS[0].register(name, table)
    return CONNECTIONS[0].table(name)


LIBRARIES = {
    "pyarrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "polars": pl.from_arrow,
    "lazy": lambda table: pl.from_arrow(table).lazy(),
    "duckdb": of_duckdb,
}


def run(one, table, ledger, library="pyarrow"):
    """Do what a job does; return the reports as {person: (report, epoch)}, and the ledger."""
    make = LIBRARIES[library]
    candidates = make(one(table))
    new = in_arrow(one.entries(candidates, make(ledger)))
    assert new.schema.names == ledger.schema.names
    ledger = pa.concat_tables([ledger, new.cast(ledger.schema)])
    out = in_arrow(one.reports(candidates, make(ledger)))
    assert out.schema.names == [
        "person",
        "report",
        "epoch",
        *(["day"] if len(one.columns) > 3 else []),
    ]
    rows = zip(*(out[name].to_pylist() for name in ("person", "report", "epoch")), strict=True)
    found = {person: (report, epoch) for person, report, epoch in rows}
    assert len(found) == len(out)
    return found, ledger


# What repeats, overlaps or is in another order (the rule itself: cli/test_ledger_command.py)


def test_columns_of_a_ledger_in_another_order():
    """DuckDB and Spark insert by place: figures would get into each other's column."""
    columns = "holder VARCHAR, key VARCHAR, report BIGINT, digest VARCHAR, epoch BIGINT"
    one, found = reporter(epoch=1), []
    with duckdb.connect() as engine:
        engine.execute(f"CREATE TABLE ledger ({columns})")
        for day in range(2):
            engine.register("candidates", one(records(np.arange(20), np.random.default_rng(day))))
            candidates, ledger = engine.table("candidates"), engine.table("ledger")
            one.entries(candidates, ledger).insert_into("ledger")
            found.append(sorted(one.reports(candidates, ledger).fetchall()))
    assert len(found[0]) == 20 and found[0] == found[1]


def test_what_is_done_twice_changes_nothing():
    """Entries computed, or appended, a second time; a job that ended before anything left."""
    rng = np.random.default_rng(5)
    one, table = reporter(max_reports=2), records(np.arange(50), rng)
    empty = one.schema().empty_table()
    first, ledger = run(one, table, empty)
    assert len(first) == 50
    changed = records(np.arange(50), rng)
    assert one(changed)["candidate"] != one(table)["candidate"]
    for again in (table, changed):
        for twice in (ledger, pa.concat_tables([ledger, ledger])):
            out, after = run(one, again, twice)
            assert out == first and len(after) == len(twice)
    later, after = run(reporter(1, max_reports=2), changed, pa.concat_tables([ledger, ledger]))
    assert len(later) == 50 and len(after) == 150
    assert run(reporter(1, max_reports=2, epoch=1), table, after) == (
        {person: (report, 0) for person, (report, _) in later.items()},
        after,
    )
    assert one.reports(one(table), empty).num_rows == 0  # nothing leaves that is not in the ledger
    assert run(one, table.slice(0, 0), ledger) == ({}, ledger)


def test_two_jobs_at_once_are_counted_as_two():
    """Both read the ledger before either wrote: both reports count, and one is repeated."""
    rng = np.random.default_rng(6)
    one, empty = reporter(max_reports=2), LedgerReporter.schema().empty_table()
    tables = [records(np.arange(50), rng) for _ in range(2)]
    new = [one.entries(one(table), empty) for table in tables]
    ledger = pa.concat_tables([empty, *new])
    differ = sum(a != b for a, b in zip(*(x["report"].to_pylist() for x in new), strict=True))
    assert differ > 10
    other = reporter(1, max_reports=2)
    assert len(other.entries(other(tables[0]), ledger)) == 50 - differ
    outs = [in_arrow(one.reports(one(table), ledger)).sort_by("person") for table in tables]
    assert outs[0] == outs[1]


# Keyed ids and reports, by the description alone


def test_holders_and_candidates_by_the_description():
    table = records(np.array([5, 2**40, -1]), np.random.default_rng(0))
    for epoch in (0, 1, 2**31 - 1):
        made = reporter(epoch=epoch)(table)
        derived = hmac.new(LEDGER_KEY, b"skrldp ledger, version 1\0", hashlib.sha256).digest()
        for row, record in zip(made.to_pylist(), table.to_pylist(), strict=True):
            person, cell = record["person"], 10 * (record["ill"] == "yes") + record["age"]
            assert row["holder"] == tape(0, person, derived, "00" * 32).hex()
            assert row["candidate"] == report_of_tape(DESIGNS[0], cell, person, KEY, epoch)
    plain = Reporter(DESIGNS[0], id="person", key=KEY)(table)
    assert plain["report"] == reporter()(table)["candidate"]


def test_the_ledger_holds_neither_ids_nor_keys(monkeypatch):
    table = records(np.arange(20), np.random.default_rng(0))
    table = table.set_column(0, "person", pa.array([f"person {i}" for i in range(20)]))
    one = reporter()
    _, ledger = run(one, table, one.schema().empty_table())
    text = str(ledger.to_pydict())
    assert "person" not in text and len(set(ledger["holder"].to_pylist())) == 20
    assert set(ledger["key"].to_pylist()) == {key_check(LEDGER_KEY)} == {one.ledger_key_check}
    monkeypatch.setenv("SKRLDP_A", KEY.hex())
    monkeypatch.setenv("SKRLDP_B", LEDGER_KEY.hex())
    sent = pickle.dumps(
        reporter(
            key=KeyVariable("SKRLDP_A"), ledger_key=KeyVariable("SKRLDP_B"), epoch=3, max_reports=2
        )
    )
    assert KEY not in sent and LEDGER_KEY not in sent and LEDGER_KEY.hex().encode() not in sent
    again = pickle.loads(sent)
    assert again(table) == reporter(epoch=3)(table)
    assert (again.max_reports, again.epoch, again.bound) == (2, 3, 4.75)
    monkeypatch.setenv("SKRLDP_B", KEY.hex())
    with pytest.raises(ValueError, match="does not match key_check="):
        pickle.loads(sent)(table)


def test_a_ledger_under_another_key_is_refused():
    """By default it is the key of the reports, which can be given when that one is changed."""
    rng = np.random.default_rng(0)
    table = records(np.arange(20), rng)
    first = reporter(ledger_key=None)
    found, ledger = run(first, table, first.schema().empty_table())
    rotated = reporter(ledger_key=None, key=OTHER_KEY)
    message = rf"made with a key other than .* {key_check(OTHER_KEY)}.* first key as ledger_key="
    for call in (rotated.entries, rotated.reports):
        with pytest.raises(ValueError, match=message):
            call(rotated(table), ledger)
    kept = reporter(key=OTHER_KEY, ledger_key=KEY)
    assert kept(table)["candidate"] != first(table)["candidate"]
    assert run(kept, records(np.arange(20), rng), ledger) == (found, ledger)


@pytest.mark.parametrize("labels", [range(119, 99, -1), [0] * 20])
def test_rows_of_pandas_are_found_by_place(labels):
    """By their labels, persons would have the reports of others."""
    one, empty = reporter(keep=["day"]), LedgerReporter.schema().empty_table().to_pandas()
    table = records(np.arange(20), np.random.default_rng(0)).to_pandas()
    made = one(table)
    expected = one.reports(made, one.entries(made, empty))
    made.index = labels
    new = one.entries(made, empty)
    assert one.reports(made, new).equals(expected) and len(one.entries(made, new)) == 0


# The bound


@pytest.mark.parametrize("seed", range(2))
def test_no_two_designs_leak_more_than_the_greatest_bound(seed):
    """Against the exact leakage of every pair of reports together, over all distributions."""
    rng = np.random.default_rng(seed)
    joint = JointDistribution([[7, 10], [26, 57]])
    matrices, bounds = [], []
    for _ in range(2):
        matrix = rng.dirichlet(np.full(3, 4.0), size=4).T
        made = Mechanism.from_matrix(matrix, ("no", "yes"), (1, 2))
        eps = certify(made.matrix, AllDistributions(), joint).eps
        stated = Claims((Claim(eps, 0.0, secret=("s",)),))
        made = replace(made.named(None, [("s", True), ("u", False)]), claims=stated)
        matrices.append(made.matrix)
        one = LedgerReporter(made, id="person", key=KEY, max_reports=2)
        bounds.append(one.bound)
    pair = np.einsum("yx,zx->yzx", *matrices).reshape(9, 4)
    assert certify(pair / pair.sum(axis=0), AllDistributions(), joint).eps <= max(bounds) + 1e-9


def test_as_many_reports_as_have_a_bound():
    assert reporter(max_reports=3, eps=8.75).bound == 8.75
    assert "at most 3 in a ledger, together eps<=8.75)" in repr(reporter(max_reports=3))
    unbounded = mechanism(eps_worst_case=None)
    options = {"id": "person", "key": KEY}
    assert LedgerReporter(unbounded, **options).bound == 0.75
    for made, more, message in (
        (
            unbounded,
            {"max_reports": 2},
            r"bounds one report .* but 2 .*eps_worst_case=.* max_reports=1",
        ),
        (replace(unbounded, claims=None), {}, "claims nothing"),
        (DESIGNS[0], {"max_reports": 3, "eps": 8.7}, "3 reports together leak at most 8.75 nats"),
    ):
        with pytest.raises(ValueError, match=message):
            LedgerReporter(made, **options, **more)


# Bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_reports": 0}, "max_reports=0 must be an integer"),
        ({"epoch": -1}, "epoch=-1 must be an integer"),
        ({"epoch": 1.5}, "epoch=1.5 must be an integer"),
        ({"eps": 0.0}, "eps"),
        ({"keep": ["holder"]}, "'holder' would occur twice"),
        ({"name": "epoch"}, "'epoch' would occur twice"),
        ({"ledger_key": None, "ledger_key_check": "0" * 16}, "requires ledger_key"),
        ({"ledger_key_check": "abc"}, "ledger_key_check must be the 16 hexadecimal digits"),
        ({"ledger_key": KeyVariable("SKRLDP_NONE")}, "pass ledger_key_check="),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        reporter(**options)


def holders(ledger, odd):
    """Change the first holder that can be."""
    texts = ledger["holder"].to_pylist()
    place = next(place for place, text in enumerate(texts) if odd(text) != text)
    return ledger.set_column(
        0, "holder", pa.array([*texts[:place], odd(texts[place]), *texts[place + 1 :]])
    )


def first_of(ledger, column, value):
    entries = pa.array([value, *ledger[column].to_pylist()[1:]], ledger[column].type)
    return ledger.set_column(ledger.column_names.index(column), column, entries)


def cast(ledger, column, dtype):
    frame = ledger.to_pandas().astype({column: dtype})
    return pa.Table.from_pandas(frame, preserve_index=False)


DAMAGED = {
    "another report": (lambda ledger: first_of(ledger, "report", 999), "outside 0 to 5"),
    "no report": (lambda ledger: first_of(ledger, "report", None), "rows without a report"),
    "no epoch": (lambda ledger: first_of(ledger, "epoch", None), "rows without a report, an epoch"),
    "no digest": (lambda ledger: first_of(ledger, "digest", None), "epoch .* or a digest"),
    "no key": (lambda ledger: first_of(ledger, "key", None), "a key other than ledger_key"),
    "booleans": (
        lambda ledger: cast(ledger, "report", bool),
        "'report' must contain integers",
    ),
    "epochs": (lambda ledger: cast(ledger, "epoch", bool), "column 'epoch' must contain integers"),
    "capitals": (lambda ledger: holders(ledger, str.upper), "32 lower-case hexadecimal digits"),
    "spaces": (
        lambda ledger: holders(ledger, lambda text: f"{text}  "),
        "32 lower-case hexadecimal digits",
    ),
    "nobody": (
        lambda ledger: holders(ledger, lambda text: None),
        "32 lower-case hexadecimal digits",
    ),
}


@pytest.mark.parametrize("library", ["pandas", "lazy", "duckdb"])
def test_damaged_ledgers_are_refused(library):
    """Reports would leave as others, and people would not be recognised."""
    one, table = reporter(), records(np.arange(20), np.random.default_rng(0))
    _, ledger = run(one, table, one.schema().empty_table())
    make = LIBRARIES[library]
    for case, (change, message) in DAMAGED.items():
        for call in (one.entries, one.reports):
            with pytest.raises(ValueError) as caught:
                call(make(one(table)), make(change(ledger)))
            assert re.search(message, str(caught.value)), case


def test_bad_tables():
    one, table = reporter(), records(np.arange(5), np.random.default_rng(0))
    empty, made = one.schema().empty_table(), one(table)
    twice = pa.concat_tables([made, made.slice(0, 1)])
    with pytest.raises(ValueError, match="ids in more than one row: 0"):
        one.entries(twice, empty)
    with pytest.raises(ValueError, match=r"candidates lacks the column 'candidate', 'holder'"):
        one.entries(Reporter(DESIGNS[0], id="person", key=KEY)(table), empty)
    with pytest.raises(ValueError, match="ledger lacks the column 'key'"):
        one.reports(made, empty.drop(["key"]))
    with pytest.raises(TypeError, match=r"frames of the same library.*got Table and DataFrame"):
        one.reports(made, pl.from_arrow(empty))


def test_the_number_of_reports_cannot_be_changed():
    one = reporter(max_reports=1)
    for name, value in (("max_reports", 50), ("bound", 0.0), ("epoch", 1)):
        with pytest.raises(AttributeError, match=f"{name} of a LedgerReporter cannot be changed"):
            setattr(one, name, value)
    assert "at most 1 in a ledger" in repr(one)
