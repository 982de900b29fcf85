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
        The manifest from which reports were drawn.
    counts : dict
        Number of reports that are shown, by block and report; empty until there are enough.

    Returns
    -------
    dict
        The results for JSON. Without counts, they contain neither estimates nor a number of
        reports. Questions that the reports do not determine have no shares.
    """
    found = {
        **{name: survey[name] for name in ("title", "needed", "closes")},
        "reports": sum(counts.values()) or None,
        "confidence": CONFIDENCE,
        "questions": [],
        "privacy": statements(manifest),
        "digest": manifest.digest,
    }
    if not counts:
        return found
    estimator = BlockEstimator(manifest)
    estimator.fit(np.array(list(counts)), sample_weight=list(counts.values()))
    told = {column for block, _ in counts for column in manifest.blocks[block]}
    for asked in survey["questions"]:
        shares = []
        if asked["sensitive"] or asked["column"] in told:
            shares = _shares(estimator.marginal(asked["column"]), asked["options"])
        kept = {name: asked[name] for name in ("column", "text", "sensitive")}
        found["questions"].append({**kept, "shares": shares})
    return found


def _shares(estimate, options):
    """Write the estimated shares in the order of the options."""
    ends, answers = estimate.confidence_interval(CONFIDENCE), [one for (one,) in estimate.labels]
    places = sorted(range(len(answers)), key=lambda place: options.index(answers[place]))
    return [
        {
            "answer": answers[place],
            "estimate": float(estimate.estimate[place]),
            "std_error": _number(estimate.std_error[place]),
            "lower": float(ends[place, 0]),
            "upper": float(ends[place, 1]),
        }
        for place in places
    ]


def _number(value):
    """Return a number, or None for NaN, if too few reports determine the share."""
    return None if np.isnan(value) else float(value)


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
