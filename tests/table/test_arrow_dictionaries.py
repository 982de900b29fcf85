"""Arrow's dictionaries mean what their values mean, whichever values each chunk has."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from skrldp import FrequencyEstimator, GRRSanitizer, batches

ROWS = 86  # of a chunk, all with values of their own: three chunks need codes of 16 bits
KEY = bytes(range(32))

pytestmark = pytest.mark.filterwarnings("ignore:column 'u' looks like an identifier")


def chunk_of(name, codes, hole=False):
    """A chunk with values of its own; a missing one among them, or none."""
    values = [None if hole and not row else f"{name} {row}" for row in range(ROWS)]
    return pa.DictionaryArray.from_arrays(pa.array(range(ROWS), codes), pa.array(values))


def several(codes):
    return [chunk_of(name, codes) for name in "abc"]


def with_holes(codes):
    return [chunk_of(name, codes, hole=True) for name in "abc"]


def of_dictionaries(codes):
    own = pa.array(range(ROWS), codes)
    return [pa.DictionaryArray.from_arrays(own, chunk) for chunk in several(codes)]


CASES = [
    *((several, "int8"), (several, "uint64"), (with_holes, "int8")),
    (of_dictionaries, "int8"),
]


def tables(kind, width):
    """A table with chunks of dictionaries, and the same without."""
    chunks = kind(getattr(pa, width)())
    plain = pa.array([value for chunk in chunks for value in chunk.to_pylist()], pa.string())
    n = len(plain)
    own = {"person": np.arange(n), "s": np.array(["no", "yes"])[np.arange(n) % 2]}
    return pa.table({**own, "u": pa.chunked_array(chunks)}), pa.table({**own, "u": plain})


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "width"), CASES)
def test_chunks_with_dictionaries_of_their_own(kind, width):
    """Fits, transforms, reports and estimates are those of the plain table."""
    coded, plain = tables(kind, width)
    fitted = [
        GRRSanitizer(1.0, sensitive="s", random_state=0).fit(table.drop_columns(["person"]))
        for table in (coded, plain)
    ]
    assert fitted[0].mechanism_.digest == fitted[1].mechanism_.digest
    expected = fitted[1].transform(plain.select(["s", "u"])).to_pylist()
    assert fitted[1].transform(coded.select(["s", "u"])).to_pylist() == expected
    reporter = batches.Reporter(fitted[1].mechanism_, id="person", key=KEY)
    assert reporter(coded).equals(reporter(plain))
    counts = FrequencyEstimator(fitted[1]).fit(coded.select(["s", "u"])).counts_
    rows = Counter(zip(plain["s"].to_pylist(), plain["u"].to_pylist(), strict=True))
    assert counts.tolist() == [rows[symbol] for symbol in fitted[1].mechanism_.symbols]


def test_dictionaries_of_ids_and_kept_columns():
    """They leave as plain columns, in pandas too."""
    coded, plain = tables(several, "int8")
    mechanism = GRRSanitizer(1.0, sensitive="s").fit(plain.select(["s", "u"])).mechanism_
    coded = coded.drop_columns(["person"])
    coded = coded.append_column("name", coded["u"]).append_column("more", coded["u"])
    reporter = batches.Reporter(mechanism, id="name", key=KEY, keep=["more"])
    found = reporter(coded)
    assert found["name"].to_pylist() == found["more"].to_pylist() == plain["u"].to_pylist()
    batches.check_ids(coded, "name")


def test_dictionaries_within_structs_are_refused():
    """Arrow cannot join such chunks, and in a fixed-size list it took the values of other rows."""
    coded, plain = tables(several, "int8")
    mechanism = GRRSanitizer(1.0, sensitive="s").fit(plain.select(["s", "u"])).mechanism_
    chunks = coded["u"].chunks
    structs = [pa.StructArray.from_arrays([chunk], ["x"]) for chunk in chunks]
    lists = [pa.FixedSizeListArray.from_arrays(struct, 1) for struct in structs]
    reporter = batches.Reporter(mechanism, id="person", key=KEY, keep=["more"])
    for more in (structs, lists):
        table = plain.append_column("more", pa.chunked_array(more))
        with pytest.raises(ValueError, match=r"column 'more' .*decode the dictionaries"):
            reporter(table)
