"""Estimates from stored reports: for the page of results, and as CSV."""

import csv
import io

import numpy as np
from promise import statements

from skrldp import BlockEstimator

CONFIDENCE = 0.95


def results(survey, manifest, counts):
    """Estimate the share of every answer.

    Parameters
    ----------
    survey : dict
        Title, questions, and how many reports are needed.
    manifest : Manifest
        What made the reports.
    counts : dict
        How many reports there are of each pair of block and report.

    Returns
    -------
    dict
        For JSON. With fewer reports than are needed there are no estimates, and none of questions
        about which the reports cannot tell.
    """
    found = {
        **{name: survey[name] for name in ("title", "needed", "closes")},
        "reports": sum(counts.values()),
        "confidence": CONFIDENCE,
        "questions": [],
        "privacy": statements(manifest),
        "digest": manifest.digest,
    }
    if found["reports"] < survey["needed"]:
        return found
    estimator = BlockEstimator(manifest)
    estimator.fit(np.array(list(counts)), sample_weight=list(counts.values()))
    for asked in survey["questions"]:
        shares = _shares(estimator.marginal(asked["column"]), asked["options"])
        kept = {name: asked[name] for name in ("column", "text", "sensitive")}
        found["questions"].append({**kept, "shares": shares})
    return found


def _shares(estimate, options):
    """Write the estimated shares in the order of the options."""
    if np.isnan(estimate.std_error).any():
        return []
    ends, shares = estimate.confidence_interval(CONFIDENCE), estimate.projected()
    places = sorted(range(len(shares)), key=lambda place: options.index(estimate.categories[place]))
    return [
        {
            "answer": estimate.categories[place],
            "estimate": float(shares[place]),
            "std_error": float(estimate.std_error[place]),
            "lower": float(ends[place, 0]),
            "upper": float(ends[place, 1]),
        }
        for place in places
    ]


def as_csv(found):
    """Write results as CSV: a row for each answer."""
    text = io.StringIO()
    names = ["question", "answer", "estimate", "std_error", "lower", "upper", "reports"]
    writer = csv.DictWriter(text, names, lineterminator="\r\n")
    writer.writeheader()
    for asked in found["questions"]:
        for share in asked["shares"]:
            writer.writerow({"question": asked["column"], **share, "reports": found["reports"]})
    return text.getvalue()
