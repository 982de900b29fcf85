"""Proofs in files: what design writes, and verify."""

import io
import json
import shutil
from pathlib import Path

import pytest

from skrldp import JointDistribution, Mechanism
from skrldp.certificate._witness import witness_of
from skrldp.cli import main

ROWS = "".join(
    f"{s},{u}\n" * n for s, u, n in (("a", "x", 30), ("a", "y", 9), ("b", "x", 8), ("b", "y", 40))
)


def designed(folder, *options):
    """A mechanism, its counts and its witness, as design writes them."""
    public, given = folder / "public.csv", folder / "categories.json"
    public.write_text("s,u\n" + ROWS)
    given.write_text(json.dumps({"s": ["a", "b"], "u": ["x", "y"]}))
    own, counts, witness = (folder / f"{name}.json" for name in ("own", "counts", "witness"))
    common = ["-s", "s", "-e", "1", "-o", str(own), "--categories", str(given), *options]
    files = ["--witness", str(witness), "--public-counts", str(counts)]
    assert main(["design", str(public), *common, "--sanitizer", "polyopt", *files]) == 0
    return own, counts, witness


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return designed(tmp_path_factory.mktemp("kept"))


@pytest.fixture
def files(kept, tmp_path, capsys):
    capsys.readouterr()
    shutil.copytree(kept[0].parent, tmp_path, dirs_exist_ok=True)
    return tuple(tmp_path / file.name for file in kept)


def checked(files, *options):
    own, counts, witness = map(str, files)
    return main(["verify", own, "--counts", counts, "--witness", witness, *options])


def test_what_design_writes_is_verified(files, capsys):
    assert checked(files, "--radius") == 0
    said = capsys.readouterr().out
    assert said.startswith("holds\none report: eps <= ")
    assert "radius of 's': single=" in said
    assert "is as large as the rule 'finite-sample' makes it" in said
    assert "misses the true conditionals with probability at most 0.05" in said
    assert said.strip().endswith(Mechanism.from_json(files[0].read_text()).digest)


def test_a_radius_made_again_says_where_beta_is_not_to_be_relied_on(tmp_path, capsys):
    public = tmp_path / "public.csv"
    public.write_text("s,u\n" + ROWS + "a,rare\n")
    own, counts, witness = files = [tmp_path / name for name in ("own", "counts", "proof")]
    more = ["--witness", str(witness), "--public-counts", str(counts), "--sanitizer", "ir"]
    assert main(["design", str(public), "-s", "s", "-e", "1", "-o", str(own), *more]) == 0
    capsys.readouterr()
    assert checked(files, "--radius") == 0
    assert "and then the set may miss far more often" in capsys.readouterr().out


def test_a_mechanism_comes_from_standard_input_too(files, capsys, monkeypatch):
    text = files[0].read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert checked(("-", *files[1:]), "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["holds"] and said["message"] == "holds"


def test_certify_writes_the_same_proof_and_that_of_several_reports(files, capsys):
    own, counts, witness = files
    folder = own.parent
    again = [str(folder / "again.json"), str(folder / "again_counts.json")]
    public = [str(own), str(folder / "public.csv")]
    options = ["--witness", again[0], "--public-counts", again[1]]
    assert main(["certify", *public, *options]) == 0
    assert Path(again[0]).read_text() == witness.read_text()
    assert Path(again[1]).read_text() == counts.read_text()
    two = str(folder / "two.json")
    capsys.readouterr()
    assert main(["certify", *public, "-k", "2", "--witness", two, "--json"]) == 0
    eps = json.loads(capsys.readouterr().out)["proofs"][0]["eps"]
    assert checked((own, counts, two), "-k", "2", "--eps", repr(eps)) == 0
    assert checked((own, counts, two), "-k", "2", "--eps", repr(0.9 * eps)) == 1
    assert checked((own, counts, two)) == 1
    assert "does not fit the reports" in capsys.readouterr().out
    assert main(["certify", *public, "--eps", "0.1", "--witness", str(folder / "no.json")]) == 1
    assert not (folder / "no.json").exists()
    for words, more in (
        ("leave out --uncertainty", ["--beta", "0.1"]),
        ("different names", ["--public-counts", str(folder / "new.json")]),
        ("smaller --reports", ["-k", "4000"]),
    ):
        assert main(["certify", *public, *more, "--witness", str(folder / "new.json")]) == 2
        assert words in capsys.readouterr().err
    assert not (folder / "new.json").exists()


def test_a_changed_mechanism_or_smaller_radius_is_not(files, capsys):
    own, counts, witness = files
    assert checked(files, "--eps", "0.5") == 1
    assert capsys.readouterr().out.startswith("not shown: one report: report ")
    claim = json.loads(own.read_text())
    claim["guarantee"]["distributions"]["single"] *= 0.9
    claim["guarantee"]["distributions"]["pair"] *= 0.9
    own.write_text(json.dumps(claim))
    assert checked(files) == 1
    assert "does not fit the mechanism" in capsys.readouterr().out
    mechanism = Mechanism.from_json(own.read_text())
    own.write_text(mechanism.to_json())
    joint = JointDistribution(json.loads(counts.read_text())["counts"], "ab", "xy")
    witness.write_text(witness_of(mechanism, joint))
    assert checked(files, "--quiet") == 0
    assert checked(files, "--radius") == 1
    assert capsys.readouterr().out.startswith("not shown: radius of 's': single=")
    assert main(["verify", "missing.json", "--counts", str(counts), "--witness", str(witness)]) == 2


def test_radii_of_further_claims_are_made_again(tmp_path, capsys):
    files = designed(tmp_path, "--known", "u")
    capsys.readouterr()
    assert checked(files, "--radius") == 0
    said = capsys.readouterr().out
    assert "radius of 's' to somebody who knows 'u': there is none, as all distributions" in said


def test_blocks_and_surveys_have_no_proof_and_are_told_what_to_do(tmp_path, capsys):
    public = tmp_path / "wide.csv"
    public.write_text("s,u,v,w\n" + "a,x,k,2\nb,y,k,1\na,y,l,3\nb,x,l,1\n" * 9)
    own, counts = str(tmp_path / "own.json"), str(tmp_path / "counts.json")
    design = ["design", str(public), "-s", "s", "-e", "1", "-o", own, "--sanitizer", "grr"]
    columns = ["--column", "u", "--column", "v"]
    for more, way in ((["--weights", "w"], "survey"), (["--blocks", "singles"], "sanitizers_[k]")):
        assert main([*design, *columns, *more, "--witness", counts]) == 2
        assert way in capsys.readouterr().err
    assert main([*design, *columns, "--blocks", "singles"]) == 0
    capsys.readouterr()
    assert main(["verify", own, "--counts", own, "--witness", own]) == 2
    assert "sanitizers_[k].certificate_.witness()" in capsys.readouterr().err
