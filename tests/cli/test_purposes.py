"""What reports are for: figures of a column that matters, or records whose values are read."""

import json

import command_fixtures
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from command_files import KEYED, write
from conftest import few_iterations

from skrldp import AOptimalSanitizer
from skrldp.targets import Marginal

call, designed = command_fixtures.call, command_fixtures.designed
folder, ready = command_fixtures.folder, command_fixtures.ready

ASKED = ("design", "public.parquet", "-s", "ill", "-e", "1", "--force", "-o", "m.json")


@pytest.fixture
def public(folder):
    """A public table with four values of U, in the folder; private records have a person, too."""
    n = 400
    records = pa.table(
        {
            "ill": [("no", "yes")[row % 3 == 0] for row in range(n)],
            "visits": [row % 2 for row in range(n)],
            "zip": [("01", "02")[row % 4 < 2] for row in range(n)],
        }
    )
    write(records, folder / "public.parquet")
    write(records.append_column("person", pa.array(range(n))), folder / "private.arrow")
    return records


def test_the_column_whose_shares_matter(call, folder, public):
    assert call(*ASKED, "--target", "zip")[0] == 0
    own = AOptimalSanitizer(eps=1.0, sensitive="ill", targets=[Marginal("zip")]).fit(public)
    assert (folder / "m.json").read_text() == own.mechanism_.to_json()
    assert {name for name, _ in own.targets_} == {("zip",)}


def test_a_target_is_a_column_of_figures(call, public):
    code, _, err = call(*ASKED, "--target", "street")
    assert code == 2 and "lacks the column 'street' (--target)" in err
    code, _, err = call(*ASKED, "--target", "zip", "--for", "records")
    assert code == 2 and "--target does not go with --sanitizer robust-mse" in err


@pytest.mark.parametrize("keyed", [False, True])
def test_reports_for_readers_have_values(call, ready, public, keyed):
    """Beside the number, which estimates read, for records one by one; in their order."""
    assert call(*ASKED, "--for", "records")[0] == 0
    symbols = json.loads((ready / "m.json").read_text())["symbols"]
    options = KEYED if keyed else ()
    assert call("report", "m.json", "private.arrow", "--values", "-o", "out.csv", *options)[0] == 0
    found = pacsv.read_csv(
        "out.csv", convert_options=pacsv.ConvertOptions(column_types={"zip": pa.string()})
    ).to_pydict()
    own = ["report", "visits", "zip"]
    assert list(found) == (["person", *own] if keyed else own)
    read = list(zip(found["visits"], found["zip"], strict=True))
    assert read == [tuple(symbols[number]) for number in found["report"]]
    assert len(set(read)) > 1
    assert call("estimate", "m.json", "out.csv", "--of", "zip")[0] == 0


def test_cells_are_read_too(call, ready):
    """Those of a mechanism that reports whole records, the secret among them."""
    assert call("report", "mechanism.json", "records.csv", "--values", "-o", "out.parquet")[0] == 0
    found = pa.parquet.read_table("out.parquet")
    assert found.column_names == ["report", "ill", "visits", "zip", "day"]
    assert found["day"].type == pa.date32() and set(found["zip"].to_pylist()) == {"01", "02"}


def test_numbers_stand_for_no_values(call, ready, public):
    with few_iterations():
        assert call(*ASKED, "--for", "information")[0] == 0
    code, out, err = call("report", "m.json", "private.arrow", "--values")
    assert (code, out) == (2, "") and "numbers that stand for no values" in err


def test_values_take_no_name_that_is_taken(call, ready, public):
    write(public.rename_columns(["ill", "visits", "report"]), ready / "public.parquet")
    assert call(*ASKED, "--for", "records")[0] == 0
    code, out, err = call("report", "m.json", "public.parquet", "--values")
    assert (code, out) == (2, "") and "there is a column 'report' already" in err
