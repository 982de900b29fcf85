"""Printed texts are those of tests/golden/, so that new words are read as a difference of files.

python tests/test_golden.py     writes the files again (make golden)
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skrldp import (
    BlockEstimator,
    BlockSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    RenyiBall,
    SRRSanitizer,
    SurveyDesign,
    audit,
    certify,
    privacy_report,
)
from skrldp.cli import main

GOLDEN = Path(__file__).parent / "golden"
NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d.])|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?")
DIGEST = re.compile(r"\b[0-9a-f]{64}\b")

CELLS = pd.DataFrame(
    [(ill, age, visits) for ill in ("no", "yes") for age in (20, 40, 60) for visits in (0, 1)],
    columns=["ill", "age", "visits"],
)
COUNTS = np.array([300, 200, 250, 250, 150, 350, 20, 60, 40, 110, 30, 140])
RECORDS = CELLS.loc[np.repeat(CELLS.index, COUNTS)].sample(frac=1.0, random_state=0)
ANSWERS = {"ill": ["no", "yes"], "age": [20, 40, 60], "visits": [0, 1]}


@cache
def designed(kind, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        uncertainty = parameters.pop("around", None)
        if uncertainty is not None:
            parameters["uncertainty"] = uncertainty
        sanitizer = kind(eps=1.0, sensitive="ill", categories=ANSWERS, **parameters)
        return sanitizer.set_params(random_state=0).fit(RECORDS)


@cache
def estimated(kind=GRRSanitizer):
    sanitizer = designed(kind)
    return FrequencyEstimator(sanitizer).fit(sanitizer.transform(RECORDS))


@cache
def blocks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sanitizer = BlockSanitizer(
            1.0, base=GRRSanitizer(), sensitive="ill", categories=ANSWERS, random_state=0
        ).fit(RECORDS)
        return sanitizer, BlockEstimator(sanitizer).fit(sanitizer.transform(RECORDS))


def surveyed():
    rows = np.arange(len(RECORDS))
    table = RECORDS.assign(weight=1.0 + rows % 3, place=rows % 97)
    survey = SurveyDesign(weights="weight", clusters="place")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asymptotic = LikelihoodRatioSet(radius="asymptotic")
        sanitizer = GRRSanitizer(1.0, sensitive="ill", categories=ANSWERS, uncertainty=asymptotic)
        return sanitizer.set_params(survey=survey).fit(table)


def command():
    """A survey by the command line, from a public table to estimates."""
    lines = []

    def run(line):
        output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = main(shlex.split(line))
        output.flush()
        text = output.buffer.getvalue().decode()
        lines.append(f"$ skrldp {line}\n{text}exit code {code}\n")

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            CELLS.assign(people=COUNTS).to_csv("public.csv", index=False)
            RECORDS[:50].reset_index(drop=True).to_csv("records.csv", index_label="person")
            Path("reports.key").touch(0o600)
            Path("reports.key").write_text("00112233445566778899aabbccddeeff" * 2)
            run(
                "design public.csv --counts people --sensitive ill --eps 1 --sanitizer grr "
                "-o mechanism.json"
            )
            run("inspect mechanism.json")
            run("verify mechanism.json public.csv --counts people")
            run("verify mechanism.json public.csv --counts people --eps 0.2")
            for _ in range(2):
                run(
                    "report mechanism.json records.csv --id person --key reports.key -o reports.csv"
                )
            run("estimate mechanism.json reports.csv --of visits")
            run("estimate mechanism.json reports.csv --of colour")
            run("design public.csv --sensitive health --eps 1 -o other.json")
        finally:
            os.chdir(before)
    return "\n".join(lines)


CASES = {
    "report_grr": lambda: str(privacy_report(designed(GRRSanitizer))),
    "report_known": lambda: str(privacy_report(designed(IRSanitizer))),
    "report_drift": lambda: str(
        privacy_report(designed(IRSanitizer, around=LikelihoodRatioSet(drift=0.05)))
    ),
    "report_renyi": lambda: str(privacy_report(designed(IRSanitizer, around=RenyiBall()))),
    "report_everywhere": lambda: str(privacy_report(designed(SRRSanitizer))),
    "report_survey": lambda: str(privacy_report(surveyed())),
    "report_blocks": lambda: str(privacy_report(blocks()[0])),
    "report_markdown": lambda: privacy_report(designed(GRRSanitizer)).to_markdown(),
    "certificate": lambda: "\n".join(
        repr(certify(design.mechanism_, design.uncertainty_, design.joint_, reports=k))
        for design in (designed(GRRSanitizer), designed(IRSanitizer))
        for k in (1, 2)
    ),
    "claims": lambda: str(designed(GRRSanitizer).certificate_.claims),
    "reprs": lambda: "\n".join(
        repr(part)
        for part in (
            designed(GRRSanitizer),
            designed(GRRSanitizer).mechanism_,
            designed(GRRSanitizer).joint_,
            designed(GRRSanitizer).uncertainty_.fit_set(designed(GRRSanitizer).joint_),
            blocks()[0],
            blocks()[0].manifest_,
            estimated(),
        )
    ),
    "estimates": lambda: "\n".join(
        str(estimate)
        for estimate in (
            estimated().marginal("age"),
            estimated().marginal(["ill", "visits"]),
            estimated().marginal("visits", by="ill"),
            estimated().mean("visits", by="age"),
            estimated().quantile("age"),
            estimated().mean("visits", by="ill").difference("yes", "no"),
            estimated().mean("visits", by="ill").ratio("yes", "no"),
        )
    ),
    "estimates_of_blocks": lambda: "\n".join(
        str(estimate)
        for estimate in (blocks()[1].marginal("age"), blocks()[1].mean("visits", by="ill"))
    ),
    "tests": lambda: "\n".join(
        map(str, (estimated().drift_test(), estimated().test_independence("age", "visits")))
    ),
    "audit": lambda: str(audit(designed(GRRSanitizer), n=20_000, level=0.9999, random_state=0)),
    "command_line": command,
}


def printed(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return DIGEST.sub("(digest)", CASES[name]()).rstrip("\n") + "\n"


@pytest.mark.parametrize("name", CASES)
def test_printed_text_is_the_golden_file(name):
    expected, text = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8"), printed(name)
    words = [re.sub(r" +", " ", NUMBER.sub("#", part)) for part in (expected, text)]
    assert words[1] == words[0], "make golden writes the file again: read the difference"
    numbers = [
        [float(n.replace(",", "")) for n in NUMBER.findall(part)] for part in (expected, text)
    ]
    np.testing.assert_allclose(numbers[1], numbers[0], rtol=0.05, atol=0.01)


def test_every_golden_file_has_its_case():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for case in sys.argv[1:] or CASES:
        (GOLDEN / f"{case}.txt").write_text(printed(case), encoding="utf-8")
