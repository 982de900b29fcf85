"""Messages end up in logs: they hold nothing of a private record, and nobody's name.

A value of U tells about the secret, and nothing bounds how much; so messages show as little of U as
of S, whatever the mechanism. A marker stands in every place where a private value can; no message,
and no cause of it, may show it. The markers are of every type whose text a library may quote.
"""

import datetime as dt
import decimal
import traceback
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrldp import (
    AOptimalSanitizer,
    BlockSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    PolyOptSanitizer,
    RenyiBall,
    audit,
    batches,
    client,
)

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = pytest.mark.filterwarnings("ignore:the values of U were learned")

MARK = "7391846"


class Odd:
    """A value that cannot be a category; whatever is done with it quotes it."""

    __hash__ = None

    def __repr__(self):
        return MARK

    def __eq__(self, other):
        raise TypeError(f"{MARK} is equal to nothing")


class Worse(Odd):
    def __hash__(self):
        raise ValueError(f"{MARK} has no hash")


MARKERS = {
    "text": MARK,
    "bytes": MARK.encode(),
    "int": int(MARK),
    "float": float(MARK),
    "huge": int(MARK * 60),
    "decimal": decimal.Decimal(MARK),
    "signalling": decimal.Decimal(f"sNaN{MARK}"),
    "complex": complex(int(MARK), 1),
    "list": [MARK],
    "tuple": (MARK, 1),
    "date": dt.date(7391, 8, 4),
    "year": np.datetime64(f"{MARK}-01-01"),
    "day": np.datetime64(int(MARK * 2), "D"),
    "years": np.timedelta64(int(MARK * 2), "Y"),
    "timestamp": pd.Timestamp(int(MARK), unit="ns"),
    "surrogate": f"{MARK}\ud800",
    "odd": Odd(),
    "worse": Worse(),
}
SHOWN = (MARK, "7391-08-04", "7391, 8, 4", "007391846", "7.391846e", "7391846")
RECORDS = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [30, 20, 10, 60], axis=0)
FRAME = pd.DataFrame({"s": RECORDS[:, 0].astype(str), "u": RECORDS[:, 1].astype(str)})
JOINT = JointDistribution([[30, 20], [10, 60]], ["0", "1"], ["0", "1"])


@pytest.fixture(scope="module")
def fitted():
    blind = PolyOptSanitizer(sensitive="s", observe="nonsensitive", uncertainty=RenyiBall())
    found = {
        "frame": GRRSanitizer(sensitive="s").fit(FRAME),
        "numbers": GRRSanitizer(sensitive=0).fit(RECORDS),
        "symbol": GRRSanitizer(sensitive="s", encode="symbol").fit(FRAME),
        "blind": blind.fit(FRAME),
        "two": GRRSanitizer(sensitive=["s", "t"]).fit(FRAME.assign(t=FRAME["s"])),
        "pairs": GRRSanitizer(sensitive="s").fit(FRAME.assign(w=FRAME["u"])),
        "known": AOptimalSanitizer(sensitive="s", observer_columns="u").fit(FRAME),
    }
    device = client.load(found["frame"].mechanism_.to_json())
    key = client.load(found["frame"].mechanism_.to_json(), permanent_key=bytes(range(32)))
    reporter = batches.Reporter(found["frame"].mechanism_, id="id", key=bytes(range(32)))
    return {**found, "reporter": reporter, "client": device, "permanent": key}


def column(value, n=3, zero="0"):
    series = np.empty(n, dtype=object)
    series[:] = zero
    series[1] = value
    return series


def row(value, part):
    return (value, "0") if part == "s" else ("0", value)


def frame(value, part):
    """A frame whose column holds the marker, in the dtype that pandas finds for it."""
    try:
        marked = pd.Series([value, value, value])
    except Exception:  # no column of a frame can hold it by itself
        marked = pd.Series(column(value))
    return pd.DataFrame({"s": "0", "u": "0"} | {part: marked}, index=range(3))[["s", "u"]]


def objects(value, part):
    columns = [column("0"), column("0")]
    columns["su".index(part)] = column(value)
    return np.stack(columns, axis=1)


def batch(value, part):
    """A batch of Arrow; None where Arrow holds no such values."""
    try:
        return pa.RecordBatch.from_pandas(frame(value, part).assign(id=range(3)))
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return None


def reported(reporter, found):
    if found is None:
        raise ValueError("Arrow holds no such values")
    return list(reporter([found]))


USES = {
    "transform": lambda f, v, p: f["frame"].transform(frame(v, p)),
    "transform objects": lambda f, v, p: f["frame"].transform(objects(v, p)),
    "transform numbers": lambda f, v, p: f["numbers"].transform(objects(v, p)),
    "transform, two columns": lambda f, v, p: f["two"].transform(frame(v, p).assign(t="1")),
    "transform, combinations": lambda f, v, p: f["pairs"].transform(frame(v, p).assign(w="2")),
    "transform, blind": lambda f, v, p: f["blind"].transform(frame(v, p)),
    "transform, known": lambda f, v, p: f["known"].transform(frame(v, p)),
    "score": lambda f, v, p: f["frame"].score(frame(v, p)),
    "decode": lambda f, v, p: f["symbol"].decode(column(v, zero=0)),
    "client": lambda f, v, p: f["client"].report(dict(zip("su", row(v, p), strict=True))),
    "client, rows": lambda f, v, p: f["client"].report_many([("0", "0"), row(v, p)]),
    "client, array": lambda f, v, p: f["client"].report_many(objects(v, p)),
    "client, frame": lambda f, v, p: f["client"].report_many(frame(v, p)),
    "client, id": lambda f, v, p: f["permanent"].report(("0", "0"), id=v) if ident(v) else None,
    "batches": lambda f, v, p: reported(f["reporter"], batch(v, p)),
    "estimator": lambda f, v, p: FrequencyEstimator(f["frame"]).fit(frame(v, p)),
    "estimator, one-hot": lambda f, v, p: FrequencyEstimator(f["numbers"], encode="onehot").fit(
        np.stack([column(v, zero=0)] * 4, axis=1)
    ),
    "audit": lambda f, v, p: audit(
        lambda records: column(v, len(records)), n=300, distribution=JOINT, eps=1.0
    ),
}
# The table of `fit` is public; of its secrets nothing is shown either.
OF_SECRETS = {
    "fit": lambda f, v, p: GRRSanitizer(categories={"s": ["0", "1"]}, sensitive="s").fit(
        frame(v, p)
    ),
    "fit objects": lambda f, v, p: GRRSanitizer(categories=[["0", "1"], "auto"], sensitive=0).fit(
        objects(v, p)
    ),
}
# Unknown values of U are drawn, there is no value of U, or a column of records is no report.
QUIET = (
    "audit",
    "client, id",
    "transform, blind",
)
PLACES = [(use, "s") for use in [*USES, *OF_SECRETS]] + [(use, "u") for use in USES]


def ident(value):
    """Whether it is no id, so that a message tells."""
    return not isinstance(value, bytes | int) and value is not MARK


def told(error):
    return str(error) + "".join(traceback.format_exception(type(error), error, None))


@pytest.mark.slow
@pytest.mark.parametrize(("use", "part"), PLACES)
def test_no_message_shows_a_record(fitted, use, part):
    refused, uses = [], {**USES, **OF_SECRETS}
    for name, value in MARKERS.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                uses[use](fitted, value, part)
            except Exception as error:
                refused.append(name)
                text = " ".join([told(error), *(str(w.message) for w in caught)])
                assert not any(mark in text for mark in SHOWN), (name, text)
            else:
                text = " ".join(str(w.message) for w in caught)
                assert not any(mark in text for mark in SHOWN), (name, text)
    if use not in QUIET:
        assert len(refused) >= len(MARKERS) - 2, set(MARKERS) - set(refused)


@pytest.mark.parametrize("blocks", [False, True])
def test_an_index_that_is_reported_does_not_leave(blocks):
    """The output has the index of the records: secrets beside their reports, if they are in it."""
    records = pd.DataFrame({"ill": ["no", "no", "yes", "yes"], "job": ["a", "b", "a", "b"]})
    sanitizer = GRRSanitizer(eps=1.0, sensitive="ill")
    if blocks:
        sanitizer = BlockSanitizer(eps=1.0, sensitive="ill", base=GRRSanitizer())
    sanitizer.fit(records)
    for index in (["ill"], ["job"], ["ill", "job"]):
        with pytest.raises(ValueError, match=f"index contains '{index[0]}'"):
            sanitizer.transform(records.set_index(index, drop=False))
    if not blocks:  # fitted on an array, columns have no names
        unnamed = GRRSanitizer(eps=1.0, sensitive=0).fit(records.to_numpy())
        with pytest.raises(ValueError, match="index contains 'ill'"):
            unnamed.transform(records.set_index("ill", drop=False))
    other = records.set_index(pd.Index([4, 3, 2, 1], name="person"))
    assert sanitizer.transform(other).index.equals(other.index)
    levels = pd.MultiIndex.from_arrays([list("wxyz"), [1, 2, 3, 4]], names=["person", "wave"])
    for encode in [{}] if blocks else [{}, {"encode": "cells"}]:  # without levels of other rows
        found = sanitizer.set_params(**encode).transform(records.set_index(levels).iloc[[0, 3]])
        assert found.index.equals(levels[[0, 3]]) and list(found.index.levels[0]) == ["w", "z"]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    "kind", ["ordered", "declared in another order", "pl.Enum", "width of texts"]
)
def test_columns_of_another_library_leave_without_their_levels(kind):
    """These may be those that the records have, in the order in which they have them."""
    levels = ["y", "SECRET"] if kind == "declared in another order" else ["SECRET", "y"]
    own = pd.CategoricalDtype(levels, ordered="ord" in kind)
    public = pa.table({"s": ["a", "b"] * 30, "u": list("xyz") * 20})
    records = pd.DataFrame({"s": ["a"], "u": pd.Series(["y"], dtype=own)})
    if kind == "pl.Enum":
        dtypes = {"s": pl.Enum(["a"]), "u": pl.Enum(levels)}
        records = pl.DataFrame({"s": ["a"], "u": ["y"]}, schema_overrides=dtypes)
    elif kind == "width of texts":
        records = np.array([["a", "y"]], dtype="U6")
    found = GRRSanitizer(sensitive=0).fit(public).transform(records)
    if kind == "pl.Enum":
        assert found.schema == {"s": pl.Enum(["a", "b"]), "u": pl.Enum(["x", "y", "z"])}
    elif kind == "width of texts":
        assert found.dtype == np.dtype("U1")
    else:
        assert found["u"].dtype == pd.CategoricalDtype(["x", "y", "z"], own.ordered)
