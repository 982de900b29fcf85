"""Files whose claims were altered: no road believes what a file says of itself.

`fuzz/altered.py` alters a thousand (make fuzz ARGS=claims); here is a sample of each kind.
"""

import copy
import json

import command_fixtures
import numpy as np
import pyarrow as pa
import pytest
from command_files import write

from skrldp import LikelihoodRatioSet, Mechanism, PolyOptSanitizer, RenyiBall, SRRSanitizer, client

call, folder = command_fixtures.call, command_fixtures.folder
# Sets, and by which factor numbers are lowered.
SETS = {"likelihood ratios": (LikelihoodRatioSet(drift=0.01), 0.999), "ball": (RenyiBall(), 0.3)}
NUMBERS = {
    *("eps", "single", "pair", "radius", "beta", "n_records", "n_values"),
}  # fmt: skip
KNOWN = {"ill": ["no", "yes"], "age": ["old", "young"], "home": ["land", "town"]}


def records():
    rng = np.random.default_rng(0)
    ill = rng.random(900) < 0.3
    age = np.where(rng.random(900) < np.where(ill, 0.7, 0.35), "old", "young")
    home = np.where(rng.random(900) < np.where(ill, 0.6, 0.5), "town", "land")
    return pa.table({"ill": np.where(ill, "yes", "no"), "age": age, "home": home})


@pytest.fixture(scope="module", params=SETS)
def honest(request):
    """The JSON of a mechanism with claims of all kinds."""
    around, factor = SETS[request.param]
    sanitizer = PolyOptSanitizer(
        sensitive="ill",
        observer_columns="age",
        eps_worst_case=2.0,
        categories=KNOWN,
        uncertainty=around,
    )
    return json.loads(sanitizer.fit(records()).mechanism_.to_json()), factor


def alterations(fields, factor):
    """Yield what a file might falsely say: each number of each claim lowered, and claims added."""
    for place, one in enumerate(fields["claims"]):
        for where in ("claim", "around") if one["around"] != "all" else ("claim",):
            holder = one if where == "claim" else one["around"]
            for name in sorted({*holder} & NUMBERS):
                new = copy.deepcopy(fields)
                claim = new["claims"][place]
                held = claim if where == "claim" else claim["around"]
                held[name] = type(held[name])(factor * held[name])
                claim["attained"] = min(claim["attained"], claim["eps"])
                if new != fields:
                    yield f"{name} of claim {place}", new
    first, second = fields["claims"][:2]
    for known in ([1, 2], [2]):
        new = copy.deepcopy(fields)
        new["claims"].insert(1, {**second, "known": known, "eps": 0.01, "attained": 0.0})
        yield f"known {known} added", new
    new = copy.deepcopy(fields)
    new["claims"][:2] = {**second, "known": []}, {**first, "known": second["known"]}
    yield "two claims swapped", new


@pytest.mark.slow
def test_every_altered_claim_is_noticed(call, folder, honest):
    fields, factor = honest
    write(records(), folder / "public.csv")
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
    write(records(), folder / "public.csv")
    fitted = SRRSanitizer(sensitive="ill", categories=KNOWN).fit(records())
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
    write(records(), folder / "public.csv")
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
