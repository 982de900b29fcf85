"""Printed texts are those of tests/golden/, so that new words are read as a difference of files.

python tests/test_golden.py     writes the files again (make golden)
"""

import contextlib
import io
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


def quiet(function):
    """Cache what a function returns, and ignore its warnings."""

    @cache
    def call(*args):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args)

    return call


@quiet
def design(kind, uncertainty=None, survey=None):
    options = {} if uncertainty is None else {"uncertainty": uncertainty}
    sanitizer = kind(eps=1.0, sensitive="ill", categories=ANSWERS, random_state=0, **options)
    if survey is None:
        return sanitizer.fit(RECORDS)
    rows = np.arange(len(RECORDS))
    return sanitizer.set_params(survey=survey).fit(
        RECORDS.assign(weight=1.0 + rows % 3, place=rows % 97)
    )


@quiet
def estimator():
    sanitizer = design(GRRSanitizer)
    return FrequencyEstimator(sanitizer).fit(sanitizer.transform(RECORDS))


@quiet
def blocks():
    sanitizer = BlockSanitizer(
        1.0, base=GRRSanitizer(), sensitive="ill", categories=ANSWERS, random_state=0
    ).fit(RECORDS)
    return sanitizer, BlockEstimator(sanitizer).fit(sanitizer.transform(RECORDS))


def command():
    """A survey by the command line, from a public table to estimates."""
    texts = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        CELLS.assign(people=COUNTS).to_csv("public.csv", index=False)
        RECORDS[:50].reset_index(drop=True).to_csv("records.csv", index_label="person")
        Path("reports.key").touch(0o600)
        Path("reports.key").write_text("00112233445566778899aabbccddeeff" * 2)
        for line in COMMANDS:
            output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                code = main(shlex.split(line))
            output.flush()
            text = output.buffer.getvalue().decode()
            texts.append(f"$ skrldp {line}\n{text}exit code {code}\n")
    return texts


COMMANDS = [
    "design public.csv --counts people --sensitive ill --eps 1 --sanitizer grr -o mechanism.json",
    "inspect mechanism.json",
    "verify mechanism.json public.csv --counts people",
    "verify mechanism.json public.csv --counts people --eps 0.2",
    *["report mechanism.json records.csv --id person --key reports.key -o reports.csv"] * 2,
    "estimate mechanism.json reports.csv --of visits",
    "estimate mechanism.json reports.csv --of colour",
    "design public.csv --sensitive health --eps 1 -o other.json",
]
ASYMPTOTIC = LikelihoodRatioSet(radius="asymptotic")
SURVEY = SurveyDesign(weights="weight", clusters="place")


def certificates():
    for kind in (GRRSanitizer, IRSanitizer):
        fitted = design(kind)
        for k in (1, 2):
            yield repr(certify(fitted.mechanism_, fitted.uncertainty_, fitted.joint_, reports=k))


def reprs():
    grr = design(GRRSanitizer)
    fitted_set = grr.uncertainty_.fit_set(grr.joint_)
    sanitizer, _ = blocks()
    parts = grr, grr.mechanism_, grr.joint_, fitted_set, sanitizer, sanitizer.manifest_, estimator()
    return map(repr, parts)


def estimates():
    yield estimator().marginal("age")
    yield estimator().marginal(["ill", "visits"])
    yield estimator().marginal("visits", by="ill")
    yield estimator().mean("visits", by="age")
    yield estimator().quantile("age")
    yield estimator().mean("visits", by="ill").difference("yes", "no")
    yield estimator().mean("visits", by="ill").ratio("yes", "no")


# Each makes the parts of a text, which a line feed separates.
CASES = {
    "report_grr": lambda: [privacy_report(design(GRRSanitizer))],
    "report_known": lambda: [privacy_report(design(IRSanitizer))],
    "report_drift": lambda: [privacy_report(design(IRSanitizer, LikelihoodRatioSet(drift=0.05)))],
    "report_renyi": lambda: [privacy_report(design(IRSanitizer, RenyiBall()))],
    "report_everywhere": lambda: [privacy_report(design(SRRSanitizer))],
    "report_survey": lambda: [privacy_report(design(GRRSanitizer, ASYMPTOTIC, SURVEY))],
    "report_blocks": lambda: [privacy_report(blocks()[0])],
    "report_markdown": lambda: [privacy_report(design(GRRSanitizer)).to_markdown()],
    "certificate": certificates,
    "claims": lambda: [design(GRRSanitizer).certificate_.claims],
    "reprs": reprs,
    "estimates": estimates,
    "estimates_of_blocks": lambda: [
        blocks()[1].marginal("age"),
        blocks()[1].mean("visits", by="ill"),
    ],
    "tests": lambda: [estimator().drift_test(), estimator().test_independence("age", "visits")],
    "audit": lambda: [audit(design(GRRSanitizer), n=20_000, level=0.9999, random_state=0)],
    "command_line": command,
}


def printed(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = "\n".join(map(str, CASES[name]()))
    return DIGEST.sub("(digest)", text).rstrip("\n") + "\n"


@pytest.mark.slow
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
