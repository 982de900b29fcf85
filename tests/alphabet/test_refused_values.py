"""Values that may be others are refused alike on every road, and no message shows them.

Floats of 2^53 or more may be integers that were rounded; a string may differ from a known one in
letter case alone.
"""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrldp import FrequencyEstimator, GRRSanitizer, batches, client

LARGE = [2**53 - 1, 2**53, 2**53 + 1, -(2**60) - 1]
KEY = bytes(range(32))


def of_integers(values=LARGE, **options):
    """A sanitizer of integers, whose column of integers may have missing values."""
    u = pd.array([*values, None] * 2, dtype="Int64")
    public = pd.DataFrame({"s": np.repeat(["no", "yes"], len(u) // 2), "u": u})
    return GRRSanitizer(1.0, sensitive="s", random_state=0, **options).fit(public)


FLOATS = {
    "object": lambda u: pd.DataFrame({"s": "no", "u": pd.Series(u, dtype=object)}),
    "polars": lambda u: pl.DataFrame({"s": ["no"] * len(u), "u": u}),
    "dictionary": lambda u: pa.table({"s": ["no"] * len(u), "u": pa.array(u).dictionary_encode()}),
}


@pytest.mark.parametrize("kind", FLOATS)
def test_floats_that_may_be_rounded_integers_are_refused_on_every_road(kind):
    """Not as "other" either."""
    table, words = (
        FLOATS[kind]([2.0**53 - 1, 2.0**53]),
        r"column '?[u1]'? contains floats of 2\^53 or ",
    )
    for handle_unknown in ("error", "infrequent_if_exist"):
        sanitizer = of_integers(handle_unknown=handle_unknown)
        device = client.load(sanitizer.mechanism_.to_json())
        reporter = batches.Reporter(sanitizer.mechanism_, id="id", key=KEY)
        for road in (
            lambda device=device: device.report_many(table),
            lambda device=device: device.report({"s": "no", "u": 2.0**53}),
            lambda device=device: device.report(("no", np.float64(2.0**53))),
            lambda reporter=reporter: reporter(nw.from_native(table).with_row_index("id")),
        ):
            with pytest.raises(
                ValueError, match=f"{words}.*integers, for example Int64.*Nothing was reported"
            ):
                road()
        for road in (sanitizer.transform, FrequencyEstimator(sanitizer).fit):
            with pytest.raises(ValueError, match=words):
                road(table)
    of_integers().transform(FLOATS[kind]([2.0**53 - 1, 2.0**53 - 1]))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_narrow_floats_are_rounded_from_smaller_numbers_on(dtype):
    digits = np.finfo(dtype).nmant + 1
    sanitizer = of_integers([2**digits - 1, 2**digits + 1, 7])
    below, above = (np.array([number, 7], dtype=dtype) for number in (2**digits - 1, 2**digits))
    words = rf"column 'u' contains floats of 2\^{digits} or more"
    device = client.load(sanitizer.mechanism_.to_json())
    assert len(device.report_many({"s": ["no", "no"], "u": below})) == 2
    with pytest.raises(ValueError, match=words):
        device.report_many({"s": ["no", "no"], "u": above})


KNOWN = ["café", "Full", "part time", "other"]
HINTS = {
    "cafe\N{COMBINING ACUTE ACCENT}": r"how accents are encoded \(Unicode NFC\)",
    "FULL": "letter case",
    "\N{NO-BREAK SPACE}part time": "outer spaces",
    "FULL ": None,
    7: None,
}


@pytest.fixture(scope="module")
def roads():
    """Calls that report a value of the column u; the public table may show it to the last two."""
    public = pd.DataFrame([(s, u) for s in ("no", "yes") for u in KNOWN], columns=["s", "u"])
    sanitizer = GRRSanitizer(1.0, sensitive="s").fit(public)
    mechanism = sanitizer.mechanism_
    device = client.load(mechanism.to_json())
    reporter = batches.Reporter(mechanism, id="id", key=KEY)

    def record(value):
        return {"s": ["no"] * 2, "u": pd.Series(["Full", value], dtype=object)}

    def table(value):
        return pa.table({"s": ["no"] * 2, "u": ["Full", str(value)], "id": [1, 2]})

    def listed(value, secret):
        both = pd.concat([public, pd.DataFrame(record(value))])
        return GRRSanitizer(1.0, sensitive=secret, categories={"u": KNOWN}).fit(both)

    return [
        lambda value: sanitizer.transform(pd.DataFrame(record(value))),
        lambda value: device.report(["no", value]),
        lambda value: device.report_many(record(value)),
        lambda value: reporter(table(value)),
        lambda value: listed(value, "u"),
        lambda value: listed(value, "s"),
    ]


@pytest.mark.parametrize("value", HINTS)
def test_unknown_strings_that_look_like_known_ones_are_hinted_at(roads, value):
    """Alike on every road; an unknown value is not shown, unless it is public."""
    for road in roads:
        with pytest.raises(ValueError, match="'u'") as caught:
            road(value)
        message = str(caught.value)
        assert road is roads[-1] or repr(value) not in message
        if HINTS[value] is None:
            assert "differs from" not in message
        else:
            assert caught.match(f"differs from a known one only in {HINTS[value]}: use the known")
            assert "Map such" not in message and "List" not in message
