"""The questions and a synthetic public table of answers; edit both for a survey of your own."""

import itertools

import numpy as np
import pandas as pd

SURVEY = {
    "name": "driving-1",  # browsers answer at most once under one name
    "title": "Driving after drinking",
    "introduction": "Three questions, one minute. Please answer truthfully: your answer to the "
    "last question stays hidden, also from the makers of this survey.",
    "questions": [
        {
            "column": "age",
            "sensitive": False,
            "text": "How old are you?",
            "unit": "years",
            "least": 18,
            "most": 120,
            "groups": [
                {"name": "18 to 34", "from": 18},
                {"name": "35 to 59", "from": 35},
                {"name": "60 or older", "from": 60},
            ],
        },
        {
            "column": "place",
            "sensitive": False,
            "text": "Where do you live?",
            "options": ["in a city or town", "in the countryside"],
        },
        {
            "column": "drove",
            "sensitive": True,
            "text": "Have you ever driven a car after drinking too much?",
            "options": ["never", "at least once"],
        },
    ],
}


def categories(survey):
    """List the answers to each question that a record can have."""
    return {
        asked["column"]: asked.get("options") or [group["name"] for group in asked["groups"]]
        for asked in survey["questions"]
    }


def synthetic_shares(ages=(0.27, 0.43, 0.30), places=(0.71, 0.29), shift=0.0):
    """Return a made-up distribution of the answers, one row for each combination.

    Driving after drinking depends on age and place in some plausible way; `shift` moves its odds.
    """
    of_age, of_place = [-1.3, -0.3, -0.8], [-0.3, 0.7]
    rows = []
    for (i, age), (j, place) in itertools.product(
        enumerate(categories(SURVEY)["age"]), enumerate(categories(SURVEY)["place"])
    ):
        once = 1.0 / (1.0 + np.exp(-(of_age[i] + of_place[j] + shift)))
        for answer, share in (("never", 1.0 - once), ("at least once", once)):
            rows.append((age, place, answer, ages[i] * places[j] * share))
    return pd.DataFrame(rows, columns=["age", "place", "drove", "share"])


def public_table(n=5000):
    """Return the public table: how many records there are of each combination."""
    table = synthetic_shares()
    return table.assign(records=(n * table.pop("share")).round().astype(int))
