"""Files whose claims were altered: the command must notice every false one.

    make fuzz ARGS="claims --number 1000"

Each number of each claim is lowered, by much or by little; claims are added and exchanged. Half are
mechanisms that are verified from their public table, half blocks of a manifest, by their proof.
"""

import copy
import io
import json
import random
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pyarrow as pa
from changed_proofs import bound_together, kept_bases
from command_files import write

from skrldp import LikelihoodRatioSet, PolyOptSanitizer, RenyiBall
from skrldp.cli import main

# Sets, and by which factor numbers are lowered.
SETS = {"likelihood ratios": (LikelihoodRatioSet(drift=0.01), 0.999), "ball": (RenyiBall(), 0.3)}
NUMBERS = {
    *("eps", "single", "pair", "radius", "beta", "n_records", "n_values"),
}  # fmt: skip
KNOWN = {"ill": ["no", "yes"], "age": ["old", "young"], "home": ["land", "town"]}


def survey():
    rng = np.random.default_rng(0)
    ill = rng.random(900) < 0.3
    age = np.where(rng.random(900) < np.where(ill, 0.7, 0.35), "old", "young")
    home = np.where(rng.random(900) < np.where(ill, 0.6, 0.5), "town", "land")
    return pa.table({"ill": np.where(ill, "yes", "no"), "age": age, "home": home})


def honest_claims(around):
    """The JSON of a mechanism with claims of all kinds."""
    sanitizer = PolyOptSanitizer(
        sensitive="ill",
        observer_columns="age",
        eps_worst_case=2.0,
        categories=KNOWN,
        uncertainty=around,
    )
    return json.loads(sanitizer.fit(survey()).mechanism_.to_json())


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


def verdict(*arguments):
    """The exit code of `skrldp verify` and what it says."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = main(["verify", *map(str, arguments)])
    return code, said.getvalue()


def altered_manifest(rng, factor):
    """A manifest of which one claim of one block is lower, with a proof of digests that fit."""
    mechanism, counts, witness, *_ = kept_bases()["blocks"]
    fields = json.loads(mechanism)
    claims = rng.choice(fields["mechanisms"])["claims"]
    if rng.random() < 0.1:
        del claims[-1]
    else:
        claim = rng.choice([one for one in claims if one["eps"] > 0.0])
        claim["eps"] *= factor
        claim["attained"] = min(claim["attained"], claim["eps"])
    return bound_together(json.dumps(fields, separators=(",", ":")), counts, witness)


def run(number, start):
    """Alter files, and return how many were not noticed."""
    rng, missed = random.Random(start), []
    mechanisms = [honest_claims(around) for around, _ in SETS.values()]
    with tempfile.TemporaryDirectory() as folder:
        names = ("mechanism.json", "counts.json", "witness.json", "public.csv")
        paths = [Path(folder) / name for name in names]
        write(survey(), paths[-1])
        for fields in mechanisms:
            paths[0].write_text(json.dumps(fields), "utf-8")
            code, said = verdict(paths[0], paths[-1])
            assert code == 0, said
        for place in range(number):
            factor = 1.0 - 10.0 ** -rng.uniform(0.0, 3.0)
            if place % 2:
                for path, text in zip(paths, altered_manifest(rng, factor), strict=False):
                    path.write_text(text, "utf-8")
                name = f"a block's claim, times {factor}"
                code, said = verdict(paths[0], "--public-counts", paths[1], "--witness", paths[2])
            else:
                fields = copy.deepcopy(rng.choice(mechanisms))
                name, altered = rng.choice(list(alterations(fields, factor)))
                name = f"{name}, times {factor}"
                paths[0].write_text(json.dumps(altered), "utf-8")
                code, said = verdict(paths[0], paths[-1])
            if code == 0 or "Traceback" in said:
                missed.append(name)
    print(f"claims: {number:,} altered files, {len(missed)} not noticed", *missed[:5], sep="\n")
    return len(missed)
