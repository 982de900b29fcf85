"""How happy are married women, if the survey must not learn who has an affair?

The Fair survey (Redbook, 1974; bundled with statsmodels) asked 6,366 married women. Whether a woman
reports an affair is the secret S. How religious she is and whether she is happy in her marriage are
U. Half of the answers serve as the public table. The other half are private and leave as reports.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from skrldp import (
    AOptimalSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    PolyOptSanitizer,
    privacy_report,
)
from skrldp.datasets import load_affairs


def print_beside_truth(figures, private):
    """Print shares with their intervals, beside the true shares of the private records."""
    frame = figures.to_frame()
    truth = private[list(figures.names)].value_counts(normalize=True)
    frame["truth"] = truth.loc[list(map(tuple, figures.labels))].to_numpy()
    shown = [*figures.names, "estimate", "std_error", "conf_low", "conf_high", "truth"]
    print(frame[shown].round(3).to_string(index=False), end="\n\n")


def main(limit=None):
    public, private, answers = load_affairs()
    asked = {"eps": 1.0, "sensitive": "affair", "categories": answers}
    sanitizer = AOptimalSanitizer(**asked, eps_worst_case=4.0, time_limit=limit).fit(public)
    print(f"Design from {len(public):,} public records, {len(private):,} reports.\n")
    print(privacy_report(sanitizer).summary(), end="\n\n")

    estimator = FrequencyEstimator(sanitizer).fit(sanitizer.transform(private))
    print_beside_truth(estimator.marginal("religious"), private)
    print_beside_truth(estimator.marginal(["religious", "happy"]), private)

    informed = PolyOptSanitizer(**asked, eps_worst_case=4.0, time_limit=limit).fit(public)
    plain = GRRSanitizer(**asked).fit(public)
    shares = {
        "PolyOpt, which protects the affair alone": informed.normalized_mutual_information_,
        "randomised response, which protects all": plain.normalized_mutual_information_,
    }
    print("Information about the record at eps = 1, as a share of all there is:")
    print(pd.Series(shares).map("{:.1%}".format).to_string())
    print(f"With both, a report multiplies the odds of an affair by at most {np.e:.2f}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Sanitize the Fair survey.")
    parser.add_argument("--seconds", type=float, help="limit of time for each design")
    options = parser.parse_args()
    if options.seconds:  # designs may end early here
        warnings.simplefilter("ignore", ConvergenceWarning)
    main(options.seconds)
