"""Messages end up in logs: they hold no values of sensitive columns, and nobody's name.

A marker stands in every place where a private value can; no message, and no cause of it, may show
it. The markers are of every type whose text a library may quote.
"""

import datetime as dt
import decimal
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    PolyOptSanitizer,
    RenyiBall,
    audit,
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
    "negative": -int(MARK),
    "float": float(MARK),
    "fraction": 7391846.5,
    "huge": int(MARK * 60),
    "decimal": decimal.Decimal(MARK),
    "signalling": decimal.Decimal(f"sNaN{MARK}"),
    "complex": complex(int(MARK), 1),
    "list": [MARK],
    "dict": {MARK: MARK},
    "tuple": (MARK, 1),
    "array": np.array([int(MARK)]),
    "date": dt.date(7391, 8, 4),
    "year": np.datetime64(f"{MARK}-01-01"),
    "day": np.datetime64(int(MARK * 2), "D"),
    "years": np.timedelta64(int(MARK * 2), "Y"),
    "timestamp": pd.Timestamp(int(MARK), unit="ns"),
    "period": pd.Period(MARK[:4]),
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
    blind = PolyOptSanitizer(
        sensitive="s", observe="nonsensitive", handle_unknown="impute", uncertainty=RenyiBall()
    )
    found = {
        "frame": GRRSanitizer(sensitive="s").fit(FRAME),
        "array": GRRSanitizer().fit(FRAME.to_numpy(dtype=object)),
        "numbers": GRRSanitizer().fit(RECORDS),
        "impute": GRRSanitizer(sensitive="s", handle_unknown="impute").fit(FRAME),
        "symbol": GRRSanitizer(sensitive="s", encode="symbol").fit(FRAME),
        "blind": blind.fit(FRAME),
        "two": GRRSanitizer(sensitive=["s", "t"]).fit(FRAME.assign(t=FRAME["s"])),
    }
    device = client.load(found["frame"].mechanism_.to_json())
    key = client.load(found["frame"].mechanism_.to_json(), memoize=bytes(32))
    return {**found, "client": device, "permanent": key}


def column(value, n=3, zero="0"):
    series = np.empty(n, dtype=object)
    series[:] = zero
    series[1] = value
    return series


def frame(value):
    """A frame whose column of secrets holds the marker, in the dtype that pandas finds for it."""
    try:
        secrets = pd.Series([value, value, value])
    except Exception:  # no column of a frame can hold it by itself
        secrets = pd.Series(column(value))
    return pd.DataFrame({"s": secrets, "u": "0"})


def objects(value):
    return np.stack([column(value), column("0")], axis=1)


USES = {
    "transform": lambda f, v: f["frame"].transform(frame(v)),
    "transform objects": lambda f, v: f["frame"].transform(objects(v)),
    "transform rows": lambda f, v: f["array"].transform([["0", "0"], [v, "0"]]),
    "transform numbers": lambda f, v: f["numbers"].transform(objects(v)),
    "transform, imputing": lambda f, v: f["impute"].transform(frame(v)),
    "transform, two columns": lambda f, v: f["two"].transform(frame(v).assign(t="1")),
    "transform, other columns": lambda f, v: f["frame"].transform(frame(v)[["s"]]),
    "score": lambda f, v: f["frame"].score(frame(v)),
    "score, blind": lambda f, v: f["blind"].score(frame(v)),
    "fit": lambda f, v: GRRSanitizer(categories={"s": ["0", "1"]}, sensitive="s").fit(frame(v)),
    "fit objects": lambda f, v: GRRSanitizer(categories=[["0", "1"], "auto"]).fit(objects(v)),
    "decode": lambda f, v: f["symbol"].decode(column(v, zero=0)),
    "sample": lambda f, v: f["frame"].mechanism_.sample(column(v)),
    "sample one": lambda f, v: f["frame"].mechanism_.sample([v]),
    "client": lambda f, v: f["client"].report({"s": v, "u": "0"}),
    "client, tuple": lambda f, v: f["client"].report((v, "0")),
    "client, other columns": lambda f, v: f["client"].report((v, "0", v)),
    "client, a value": lambda f, v: f["client"].report(v),
    "client, rows": lambda f, v: f["client"].report_many([("0", "0"), (v, "0")]),
    "client, array": lambda f, v: f["client"].report_many(objects(v)),
    "client, frame": lambda f, v: f["client"].report_many(frame(v)),
    "client, columns": lambda f, v: f["client"].report_many({"s": [v], "u": ["0"]}),
    "client, id": lambda f, v: f["permanent"].report(("0", "0"), id=v) if ident(v) else None,
    "client, ids": lambda f, v: f["permanent"].report_many([("0", "0")], ids=MARK),
    "estimator": lambda f, v: FrequencyEstimator(f["frame"]).fit(frame(v)),
    "estimator, objects": lambda f, v: FrequencyEstimator(f["array"]).fit(objects(v)),
    "estimator, symbols": lambda f, v: FrequencyEstimator(f["symbol"]).fit(column(v, zero=0)),
    "estimator, one-hot": lambda f, v: FrequencyEstimator(f["numbers"], encode="onehot").fit(
        np.stack([column(v, zero=0)] * 4, axis=1)
    ),
    "estimator, score": lambda f, v: (
        FrequencyEstimator(f["symbol"]).fit([0]).score(column(v, zero=0))
    ),
    "audit": lambda f, v: audit(
        lambda records: column(v, len(records)), n=300, distribution=JOINT, eps=1.0
    ),
}


def ident(value):
    """Whether it is no id, so that a message tells."""
    return not isinstance(value, bytes | int) and value is not MARK


def told(error):
    return str(error) + "".join(traceback.format_exception(type(error), error, None))


@pytest.mark.parametrize("use", USES)
def test_no_message_shows_a_secret(fitted, use):
    refused = []
    for name, value in MARKERS.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                USES[use](fitted, value)
            except Exception as error:
                refused.append(name)
                text = " ".join([told(error), *(str(w.message) for w in caught)])
                assert not any(mark in text for mark in SHOWN), (name, text)
            else:
                text = " ".join(str(w.message) for w in caught)
                assert not any(mark in text for mark in SHOWN), (name, text)
    if use not in ("audit", "client, id", "client, ids", "score, blind"):
        assert len(refused) >= len(MARKERS) - 2, set(MARKERS) - set(refused)
