"""
====================================================================
How much may a report reveal if it is private at every distribution?
====================================================================

Lopuhaä-Zwakenberg and Goseling compare mechanisms in section 8 of *Mechanisms for Robust Local
Differential Privacy* (Entropy 2024), on the Adult data and on synthetic tables of 32,561 records.
They ask three questions. How much information does a report contain about the record, as a
percentage of all the information in the record (I(X; Y) / H(X))? How much does it reveal about the
secret, under the distribution that the table was drawn from? And does the table predict well how
informative the reports will be? This page repeats their Figures 2 to 5 and Table 2, and adds the
designs of skrldp:

==============  =================================================================================
GRR             plain local differential privacy of the whole record
SRR             secret randomised response, private at all distributions
IR              independent reports of S and U, with the budget of the paper's Theorem 5
PolyOpt         the paper's: lower bounds on conditionals; secrets compared with themselves too
NR              not robust: the best if the public table were exactly true
joint           PolyOpt on the exact set of distributions, our default, for large alphabets too
IR, tight       independent reports with the largest budget that is private
==============  =================================================================================

As a script, this page computes a few distributions. ``--full`` computes a hundred, as in the paper,
which takes hours. ``--tables DIR`` computes nothing and plots the tables that
``entropy_section_8.py --save DIR`` has written. The computation is in ``entropy_section_8.py``.
``docs/reproduced.md`` lists what agrees with the paper, and what does not.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from entropy_section_8 import (
    ADULT,
    FULL,
    SMALL,
    SUMMARIES,
    Cache,
    adult_source,
    arguments,
    plan,
    run,
)

parser = arguments("Repeat Entropy section 8.")
parser.add_argument("--tables", type=Path, metavar="DIR", help="draw what was computed before")
options = parser.parse_args()
adult = adult_source(options.adult)
cache = Cache(options.cache)  # the figures have many designs in common

# %%
# The computation
# ---------------
# Figure 2 requires Adult's records: pass ``--adult`` or set the environment variable
# ``SKRLDP_ADULT``.


def table_of(figure):
    """Compute or read the table of a figure; return None if neither is possible."""
    if options.tables is not None:
        name = figure if figure == "table2" else f"figure_{figure}"
        path = options.tables / f"entropy_{name}.csv"
        return pd.read_csv(path) if path.exists() else None
    if figure == "2" and adult is None:
        return None
    size = FULL if options.full else SMALL
    return SUMMARIES[figure](run(plan(figure, size), cache=cache, adult=adult, jobs=options.jobs))


shown = {figure: table_of(figure) for figure in ("2", "3", "4", "5", "table2")}

# %%
# Each method has its own colour and, for print, its own marker and line. Methods of the paper have
# filled markers and full lines, and our additions have hollow markers and broken lines. The
# non-robust optimum has no marker.

STYLES = {
    "GRR": {"color": "0.45", "marker": "D", "linestyle": "-"},
    "SRR": {"color": "#D55E00", "marker": "s", "linestyle": "-"},
    "IR": {"color": "#009E73", "marker": "o", "linestyle": "-"},
    "PolyOpt": {"color": "#0072B2", "marker": "^", "linestyle": "-"},
    "NR": {"color": "black", "marker": "", "linestyle": ":"},
    "joint": {"color": "#CC79A7", "marker": "v", "linestyle": "--", "markerfacecolor": "white"},
    "IR, tight": {"color": "#56B4E9", "marker": "o", "linestyle": "--", "markerfacecolor": "white"},
}
NAMES = {"PolyOpt": "PolyOpt (paper's)", "joint": "PolyOpt (exact set)"}
drawings = {}
SIZES = [f"{a1}x{a2}" for a1, a2 in ADULT]
plt.rcParams.update({"font.size": 10, "axes.grid": True, "grid.color": "0.9"})


def titled(axes, shape, figure):
    a1, a2 = (int(size) for size in shape.split("x"))
    secret, value = ADULT[a1, a2]
    adults = f"S: {secret} ({a1}), U: {value} ({a2})"
    axes.set_title(adults if figure == "2" else f"{a1} secrets × {a2} values", fontsize=10)


def legend_below(figure, panels, ncols):
    entries = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=ncols)


def information(frame, figure):
    """Draw Figure 2 or 3."""
    drawing, panels = plt.subplots(2, 2, figsize=(9.5, 8.2), layout="constrained")
    for axes, shape in zip(panels.flat, SIZES, strict=True):
        here = frame[frame["shape"] == shape]
        few = shape in SIZES[:2]
        for method, style in STYLES.items():
            curve = here[here["method"] == method].sort_values("eps")
            if curve.empty:
                continue
            bars = {"markersize": 6, "linewidth": 1.4, "capsize": 2, "elinewidth": 0.9, **style}
            error = curve["se" if curve["baseline"].isna().all() else "gain_se"]
            error = None if error.isna().all() else error
            label = NAMES.get(method, method)
            axes.errorbar(curve["eps"], curve["level"], error, label=label, **bars)
        axes.set_ylabel("I(X; Y) / H(X)")
        axes.set_xlabel("ε, nats")
        axes.set_xlim(0.0, 1.56)
        titled(axes, shape, figure)
        if few:
            axes.set_ylim(bottom=0.0)
        else:
            axes.set_yscale("log")
            axes.set_ylim(1e-4, 1.0)
    legend_below(drawing, panels.flat, 4)
    return drawing


# %%
# Figure 2: the Adult data
# ------------------------
# The scales of the lower panels are logarithmic, because the paper's GRR, SRR and IR are an order
# of magnitude below the optimised designs.

if shown["2"] is None:
    print("Figure 2 left out: give Adult's records by --adult or SKRLDP_ADULT.")
else:
    drawings["2"] = information(shown["2"], "2")

# %%
# Figure 3: synthetic tables
# --------------------------
# Points are means over distributions from Jeffreys' prior, with bars of one standard error. Our
# designs are computed for fewer distributions than the paper's methods. Their points are the mean
# of the paper's method plus the mean difference on the same distributions, and their bars are those
# of the difference.

drawings["3"] = information(shown["3"], "3")

# %%
# Figure 4: what is leaked at the true distribution
# -------------------------------------------------
# Lines are medians of ε*, and bands reach from the lower to the upper quartile. Above the dotted
# line, a report reveals more about the secret than promised.

drawings["4"], panels = plt.subplots(1, 2, figsize=(9.5, 4.6), layout="constrained")
for axes, shape in zip(panels, SIZES[:2], strict=True):
    here = shown["4"][shown["4"]["shape"] == shape]
    for method in ("NR", "PolyOpt", "joint"):
        curve = here[here["method"] == method].sort_values("eps")
        style = {**STYLES[method], "linestyle": "-" if method == "NR" else "--"}
        axes.fill_between(
            curve["eps"], curve["q25"], curve["q75"], color=style["color"], alpha=0.22, linewidth=0
        )
        style |= {"marker": "o"} if method == "NR" else {}
        label = NAMES.get(method, method)
        axes.plot(curve["eps"], curve["median"], label=label, markersize=6, **style)
    both = [here["eps"].min(), here["eps"].max()]
    axes.plot(both, both, color="black", linestyle=":", linewidth=1.2, label="ε* = ε")
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set_xticks([0.075, 0.15, 0.3, 0.75, 1.5])
    axes.set_yticks([0.02, 0.05, 0.1, 0.2, 0.5, 1, 2])
    axes.minorticks_off()
    axes.set_xlabel("ε, nats")
    axes.set_ylabel("ε*: leakage at the true distribution, nats")
    titled(axes, shape, "4")
legend_below(drawings["4"], panels, 4)

# %%
# Figure 5: does the table predict how informative the reports will be?
# ---------------------------------------------------------------------
# The picture shows (I at the public distribution − I at the true distribution) / I at the public
# distribution, for ε = 1.5. Boxes show quartiles, and whiskers extend to the minimum and maximum.

drawings["5"], panels = plt.subplots(1, 4, figsize=(9.5, 4.2), layout="constrained", sharey=True)
for axes, shape in zip(panels, SIZES, strict=True):
    here = shown["5"][shown["5"]["shape"] == shape].set_index("method")
    here = here.loc[[name for name in ("SRR", "PolyOpt", "IR", "joint") if name in here.index]]
    boxes = [
        {
            "label": {"PolyOpt": "Poly-\nOpt", "joint": "exact\nset"}.get(name, name),
            "whislo": 100 * row["min"],
            "q1": 100 * row["q25"],
            "med": 100 * row["median"],
            "q3": 100 * row["q75"],
            "whishi": 100 * row["max"],
        }
        for name, row in here.iterrows()
    ]
    drawn = axes.bxp(boxes, showfliers=False, patch_artist=True, widths=0.55)
    for patch, name in zip(drawn["boxes"], here.index, strict=True):
        patch.set(facecolor=STYLES[name]["color"], alpha=0.6)
    for line in drawn["medians"]:
        line.set(color="black", linewidth=1.6)
    axes.axhline(0.0, color="0.4", linewidth=0.8)
    titled(axes, shape, "5")
panels[0].set_ylabel("difference of information, per cent")

# %%
# Table 2: the significance level
# -------------------------------
# The table shows means of I(X; Y) / H(X) at ε = 1.5, for three levels β. A set that misses the true
# distribution a hundred times less often costs little utility.

wide = shown["table2"].pivot_table(
    index=["shape", "method"], columns="beta", values="level", sort=False
)
print(wide.to_string(float_format="%.3f"))

if options.save is not None:
    options.save.mkdir(parents=True, exist_ok=True)
    for number, drawing in drawings.items():
        drawing.savefig(options.save / f"entropy_figure_{number}.png", dpi=90)
else:
    plt.show()
