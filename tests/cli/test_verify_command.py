"""Claims are verified with the public table or by a proof; no road believes what a file says.

`fuzz/altered.py` alters a thousand claims (make fuzz ARGS=claims); here is a sample of each kind.
"""

import copy
import json
import re
import shutil
import sys
import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from command_files import call, folder, table, write
from conftest import ROOT, few_iterations

from skrldp import (
    AOptimalSanitizer,
    IRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    Mechanism,
    RenyiBall,
    SRRSanitizer,
    SurveyDesign,
    client,
)
from skrldp.alphabet.values import source_in_words
from skrldp.certificate import counts_to_json
from skrldp.certificate._witness import witness_of
from skrldp.claims import Claims
from skrldp.cli import main

sys.path.insert(0, str(ROOT / "fuzz"))
from altered import KNOWN, SETS, alterations, honest_claims, survey

__all__ = ["call", "folder"]  # fixtures

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
def files(kept, folder, capsys):
    capsys.readouterr()
    shutil.copytree(kept[0].parent, folder, dirs_exist_ok=True)
    return tuple(folder / file.name for file in kept)


def checked(files, *options):
    own, counts, witness = map(str, files)
    return main(["verify", own, "--public-counts", counts, "--witness", witness, *options])


def proven(said):
    """The bounds that were proven."""
    found = r'(?:one report|to those who know "zip"): eps <= ([0-9.]+)'
    return [float(eps) for eps in re.findall(found, said)]


# --- From the public table -----------------------------------------------------------------------


def test_claims_are_proven_again(call, files):
    code, out, _ = call("verify", "own.json", "public.csv")
    assert code == 0 and out.startswith("holds\n")
    assert 0.99 < proven(out)[0] <= 1.0
    code, out, _ = call("verify", "own.json", "public.csv", "--eps", "0.9")
    assert code == 1 and out.startswith(
        'not shown: no multipliers were found that prove this: secret "s"'
    )
    (files[0].parent / "counted.csv").write_text("s,u,n\na,x,30\na,y,9\nb,x,8\nb,y,40\n")
    whole = call("verify", "own.json", "public.csv")
    assert call("verify", "own.json", "counted.csv", "--counts", "n") == whole


@pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_each_claim_of_a_weakened_mechanism_fails(call, folder):
    """Of S and to observers who know columns; its claims stayed."""
    records = table().drop_columns(["person", "day"])
    with few_iterations():
        fitted = AOptimalSanitizer(sensitive="ill", observer_columns="zip", eps_worst_case=2.0).fit(
            records
        )
    (folder / "m.json").write_text(fitted.mechanism_.to_json())
    write(records, folder / "public.csv")
    code, out, _ = call("verify", "m.json", "public.csv")
    assert code == 0 and len(proven(out)) == 2
    raw = json.loads((folder / "m.json").read_text())
    weights = np.array(raw["weights"])
    top = weights.argmax(axis=0)
    moved = weights // 2
    weights -= moved
    weights[top, range(weights.shape[1])] += moved.sum(axis=0)
    sets = [one for one in raw["claims"] if one["around"] != "all"]
    (folder / "weak.json").write_text(
        json.dumps(raw | {"weights": weights.tolist(), "claims": sets})
    )
    code, out, _ = call("verify", "weak.json", "public.csv")
    assert code == 1 and out.startswith("not shown: ")


@pytest.mark.parametrize(
    ("around", "options", "more"),
    [
        (LikelihoodRatioSet(radius="asymptotic"), {"min_frequency": "auto"}, 20),
        (RenyiBall(1.0, radius="finite-sample"), {"handle_unknown": "infrequent_if_exist"}, 0),
    ],
)
def test_the_set_is_made_again_for_as_many_values(call, folder, around, options, more):
    """Of learned values, an asymptotic set counts those that were seen, others one more."""
    rows = np.arange(1_000)
    visits = np.where(rows % 3 == 0, rows % 96, rows % 4) if more else rows // 2 % 4
    records = pa.table({"ill": rows % 2, "visits": visits})
    fitted = IRSanitizer(sensitive="ill", uncertainty=around, **options).fit(records)
    joint = fitted.joint_
    assert joint.alphabet == "frequent" and joint.most_values >= len(joint.values) + more
    (folder / "m.json").write_text(fitted.mechanism_.to_json())
    for name in ("public.parquet", "public.csv"):  # whose texts meet the numbers
        write(records, folder / name)
        code, out, _ = call("verify", "m.json", name)
        said = " ".join(out.split())
        assert code == 0 and fitted.certificate_.uncertainty.describe() in said
        assert f"0.05; {source_in_words('frequent')}" in said
        assert proven(out)[0] == pytest.approx(fitted.certificate_.eps, abs=1e-8)


@pytest.mark.filterwarnings("ignore:the values of U were learned")
def test_learned_values_are_counted_in_the_table_that_is_given(call, folder):
    """Of another table, values may have few records that had many in the public one."""
    rows = np.arange(1_200)
    records = pa.table({"ill": rows % 2, "u": rows // 2 % 3, "v": rows // 6 % 2})
    few = records.filter((rows // 2 % 3 < 2) | (rows < 6))
    around = LikelihoodRatioSet(radius="asymptotic")
    fitted = IRSanitizer(sensitive="ill", uncertainty=around).fit(few)
    first, *rest = fitted.mechanism_.claims
    first = replace(first, around=replace(first.around, values_from="frequent"))
    forged = replace(fitted.mechanism_, claims=Claims((first, *rest)))
    write(few, folder / "few.csv")
    (folder / "counts.json").write_text(counts_to_json(fitted.joint_))
    (folder / "forged.json").write_text(forged.to_json())
    (folder / "other.json").write_text(witness_of(forged, fitted.joint_))
    for given in ("few.csv", "--public-counts counts.json --witness other.json"):
        _, out, _ = call("verify", "forged.json", *given.split())
        assert source_in_words("learned") in " ".join(out.split()), given


@pytest.mark.filterwarnings("ignore:the values of U were learned")
def test_a_surveys_proof_is_checked_and_its_learned_values_are_just_learned(call, folder):
    """Many weighted people are no reason, and many records of a survey are none either."""
    rows = np.arange(900)
    public = pa.table({"ill": rows % 2, "u": rows // 2 % 3, "w": 1.0 + rows % 7})
    design = {"survey": SurveyDesign(weights="w"), "uncertainty": RenyiBall(1.0)}
    fitted = IRSanitizer(sensitive="ill", **design).fit(public)
    first, *rest = fitted.mechanism_.claims
    forged = replace(first, around=replace(first.around, values_from="frequent"))
    for own in (first, forged):
        made = replace(fitted.mechanism_, claims=Claims((own, *rest)))
        (folder / "m.json").write_text(made.to_json())
        (folder / "counts.json").write_text(counts_to_json(fitted.joint_))
        (folder / "w.json").write_text(witness_of(made, fitted.joint_))
        given = ("verify", "m.json", "--public-counts", "counts.json", "--witness", "w.json")
        code, out, _ = call(*given)
        assert code == 0 and source_in_words("learned") in " ".join(out.split())


# --- The proof of somebody else ------------------------------------------------------------------


def test_what_design_writes_is_verified(files, capsys):
    assert checked(files) == 0
    said = capsys.readouterr().out
    assert said.startswith('holds\nsecret "s", one report: eps <= ')
    assert "radius of 's': single=" in said
    assert "is as large as the rule 'finite-sample' requires" in said
    assert "misses the true conditionals with probability at most 0.05" in said
    assert said.strip().endswith(Mechanism.from_json(files[0].read_text()).digest)


def test_a_proof_is_checked_against_the_table_itself(call, files):
    """Whoever has the table needs no counts; of another table the proof is none."""
    given = ("verify", "own.json", "public.csv", "--witness", "witness.json")
    assert call(*given)[0] == 0
    with open("public.csv", "a") as file:
        file.write("a,x\n")
    code, out, _ = call(*given)
    assert code == 1 and "the counts do not match" in out


def test_a_changed_mechanism_or_smaller_radius_is_not(files, capsys):
    own, counts, witness = files
    assert checked(files, "--eps", "0.5") == 1
    assert capsys.readouterr().out.startswith('not shown: secret "s", one report: report ')
    claim = json.loads(own.read_text())
    claim["claims"][0]["around"]["single"] *= 0.9
    claim["claims"][0]["around"]["pair"] *= 0.9
    own.write_text(json.dumps(claim))
    assert checked(files) == 1
    assert "does not match the mechanism" in capsys.readouterr().out
    mechanism = Mechanism.from_json(own.read_text())
    own.write_text(mechanism.to_json())
    joint = JointDistribution(json.loads(counts.read_text())["counts"], "ab", "xy")
    witness.write_text(witness_of(mechanism, joint))
    assert checked(files) == 1
    assert capsys.readouterr().out.startswith("not shown: radius of 's': single=")
    assert main(["verify", "missing.json", "public.csv"]) == 2


def test_radii_of_further_claims_are_made_again(tmp_path, capsys):
    files = designed(tmp_path, "--observer-column", "u")
    capsys.readouterr()
    assert checked(files) == 0
    said = capsys.readouterr().out
    assert "radius of 's' for an observer who knows 'u': none is needed, because" in said


@pytest.mark.parametrize(
    "given",
    [(), ("public.csv", "--public-counts", "counts.json"), ("--public-counts", "counts.json")],
)
def test_what_is_verified_is_given_once(call, files, given):
    code, _, err = call("verify", "own.json", *given)
    assert code == 2 and "pass the public table" in err


def test_a_number_of_rows_is_no_value_too(call, folder):
    """Read as both, counts would make a set of distributions for more records than there are."""
    rows = [f"{ill},{n}" for ill in ("no", "yes") for n in (700, 1000)]
    (folder / "public.csv").write_text("\n".join(["ill,n", *rows]))
    (folder / "reports.csv").write_text("report\n1\n2")
    asked = ("--sensitive", "ill", "--eps", "1", "--sanitizer", "grr", "-o")
    assert call("design", "public.csv", *asked, "own.json")[0] == 0
    for used in (
        ("verify", "own.json", "public.csv", "--counts", "n"),
        ("estimate", "own.json", "reports.csv", "--of", "n", "--counts", "report"),
        ("design", "public.csv", "--column", "n", "--counts", "n", *asked, "other.json"),
    ):
        code, out, err = call(*used)
        assert (code, out) == (2, "") and "(--counts) is also a column of the record" in err
    assert not (folder / "other.json").exists()


# --- Altered files -------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=SETS)
def honest(request):
    """The JSON of a mechanism with claims of all kinds, and a factor that lowers them."""
    around, factor = SETS[request.param]
    with few_iterations(), warnings.catch_warnings(action="ignore"):
        return honest_claims(around), factor


@pytest.mark.slow
def test_every_altered_claim_is_noticed(call, folder, honest):
    fields, factor = honest
    write(survey(), folder / "public.csv")
    (folder / "own.json").write_text(json.dumps(fields))
    code, out, _ = call("verify", "own.json", "public.csv")
    assert code == 0 and out.startswith("holds\n")
    missed = []
    for name, altered in alterations(fields, factor):
        (folder / "altered.json").write_text(json.dumps(altered))
        code, out, err = call("verify", "altered.json", "public.csv")
        missed += [name] * (code == 0 or not ("not shown: " in out or "is malformed" in err))
    assert not missed


@pytest.mark.parametrize("about", [("known", "all"), ("around", "all")])
def test_claims_that_the_weights_contradict_are_refused_on_all_roads(call, folder, about):
    """An observer who knows U, and all distributions: no public table is needed."""
    write(survey(), folder / "public.csv")
    fitted = SRRSanitizer(sensitive="ill", categories=KNOWN).fit(survey())
    altered = json.loads(fitted.mechanism_.to_json())
    key, value = about
    claim = next(one for one in altered["claims"] if one[key] == value)
    claim.update(eps=0.99 * claim["eps"], attained=0.0)
    if key == "around":  # else it would be less than the claim about those who know U
        altered["claims"] = [claim]
    text = json.dumps(altered)
    (folder / "m.json").write_text(text)
    for read in (Mechanism.from_json, client.load):
        with pytest.raises(ValueError, match="its weights attain eps"):
            read(text)
    for command in ("inspect", "report", "verify"):
        code, _, err = call(command, "m.json", *["public.csv"] * (command != "inspect"))
        assert code == 2 and "its weights attain eps" in err, command


def test_what_was_asked_is_no_evidence(call, folder, honest):
    """The file's author writes it; a false claim is far below it."""
    write(survey(), folder / "public.csv")
    false = copy.deepcopy(honest[0])
    false["claims"][0].update(eps=0.1, attained=0.1, asked=3.0)
    (folder / "m.json").write_text(json.dumps(false))
    code, out, _ = call("verify", "m.json", "public.csv")
    assert code == 1 and out.startswith("not shown: ") and "eps=0.1" in out
    code, out, _ = call("inspect", "m.json")  # by the counts in the file itself
    assert code == 1 and "eps <= 0.1 is claimed, and 0." in out and "leaks at the public" in out
    code, _, err = call("report", "m.json", "public.csv", "-o", "reports.csv")
    assert code == 2 and "leaks at the public counts: the claim is false" in err
    assert not (folder / "reports.csv").exists()
    (folder / "m.json").write_text(json.dumps(honest[0]))
    assert call("inspect", "m.json")[0] == 0
