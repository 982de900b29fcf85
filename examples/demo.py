"""Release a survey about extramarital affairs without giving anybody away.

The Fair survey (Redbook, 1974; bundled with statsmodels) asked 6,366 married women. Whether a woman
reports an affair is the secret S. How religious she is and how she rates her marriage are U. U is
harmless by itself, but tells something about S. Half of the answers serve as the public table, from
which the mechanisms are designed. The other half are private and leave as sanitized reports only.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from statsmodels.datasets import fair

from skrldp import (
    GRRSanitizer,
    IRSanitizer,
    NonRobustSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    SRRSanitizer,
    audit,
    certify,
    privacy_report,
)

EPS = 1.0
EPS_ALL = 4.0


def load_survey():
    """Return S and two harmless answers, in random order.

    Each column has a dtype with the answers that one could tick. So its values are known before any
    record is counted, as the confidence set wants it, and ``categories="dtype"`` says so.
    """
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
    """Name the answers, which are numbers from `first` on."""
    return pd.Categorical.from_codes(answers.astype(int) - first, levels, ordered=True)


def main(limit=None):
    survey = load_survey()
    public, private = survey[: len(survey) // 2], survey[len(survey) // 2 :]

    print(
        f"Can affairs stay private at eps = {EPS:g}? Designing on {len(public):,} public records."
    )
    print(
        "Every report may change the odds of an affair by a factor of at most "
        f"{np.exp(EPS):.2f},\nfor every distribution in the 95 % confidence set.\n"
    )
    known = {"eps": EPS, "sensitive": "affair", "categories": "dtype"}  # all combinations
    sanitizers = {
        "GRR (plain LDP)": GRRSanitizer(**known),
        "SRR": SRRSanitizer(**known),
        "IR": IRSanitizer(**known),
        "PolyOpt": PolyOptSanitizer(**known, time_limit=limit),
        "non-robust": NonRobustSanitizer(**known, time_limit=limit),
    }
    print(
        f"{'mechanism':<16} {'I(X;Y), nats':>12} {'of H(X)':>8} {'x GRR':>6} "
        f"{'proven eps':>11} {'attained':>9} {'seconds':>8}"
    )
    for name, sanitizer in sanitizers.items():
        start = time.perf_counter()
        fit_quietly(sanitizer, public)
        seconds = time.perf_counter() - start
        if name == "GRR (plain LDP)":
            baseline = sanitizer.mutual_information_
        # The same question to all: how much can leak within the confidence set of PolyOpt?
        certificate = sanitizer.certificate_
        if name == "non-robust":
            certificate = certify(
                sanitizer.mechanism_, sanitizers["PolyOpt"].uncertainty_, sanitizer.joint_
            )
        print(
            f"{name:<16} {sanitizer.mutual_information_:12.4f} "
            f"{sanitizer.normalized_mutual_information_:8.1%} "
            f"{sanitizer.mutual_information_ / baseline:6.1f} {certificate.eps:11.6f} "
            f"{certificate.eps_attained:9.6f} {seconds:8.2f}"
        )

    print(
        "\nThe non-robust mechanism is private for the public distribution alone. Over the\n"
        "confidence set it leaks what its row says, which is more than was asked.\n"
    )

    polyopt = sanitizers["PolyOpt"]
    report = privacy_report(polyopt)
    print(report)
    bounded = PolyOptSanitizer(**known, eps_all=EPS_ALL, time_limit=limit)
    print_more(
        {
            "SRR": privacy_report(sanitizers["SRR"]),
            "PolyOpt": report,
            f"PolyOpt, eps_all={EPS_ALL:g}": privacy_report(fit_quietly(bounded, public)),
        }
    )
    found = audit(polyopt, n=100_000, level=0.999)
    verdict = "reports are drawn as certified; no fault found" if found.passed else str(found)
    print(f"\nAudit of {found.n:,} records: {verdict}.\n")

    polyopt.set_params(encode="cells")
    reports = polyopt.transform(private)
    print("The first private records never leave; their sanitized rows do:")
    shown = private.head(6).join(reports.head(6).add_suffix(" (report)"))
    print(shown.to_string(index=False))
    same = (private == reports).mean()
    print(
        f"\nReports that agree with the record: religious {same['religious']:.0%}, "
        f"marriage {same['marriage']:.0%}, affair {same['affair']:.0%} "
        f"(saying 'no' always: {(private['affair'] == 'no').mean():.0%})."
    )


def print_more(reports):
    """Say what several reports tell, and one report to somebody who knows the other answers."""
    print("\nWhat if a woman reports again, or somebody knows her other answers?")
    print(
        f"{'eps of k reports':<20} {'of H(X)':>8} {'k = 1':>9} {'2':>6} {'3':>6} {'10':>6} "
        f"{'knows U':>8}"
    )
    for name, report in reports.items():
        one, two, three, ten = report.eps_of_reports.values()
        print(
            f"{name:<20} {report.normalized_mutual_information:8.1%} "
            f"{one:9.2f} {two:6.2f} {three:6.2f} {ten:6.1f} {report.eps_all:8.2f}"
        )


def fit_quietly(sanitizer, table):
    """Fit; the table and the report say what the warnings say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sanitizer.fit(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Sanitize the Fair survey.")
    parser.add_argument("--seconds", type=float, help="limit of time for each design")
    main(parser.parse_args().seconds)
