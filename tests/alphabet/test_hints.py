"""Unknown texts that people take for known ones: what the messages say."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skrldp import GRRSanitizer, Manifest, batches, client

KNOWN = ["café", "Full", "part time", "other"]
WAYS = {
    "cafe\N{COMBINING ACUTE ACCENT}": r"how accents are encoded \(Unicode NFC\)",
    "full": "letter case",
    "FULL": "letter case",
    "Full\t": "outer spaces",
    "\N{NO-BREAK SPACE}part time": "outer spaces",
    "FULL ": None,
    "Fuel": None,
    7: None,
}


@pytest.mark.parametrize("value", WAYS)
def test_unknown_texts_are_hinted_at(value):
    """Alike by sanitizers, clients and reporters; what is not known is not shown."""
    public = pd.DataFrame([(s, u) for s in ("no", "yes") for u in KNOWN], columns=["s", "u"])
    sanitizer = GRRSanitizer(1.0, sensitive="s").fit(public)
    mechanism = sanitizer.mechanism_
    record = {"s": ["no"] * 2, "u": pd.Series(["Full", value], dtype=object)}
    table = pa.table({**record, "u": pa.array(["Full", str(value)]), "id": [1, 2]})
    reporters = [batches.Reporter(mechanism, id="id", key=bytes(range(32)))]
    other = public.rename(columns={"u": "w"})
    parts = [mechanism, GRRSanitizer(1.0, sensitive="s").fit(other).mechanism_]
    reporters.append(
        batches.BlockReporter(Manifest.of(parts, [0.5, 0.5]), id="id", key=bytes(range(32)))
    )
    calls = [
        lambda: sanitizer.transform(pd.DataFrame(record)),
        lambda: client.load(mechanism.to_json()).report(["no", value]),
        lambda: client.load(mechanism.to_json()).report_many(record),
        lambda: reporters[0](table),
        lambda: reporters[1](table.append_column("w", pa.array(KNOWN[:2]))),
        lambda: GRRSanitizer(1.0, sensitive="s", categories={"u": KNOWN}).fit(
            pd.concat([public, pd.DataFrame(record)])
        ),
        lambda: GRRSanitizer(1.0, sensitive="u", categories={"u": KNOWN}).fit(
            pd.concat([public, pd.DataFrame(record)])
        ),
    ]
    for number, call in enumerate(calls):
        with pytest.raises(ValueError, match="'u'") as caught:
            call()
        message = str(caught.value)
        if number != 5:  # the table is public there
            assert repr(value) not in message
        if WAYS[value] is None:
            assert "differs from" not in message
        else:
            hint = f"A value differs from a known one only in {WAYS[value]}; write it in the same"
            assert np.all(pd.Series([message]).str.contains(hint))
            assert "Map such" not in message and "List" not in message


def test_a_secret_as_unknown_value_is_hinted_at():
    public = pd.DataFrame({"s": ["Yes", "No"] * 2, "u": ["a", "a", "b", "b"]})
    sanitizer = GRRSanitizer(1.0, sensitive="s").fit(public)
    with pytest.raises(ValueError, match=r"column 's' .* only in letter case"):
        sanitizer.transform(public.assign(s=public["s"].str.lower()))
