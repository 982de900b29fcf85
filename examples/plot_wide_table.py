"""
===========================================
How precise are the crosstabs of all pairs?
===========================================

A table with many columns has too many cells for one mechanism. With ``BlockSanitizer``, each person
reports one block of columns, which is drawn at random and does not depend on the record. Which
blocks should you use? Blocks of single columns need the smallest designs, but do not allow
crosstabs. Blocks of pairs allow crosstabs of all pairs. The reports of (pays, visits) and those of
(visits, chronic) both contain information about visits, and ``BlockEstimator`` pools them. This
page shows maps of the errors.

The data are the RAND Health Insurance Experiment (20,190 person-years, bundled with statsmodels).
Each row stands for a person here. The secret S is whether health was called fair or poor. A quarter
of the rows is public; the others are private.
"""

from contextlib import suppress

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from statsmodels.datasets import randhie

from skrldp import BlockEstimator, BlockSanitizer, FrequencyEstimator, expected_std_error

answers = randhie.load_pandas().data
paid = np.exp(answers["lncoins"]) - 1.0  # per cent of the costs
survey = pd.DataFrame(
    {
        "health": np.where(answers["hlthf"] + answers["hlthp"] > 0, "fair or poor", "good"),
        "pays": np.select([paid < 1, paid < 60], ["nothing", "25-50 %"], "95 %"),
        "visits": np.select([answers["mdvis"] == 0, answers["mdvis"] <= 3], ["0", "1-3"], "4+"),
        "chronic": np.where(answers["disea"] > 10, "many", "few"),
        "limited": np.where(answers["physlm"] > 0, "yes", "no"),
        "deductible": np.where(answers["idp"] > 0, "yes", "no"),
    }
)
survey = survey.sample(frac=1.0, random_state=0).reset_index(drop=True)
public, private = survey[:5000], survey[5000:]
columns = list(survey)[1:]
known = {name: sorted(survey[name].unique()) for name in survey}

# %%
# Two designs
# -----------
# Both make the same promise: one report about each person, and ε = 1.

sanitizers, reports = {}, {}
for blocks in ("singles", "pairs"):
    sanitizer = BlockSanitizer(eps=1.0, sensitive="health", blocks=blocks, categories=known)
    sanitizers[blocks] = sanitizer.fit(public)
    reports[blocks] = sanitizer.transform(private)
    print(f"{blocks}: {len(sanitizer.blocks_)} blocks, {sanitizer.certificate_!r}")

# %%
# Three ways to estimate
# ----------------------
# The error of a table is the square root of the sum of its cells' squared errors. The maps show the
# standard error above the diagonal and the actual error, which is known here, below it. From blocks
# of pairs, a table can be estimated from the reports of its own block, and a single column from
# those of its best block. Alternatively, both can be estimated from all reports together.


def errors(estimator, names):
    """Return the stated and the actual error of the table of some columns."""
    estimate = estimator.marginal(names)
    counts = private[names].value_counts()
    truth = np.array([counts.get(label, 0) for label in estimate.labels])
    off = estimate.estimate - truth / len(private)
    return np.sqrt(np.sum(estimate.std_error**2)), np.sqrt(np.sum(off**2))


def errors_alone(names):
    """Return the same from the reports of one block, the one with the smallest error."""
    manifest, sent = sanitizers["pairs"].manifest_, reports["pairs"]
    found = []
    for number, block in enumerate(manifest.blocks):
        if set(names) <= set(block):
            estimator = FrequencyEstimator(manifest.mechanisms[number], encode="symbol")
            found.append(errors(estimator.fit(sent[sent["block"] == number]["report"]), names))
    return min(found)


def all_errors(by_table):
    """Map errors of all pairs, with those of single columns on the diagonal.

    Stated errors are above the diagonal and actual errors below; NaN if no block contains the pair.
    """
    found = np.full((len(columns), len(columns)), np.nan)
    for j, later in enumerate(columns):
        found[j, j] = by_table([later])[0]
        for i, earlier in enumerate(columns[:j]):
            with suppress(ValueError):  # no block has both columns
                found[i, j], found[j, i] = by_table([earlier, later])
    return found


pooled = {name: BlockEstimator(sanitizers[name]).fit(reports[name]) for name in sanitizers}
maps = {
    "blocks of single columns": all_errors(lambda names: errors(pooled["singles"], names)),
    "blocks of pairs, one by one": all_errors(errors_alone),
    "blocks of pairs, pooled": all_errors(lambda names: errors(pooled["pairs"], names)),
}

# %%
# The maps
# --------

figure, panels = plt.subplots(1, 3, figsize=(12.5, 4.8), layout="constrained", sharey=True)
highest = np.nanmax(list(maps.values()))
for axes, (title, found) in zip(panels, maps.items(), strict=True):
    axes.set_facecolor("0.92")
    image = axes.imshow(found, cmap="viridis_r", vmin=0.0, vmax=highest)
    for (i, j), error in np.ndenumerate(found):
        text = "none" if np.isnan(error) else f"{error:.3f}".lstrip("0")
        color = "0.5" if np.isnan(error) else "white" if error > 0.55 * highest else "black"
        weight = "bold" if i == j else "normal"
        axes.text(j, i, text, ha="center", va="center", color=color, weight=weight, fontsize=11)
    axes.set_title(title, fontsize=14)
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right", fontsize=11)
    axes.set_yticks(range(len(columns)), columns, fontsize=11)
figure.supxlabel("on and above the diagonal: stated errors; below: true ones")
figure.colorbar(image, ax=panels, label="error of the table", shrink=0.8)

# %%
# In words
# --------
# Planned errors are computed from the public table, before anybody is asked.

above = np.triu_indices(len(columns), 1)
below = above[::-1]


def planned(blocks, names):
    """Return the planned error of the table of some columns."""
    expected = expected_std_error(sanitizers[blocks], len(private), names)
    return np.sqrt(np.sum(expected**2))


print(f"{'mean error':<30}{'single columns':>16}{'pairs, stated':>16}{'pairs, true':>14}")
for name, found in maps.items():
    own = np.diag(found).mean(), found[above].mean(), found[below].mean()
    print(f"{name:<30}{own[0]:>16.4f}{own[1]:>16.4f}{own[2]:>14.4f}")
pairs = [[columns[i], columns[j]] for i, j in zip(*above, strict=True)]
singles = np.mean([planned("singles", [name]) for name in columns])
print(f"planned, single columns, from blocks of single columns: {singles:.4f}")
print(f"planned, pairs, pooled: {np.mean([planned('pairs', names) for names in pairs]):.4f}")

# %%
# Pooled blocks of pairs have the smallest errors, even for single columns, because a report of a
# pair contains information about both columns. The maps differ above and below the diagonal,
# because one run differs from the expectation. If the population has changed since the public
# table, pairs leak more than single columns do. See the page on drift in the guide.

plt.show()
