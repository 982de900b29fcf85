"""Design the mechanisms of the survey from the public table, once, before anybody is asked.

python design.py [--folder data] [--eps 1] [--eps-worst-case 2] [--closes 2030-12-31] [--needed 500]

It writes manifest.json, survey.json and public.csv, and prints how many answers make useful
estimates. It never replaces these files, because a person who answered with one manifest and is
asked again with another one sends a second report, which nothing bounds.
"""

import argparse
import datetime as dt
import json
import math
import sys
from pathlib import Path

from people import public_table
from questions import SURVEY, categories

from skrldp import AOptimalSanitizer, BlockSanitizer, expected_std_error

HERE = Path(__file__).parent
FILES = ("manifest.json", "survey.json", "public.csv")


def design(survey, table, eps=1.0, eps_worst_case=2.0, verbose=0):
    """Fit a mechanism for each question that is not sensitive, together with those that are.

    Parameters
    ----------
    survey : dict
        The survey, as in questions.py. Its sensitive questions together form the secret.
    table : data frame
        The public table: one column for each question.
    eps : float
        Bound on what a report reveals about the secret by itself, in nats.
    eps_worst_case : float
        The same bound for somebody who knows all other answers, in nats.
    verbose : int
        Whether to show progress.
    """
    sanitizer = BlockSanitizer(
        eps=eps,
        eps_worst_case=eps_worst_case,
        sensitive=[asked["column"] for asked in survey["questions"] if asked["sensitive"]],
        categories=categories(survey),
        base=AOptimalSanitizer(targets="all"),  # the shares of the secret, too
        verbose=verbose,
    )
    return sanitizer.fit(table[[asked["column"] for asked in survey["questions"]]])


def write(folder, survey, table, closes, needed=500, **options):
    """Write the server's files into a folder that contains none of them; return the sanitizer.

    Parameters
    ----------
    folder : path
    survey, table, **options
        As for `design`.
    closes : datetime
        Time, with a time zone, from which no reports are accepted.
    needed : int
        Number of reports from which results are shown.
    """
    if needed < 1:
        raise ValueError(f"needed={needed}: there are results from one report on, at the earliest.")
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        if (folder / name).exists():
            raise FileExistsError(
                f"{folder / name} exists. People may have answered with it; asking them again with "
                "another manifest is a second report about each. Name another --folder."
            )
    sanitizer = design(survey, table, **options)
    survey = {
        **survey,
        "closes": closes.isoformat(timespec="seconds"),
        "needed": needed,
        "digest": sanitizer.manifest_.digest,
    }
    table.to_csv(folder / "public.csv", index=False)
    (folder / "survey.json").write_text(json.dumps(survey, indent=1), encoding="utf-8")
    (folder / "manifest.json").write_text(sanitizer.manifest_.to_json(), encoding="utf-8")
    return sanitizer


def answers_needed(sanitizer, errors=(0.1, 0.05, 0.03)):
    """Return the number of answers for which no share has a larger standard error.

    Parameters
    ----------
    sanitizer : BlockSanitizer
        The sanitizer that `design` returns.
    errors : sequence of float
        Standard errors of a share; a 95 % interval extends about two of them to either side.

    Returns
    -------
    list of (float, int)
        Each error, and the number of answers, rounded up to hundreds.
    """
    names = [name for name, _ in sanitizer.manifest_.columns]
    worst = max(expected_std_error(sanitizer, 1, name).max() for name in names)
    return [(error, 100 * math.ceil((worst / error) ** 2 / 100)) for error in errors]


def end_of(day):
    """Return the end of a day in UTC, including its last second."""
    return dt.datetime.combine(day, dt.time(), dt.UTC) + dt.timedelta(days=1)


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    month = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=30)
    parser.add_argument("--folder", type=Path, default=HERE / "data")
    parser.add_argument("--eps", type=float, default=1.0)
    parser.add_argument("--eps-worst-case", type=float, default=2.0)
    parser.add_argument("--closes", type=dt.date.fromisoformat, default=month, metavar="DAY")
    parser.add_argument("--needed", type=int, default=500, metavar="REPORTS")
    asked = parser.parse_args()
    options = {"eps": asked.eps, "eps_worst_case": asked.eps_worst_case, "verbose": 1}
    closes = end_of(asked.closes)
    try:
        found = write(asked.folder, SURVEY, public_table(), closes, asked.needed, **options)
    except (FileExistsError, ValueError) as problem:
        sys.exit(f"design.py: {problem}")
    print(f"{asked.folder}: mechanisms for {len(found.blocks_)} blocks; open until {closes}")
    print(f"proven: {found.certificate_}")
    print("answers needed   standard error of every share at most")
    for error, n in answers_needed(found):
        print(f"{n:14,}   {error:g}")


if __name__ == "__main__":
    main()
