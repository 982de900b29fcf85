"""Draw the README's picture: information kept against ε, on Fair's survey.

python examples/draw_utility.py [--seconds 15] [FILE]       two minutes
"""

import argparse
import warnings

import pandas as pd
from statsmodels.datasets import fair

from skrldp import (
    IRSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    PrivacyUtilityDisplay,
    SRRSanitizer,
)


def load_survey():
    """Return S and two columns of U, with the possible answers as categories."""
    answers = fair.load_pandas().data
    survey = answers[[]].assign(
        affair=choice(answers["affairs"] > 0, ["no", "yes"], first=0),
        religious=choice(answers["religious"], ["not", "mildly", "fairly", "strongly"]),
        marriage=choice(
            answers["rate_marriage"], ["very poor", "poor", "fair", "good", "very good"]
        ),
    )
    return survey.sample(frac=1.0, random_state=0).reset_index(drop=True)


def choice(answers, levels, first=1):
    """Name the answers, which are numbered from `first`."""
    return pd.Categorical.from_codes(answers.astype(int) - first, levels, ordered=True)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("file", nargs="?", default="docs/images/utility.svg")
parser.add_argument("--seconds", type=float, default=15.0, help="time for each design")
options = parser.parse_args()
survey = load_survey()
known = {"eps": 1.0, "sensitive": "affair", "categories": "dtype"}  # all combinations
sanitizers = {
    "PolyOpt": PolyOptSanitizer(**known, time_limit=options.seconds),
    "IR": IRSanitizer(**known),
    "SRR": SRRSanitizer(**known),
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", PrivacyLeakWarning)  # of the non-robust curve, drawn as such
    display = PrivacyUtilityDisplay.from_table(
        sanitizers, survey[: len(survey) // 2], eps=(0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
    )
display.figure_.savefig(options.file, metadata={"Date": None})
for name, (eps, values) in display.curves.items():
    print(f"{name:<24}", "  ".join(f"{e:g}: {v:.3f}" for e, v in zip(eps, values, strict=True)))
