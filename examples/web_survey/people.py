"""Made-up people: those of the public table, and others who answer the survey.

For your own survey, replace `public_table` by a real public table with one record for each person
and one column for each question.
"""

import numpy as np
import pandas as pd
from questions import DECLINED, SURVEY, categories

# The shares of each question's answers, and the earlier questions on which they depend. With a
# positive number, later answers to both questions occur together more often.
MODEL = {
    "age": ([0.27, 0.43, 0.30], {}),
    "gender": ([0.50, 0.49, 0.01], {}),
    "place": ([0.71, 0.29], {"age": 0.2}),
    "home": ([0.25, 0.75], {"place": 0.3}),
    "work": ([0.35, 0.20, 0.45], {"age": -0.5}),
    "licence": ([0.12, 0.18, 0.70], {"age": 0.8, "place": 0.3}),
    "drives": ([0.25, 0.30, 0.45], {"licence": 1.0, "place": 0.6}),
    "stop": ([0.75, 0.25], {"place": 1.2}),
    "taxi": ([0.70, 0.30], {"place": 1.0}),
    "drinks": ([0.20, 0.35, 0.35, 0.10], {"age": 0.2, "gender": 0.3}),
    "checked": ([0.80, 0.20], {"drives": 0.5}),
    "drove": ([0.70, 0.30], {"drives": 0.5, "drinks": 0.6, "taxi": 0.4}),
}
DECLINES = {"drove": 0.06}  # for other questions, .02


def people(n, seed, **shares):
    """Draw n records; pass different shares for a question by its name."""
    rng = np.random.default_rng(seed)
    codes, records = {}, {}
    for column, answers in categories(SURVEY).items():
        usual, depends = MODEL[column]
        odds = np.log(np.tile(shares.get(column, usual), (n, 1)))
        for other, slope in depends.items():
            earlier = codes[other] - codes[other].mean()
            odds += slope * earlier[:, None] * np.arange(len(usual))
        codes[column] = (odds + rng.gumbel(size=odds.shape)).argmax(axis=1)
        declines = rng.random(n) < DECLINES.get(column, 0.02)
        records[column] = np.where(declines, DECLINED, np.array(answers)[codes[column]])
    return pd.DataFrame(records)


def public_table(n=5000):
    """Return the public table: the answers of n people to all questions."""
    return people(n, seed=2026)


def respondents(n, seed):
    """Draw the people who answer the survey, who differ slightly from the public table."""
    return people(n, seed, age=[0.31, 0.41, 0.28], drove=[0.66, 0.34])
