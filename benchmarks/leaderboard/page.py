"""The tables and pictures of the README and of the page, drawn from the CSV.

A page has them between marks, ``<!-- leaderboard: NAME -->`` and ``<!-- end -->``; `drawn` fills
them in, and a test checks that they are those of the CSV.
"""

import csv
import re
from pathlib import Path

import numpy as np

from .approaches import (
    AT_PUBLIC,
    EVERYWHERE,
    IMPLIED,
    NOTHING,
    ONE_COLUMN,
    OVER_SET,
    POSTERIORS,
    RECORD,
    SOME_VALUES,
)

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "leaderboard.md")
CSV = Path(__file__).parent / "results.csv"
WIDE = "Adult: twelve columns"
RAW = "Raw records"
IN_README = (
    "A-optimal", "A-optimal, crosstab", "A-optimal in three phases, no public table", "PolyOpt",
    "SRR", "GRR", "OUE", "SMP", "LIP", "PRAM of S", "CorrelationRemover",
)  # fmt: skip
PICTURED = (
    *IN_README, "RobustMSE", "IR", "A-optimal, columns, eps_worst_case = ε", "RS+FD", "Non-robust",
    "Privacy funnel", "uRR", "High-low LDP",
)  # fmt: skip
# Measures that users care about, in words, and whether more is better.
WANTED = {
    "error_u": ("columns of U", False),
    "error_pairs": ("pairs of columns", False),
    "error_crosstab": ("crosstab of S and U", False),
    "error_mean_by_s": ("means by secret", False),
    "error_median": ("share up to the median", False),
    "error_s": ("S", False),
    "model_auc": ("AUC of a model", True),
    "model_log_loss": ("log-loss of a model", False),
    "information": ("information, of H(X)", True),
    "information_u": ("information, of H(U)", True),
    "readable": ("U guessed correctly", True),
}


def read(path=CSV):
    """Rows of the CSV, numbers as floats; what is not there is NaN."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return [
            {name: number(value) for name, value in row.items()} for row in csv.DictReader(file)
        ]


def number(text):
    try:
        return float(text) if text else np.nan
    except ValueError:
        return text


class Results:
    """The rows of the CSV, by approach, task and ε."""

    def __init__(self, rows):
        self.rows = rows
        self.by = {(row["approach"], row["task"], row["eps"]): row for row in rows}
        self.approaches = {row["approach"]: row for row in rows if row["task"] != WIDE}
        self.tasks = list(dict.fromkeys(row["task"] for row in rows if row["task"] != WIDE))
        self.epsilons = sorted({row["eps"] for row in rows})

    def of(self, approach, task, eps, measure):
        return self.by.get((approach, task, eps), {}).get(measure, np.nan)

    def over_tasks(self, approach, eps, measure, relative=False):
        """A measure on all tasks where the approach applies; relative to raw records, if asked."""
        found = np.array([self.of(approach, task, eps, measure) for task in self.tasks])
        if relative:
            raw = [self.of(RAW, task, eps, measure) for task in self.tasks]
            found = found / np.array(raw)
        return found[~np.isnan(found)]

    def median(self, approach, eps, measure, relative=False):
        found = self.over_tasks(approach, eps, measure, relative)
        return float(np.median(found)) if len(found) else np.nan


def times(value):
    return "–" if not np.isfinite(value) else f"{value:.2g}" if value < 100 else f"{value:.0f}"


def nats(value):
    if np.isnan(value):
        return ""
    return "∞" if np.isinf(value) else f"{value:.2f}"


def percent(value):
    return "" if np.isnan(value) else f"{100 * value:.0f} %"


def table(head, rows):
    first, *others = ("| " + " | ".join(map(str, line)) + " |" for line in (head, *rows))
    return "\n".join([first, "|" + "---|" * len(head), *others])


def summary(results, names, eps=1.0, detailed=False):
    """Medians over the tasks: what an approach gives, and what it leaks."""
    head = ["approach", "ε protects", "U × raw", "S × U × raw", "U guessed", "ε, true"]
    if detailed:
        head += ["of H(X)", "knows a column", "two reports"]
    rows = []
    for name in names:

        def of(measure, relative=False, name=name):
            return results.median(name, eps, measure, relative)

        row = [name, results.approaches[name]["promise"]]
        row += [times(of("error_u", True)), times(of("error_crosstab", True))]
        row += [percent(of("readable")), nats(of("eps_true"))]
        if detailed:
            row += [percent(of("information")), nats(of("eps_knows_column"))]
            row += [nats(of("eps_two_reports"))]
        rows.append(row)
    return table(head, rows)


# --- who wins

# Ratios from this on are no loss: optima are found up to so much, and models are simulated.
_LEVEL = 0.99


def candidates(results, promise, ours):
    """Approaches that promise at least so much."""
    enough = IMPLIED[: IMPLIED.index(promise) + 1]
    return [
        name
        for name, row in results.approaches.items()
        if row["promise"] in enough and (row["source"] == "skrldp") == ours
    ]


def compared(results, promise, eps=1.0):
    """For each measure: our best against the best other with the same promise, or a stronger one.

    Yields measure, on how many tasks we are not behind, of how many, the median of the ratios, the
    worst one with who was best there, and its task. Ratios above 1 are for us.
    """
    for measure, (_, more) in WANTED.items():
        ratios = {}
        for task in results.tasks:
            sides = []
            for ours in (True, False):
                names = candidates(results, promise, ours)
                found = {name: results.of(name, task, eps, measure) for name in names}
                found = {name: value for name, value in found.items() if not np.isnan(value)}
                if found:
                    best = (max if more else min)(found, key=found.get)
                    sides.append((found[best], best))
            if len(sides) == 2 and np.isfinite(sides[0][0]):
                (mine, _), (other, who) = sides
                ratios[task] = (mine / other if more else other / mine), who
        if ratios:
            values = np.array([ratio for ratio, _ in ratios.values()])
            worst = min(ratios, key=lambda task: ratios[task][0])
            ahead = int((values >= _LEVEL).sum())
            yield measure, ahead, len(values), float(np.median(values)), ratios[worst], worst


def wins(results):
    """For each measure and promise: on how many tasks we are not behind, and the median ratio."""
    promises = OVER_SET, EVERYWHERE, AT_PUBLIC, RECORD
    found = {(one, measure): rest for one in promises for measure, *rest in compared(results, one)}
    rows = []
    for measure, (words, _) in WANTED.items():
        cells = [found.get((one, measure)) for one in promises]
        shown = [f"{cell[0]}/{cell[1]}, {times(cell[2])}" if cell else "" for cell in cells]
        rows.append([words, *shown])
    return table(["measure", *promises], rows)


def wide(results):
    rows = []
    for row in results.rows:
        if row["task"] == WIDE and row["eps"] == 1.0:
            shown = [row["approach"], row["promise"]]
            shown += [f"{row[one]:.3f}".replace("inf", "–") for one in ("error_u", "error_pairs")]
            shown += [nats(row["eps_proven"]), nats(row["eps_true"])]
            rows.append([*shown, times(row["seconds"])])
    head = ["approach", "ε protects", "columns", "pairs", "proven ε", "ε, true"]
    return table([*head, "seconds"], rows)


def tasks(results):
    rows = {row["task"]: row for row in results.rows}
    shown = (f"{name} ({row['cells']:,.0f}; {row['n']:,.0f})" for name, row in rows.items())
    return f"{'; '.join(shown)}."


def when(results):
    """Date and versions."""
    ours = next(row["version"] for row in results.rows if row["source"] == "skrldp")
    return (
        f"{max(row['date'] for row in results.rows)}, skrldp {ours}, "
        f"{len(results.approaches)} approaches, {len(results.tasks)} tasks, "
        f"ε from {results.epsilons[0]:g} to {results.epsilons[-1]:g}."
    )


def blocks(results):
    """All generated parts of the pages, by name."""
    everybody = list(results.approaches)
    of_u = [name for name in everybody if not name.startswith("A-optimal, S")]
    return {
        "summary": summary(results, [name for name in IN_README if name in everybody]),
        "all at ε = 1": summary(results, of_u, 1.0, True),
        "same promise": wins(results),
        "wide": wide(results),
        "tasks": tasks(results),
        "when": when(results),
    }


MARKED = re.compile(r"(<!-- leaderboard: (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def drawn(text, results):
    """Return a page with its parts filled in."""
    parts = blocks(results)
    return MARKED.sub(lambda found: f"{found[1]}\n{parts[found[2]]}\n\n{found[3]}", text)


COLOURS = {
    RECORD: "#7f7f7f", EVERYWHERE: "#0072B2", OVER_SET: "#009E73", AT_PUBLIC: "#E69F00",
    ONE_COLUMN: "#000000", POSTERIORS: "#F0E442", SOME_VALUES: "#CC79A7", NOTHING: "#D55E00",
}  # fmt: skip


def plot(results, path):
    """Errors against ε, and how often U is guessed correctly against the leakage."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "skrldp"
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    for name in (
        "A-optimal",
        "IR",
        "A-optimal, columns, eps_worst_case = ε",
        "SRR",
        "GRR",
        "OUE",
        "SMP",
    ):
        values = [results.median(name, eps, "error_u", True) for eps in results.epsilons]
        colour = COLOURS[results.approaches[name]["promise"]]
        left.loglog(results.epsilons, values, "o-", color=colour, markersize=3)
        end = results.epsilons[0] / 1.05, values[0]
        place = {"SRR": "bottom", "OUE": "top"}.get(name, "center")
        left.annotate(name, end, fontsize=7, ha="right", va=place)
    left.set(xlabel="ε", ylabel="error of U's columns, × raw records")
    left.set_xlim(results.epsilons[0] / 12, results.epsilons[-1] * 1.2)
    left.set_xticks(results.epsilons, [f"{eps:g}" for eps in results.epsilons])
    ticks = [1, 2, 5, 10, 20, 50, 100]
    left.set_yticks(ticks, [f"{tick}" for tick in ticks])
    left.minorticks_off()
    for name in PICTURED:
        leak = min(results.median(name, 1.0, "eps_true"), 4.0)
        right_share = results.median(name, 1.0, "readable")
        colour = COLOURS[results.approaches[name]["promise"]]
        right.plot(leak, right_share, "o", color=colour, markersize=4)
        before = name in ("OUE", "RS+FD", "PolyOpt", "Privacy funnel")
        below = name in ("SMP", "RS+FD", "CorrelationRemover", "GRR", "SRR", "A-optimal, crosstab")
        right.annotate(
            name, (leak, right_share), fontsize=6, xytext=(-4 if before else 4, -8 if below else 2),
            textcoords="offset points", ha="right" if before else "left",
        )  # fmt: skip
    right.axvline(1.0, color="black", linewidth=0.5)
    right.set(xlabel="ε at the true distribution, asked for 1 (4: or more)", xlim=(0, 5))
    right.set_ylabel("U guessed correctly from a report")
    handles = [plt.Line2D([], [], marker="o", ls="", color=c, label=p) for p, c in COLOURS.items()]
    title = "What ε protects"
    figure.legend(
        handles=handles, loc="outside upper center", ncols=4, fontsize=7, title=title,
        title_fontsize=7, frameon=False,
    )  # fmt: skip
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    results = Results(read())
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(drawn(text, results), encoding="utf-8")
    plot(results, ROOT / "docs" / "images" / "leaderboard.svg")


if __name__ == "__main__":
    main()
