"""Proofs in files: what design writes, and verify."""

import json

import pytest

from skrldp.cli import main

ROWS = "".join(
    f"{s},{u}\n" * n for s, u, n in (("a", "x", 30), ("a", "y", 9), ("b", "x", 8), ("b", "y", 40))
)


@pytest.fixture
def files(tmp_path, capsys):
    """A mechanism, its counts and its witness, as design writes them."""
    public = tmp_path / "public.csv"
    public.write_text("s,u\n" + ROWS)
    given = tmp_path / "categories.json"
    given.write_text(json.dumps({"s": ["a", "b"], "u": ["x", "y"]}))
    own, counts, witness = (tmp_path / f"{name}.json" for name in ("own", "counts", "witness"))
    options = [
        "-s",
        "s",
        "-e",
        "1",
        "-o",
        str(own),
        "--categories",
        str(given),
        "--sanitizer",
        "polyopt",
    ]
    files = ["--witness", str(witness), "--public-counts", str(counts)]
    assert main(["design", str(public), *options, *files]) == 0
    capsys.readouterr()
    return own, counts, witness


def checked(files, *options):
    own, counts, witness = map(str, files)
    return main(["verify", own, "--counts", counts, "--witness", witness, *options])


def test_what_design_writes_is_verified(files, capsys):
    assert checked(files, "--radius") == 0
    said = capsys.readouterr().out
    assert said.startswith("holds\none report: eps <= ")
    assert "is as large as the rule 'finite-sample' makes it" in said


def test_a_changed_mechanism_or_smaller_radius_is_not(files, capsys):
    own, counts, witness = files
    assert checked(files, "--eps", "0.5") == 1
    assert capsys.readouterr().out.startswith("not shown: one report: report ")
    claim = json.loads(own.read_text())
    claim["guarantee"]["distributions"]["single"] *= 0.9
    claim["guarantee"]["distributions"]["pair"] *= 0.9
    own.write_text(json.dumps(claim))
    assert checked(files) == 1
    assert "another mechanism" in capsys.readouterr().out
    from skrldp import JointDistribution, Mechanism
    from skrldp.certificate._witness import witness_of

    mechanism = Mechanism.from_json(own.read_text())
    own.write_text(mechanism.to_json())
    joint = JointDistribution(json.loads(counts.read_text())["counts"], "ab", "xy")
    witness.write_text(witness_of(mechanism, joint))
    assert checked(files) == 0
    assert checked(files, "--radius") == 1
    assert "NOT as large" in capsys.readouterr().out
    assert main(["verify", "missing.json", "--counts", str(counts), "--witness", str(witness)]) == 2
