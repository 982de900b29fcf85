"""Design the mechanism of the survey from the public table, once, before anybody is asked.

python design.py [--folder data] [--eps 1] [--eps-all 2]

It writes mechanism.json, survey.json and public.csv, and refuses to replace them: whoever answered
with one mechanism and is asked again with another gives a second report, which nothing bounds.
"""

import argparse
import json
import sys
from pathlib import Path

from questions import SURVEY, categories, public_table

from skrldp import AOptimalSanitizer
from skrldp.targets import Marginal

HERE = Path(__file__).parent


def design(survey, table, eps=1.0, eps_all=2.0):
    """Fit the mechanism whose reports estimate the shares of all answers best.

    Parameters
    ----------
    survey : dict
        As in questions.py. Its sensitive questions together are the secret.
    table : data frame
        The public table: one column for each question, and the number of "records".
    eps : float
        What a report may tell about the secret by itself, in nats.
    eps_all : float
        The same to somebody who knows all the other answers, in nats.
    """
    asked = survey["questions"]
    sanitizer = AOptimalSanitizer(
        eps=eps,
        eps_all=eps_all,
        sensitive=[question["column"] for question in asked if question["sensitive"]],
        categories=categories(survey),
        targets=[Marginal(question["column"]) for question in asked],
    )
    columns = [question["column"] for question in asked]
    return sanitizer.fit(table[columns], sample_weight=table["records"])


def write(folder, survey, table, eps=1.0, eps_all=2.0):
    """Write all that the server needs into a folder that has none of it; return the sanitizer."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("mechanism.json", "survey.json", "public.csv"):
        if (folder / name).exists():
            raise FileExistsError(
                f"{folder / name} exists. People may have answered with it; asking them again with "
                "another mechanism is a second report about each. Name another --folder."
            )
    sanitizer = design(survey, table, eps, eps_all)
    survey = {**survey, "digest": sanitizer.mechanism_.digest}
    table.to_csv(folder / "public.csv", index=False)
    (folder / "survey.json").write_text(json.dumps(survey, indent=1), encoding="utf-8")
    (folder / "mechanism.json").write_text(sanitizer.mechanism_.to_json(), encoding="utf-8")
    return sanitizer


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=HERE / "data")
    parser.add_argument("--eps", type=float, default=1.0)
    parser.add_argument("--eps-all", type=float, default=2.0)
    asked = parser.parse_args()
    try:
        sanitizer = write(asked.folder, SURVEY, public_table(), asked.eps, asked.eps_all)
    except (FileExistsError, ValueError) as problem:
        sys.exit(f"design.py: {problem}")
    reports, cells = sanitizer.mechanism_.shape
    print(f"{asked.folder}: a mechanism of {reports} reports for {cells} combinations of answers")
    print(f"proven: {sanitizer.certificate_}")


if __name__ == "__main__":
    main()
