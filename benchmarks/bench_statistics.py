"""Do statistics from reports keep what they state? Intervals, tests, power, naive ways, and time.

Three tables (Adult, the Fair survey, a random one) with a secret, a group and a number; reports of
six mechanisms, designed on 5,000 public records; 2,000 to 50,000 reports, drawn ``--runs`` times
(1,000; the standard error of a coverage is then .007). Of hundreds of figures some are outside .93
to .97 by chance: measure them again with ``--seed 1 --runs 4000 --only ...``.

All runs of a case are estimated together (``many_samples.py``), and the second one by the package
as well: printed is by how much ends of intervals differ, in units of their length.

- *coverage* of 95 % intervals, of all figures that the reports determine: means (least, greatest)
  over the figures of a kind, and in which part of the runs they are flagged: figures by having no
  standard error, coefficients by a warning. Quantiles hold more often by construction.
- *steps*: coverage of 95 % intervals of differences of medians, between two groups and between two
  populations, where a distribution function is 1/2 at a number, so that estimates jump; and where
  it is not; their mean lengths (those of the root of the sum of the two squared lengths)
- *tests*: how often a true hypothesis is contradicted at .05, and a wrong one, beside the plan
- *naive ways*: the mean of a logistic regression's coefficients from reports, beside those of the
  most probable record of each report, and of records weighted by their posterior probabilities; the
  people who report have columns that go together half as much as those of the public table
- *panel*: coverage of changes between two waves in which 60 % of the persons are the same, and the
  size of Wald's test that nothing has changed; errors as shares of those for different persons.
  Reports of the second wave are fresh, or repeat those of unchanged records (permanent)
- *time*: processor time for a million reports, 240 cells and ten coefficients

The table of Adult needs its file: ``SKRLDP_ADULT``, or ``../shared/data/adult/adult.data``.
"""

import argparse
import time
import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
import statsmodels.api as sm
from bench_large import COLUMNS, adult_file
from many_samples import (
    away_from_zero,
    coefficients,
    covariance,
    ends,
    ends_of_quantile,
    independent,
    likeliest,
    linear,
)
from scipy.stats import chi2
from statsmodels.datasets import fair

from skrldp import (
    AOptimalSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    Mechanism,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
)
from skrldp.alphabet import group_cells, numbers_of_cells
from skrldp.estimation import (
    Independence,
    PairedReports,
    SameDistribution,
    StatedDistribution,
    difference,
    expected_power,
    likelihood_ratio_test,
    ratio,
)
from skrldp.estimation.figures._combined_intervals import ends_of_quotients, ends_of_sums
from skrldp.estimation.figures._intervals import critical_value
from skrldp.regression import logit, mnlogit, ols

NAMES = ["secret", "group", "number"]
N_PUBLIC = 5_000
SIZES = (2_000, 10_000, 50_000)
SIGNS = np.array([1.0, -1.0])
MODELS = {
    "logit": (logit, "{{secret == {secret!r}}} ~ number + C(group)"),
    "ols": (ols, "number ~ C(secret) + C(group)"),
    "mnlogit": (mnlogit, "group ~ number + C(secret)"),
}


# -- tables and mechanisms ------------------------------------------------------------------------


def adult():
    """Married or not, sex, and three degrees of schooling."""
    if adult_file() is None:
        return None
    records = pd.read_csv(adult_file(), names=COLUMNS, skipinitialspace=True)
    married = records["marital-status"].str.startswith("Married").map({False: "no", True: "yes"})
    schooling = np.digitize(records["education-num"], [9, 13])
    return pd.DataFrame({"secret": married, "group": records["sex"], "number": schooling})


def fair_survey():
    """An affair or not, the marriage's rating, and how religious somebody is."""
    answers = fair.load_pandas().data
    return pd.DataFrame(
        {
            "secret": np.where(answers["affairs"] > 0, "yes", "no"),
            "group": np.maximum(answers["rate_marriage"].astype(int), 2),
            "number": answers["religious"].astype(int),
        }
    )


def random_table():
    """Three secrets, two groups and four numbers, whose distribution is drawn."""
    rng = np.random.default_rng(7)
    shares = rng.dirichlet(np.full(24, 2.0))
    cells = pd.MultiIndex.from_product([["a", "b", "c"], ["p", "q"], [0, 1, 2, 3]], names=NAMES)
    return cells.to_frame(index=False).loc[rng.choice(24, 50_000, p=shares)]


TABLES = {"Adult": adult, "Fair": fair_survey, "random": random_table}


def sanitizers(eps):
    shared = {"sensitive": "secret", "categories": "product", "random_state": 0}
    return {
        "GRR": GRRSanitizer(eps, **shared),
        "SRR": SRRSanitizer(eps, **shared),
        "IR": IRSanitizer(eps, **shared),
        "A-optimal": AOptimalSanitizer(eps, targets="all", time_limit=60.0, **shared),
        "PolyOpt": PolyOptSanitizer(eps, time_limit=20.0, **shared),
        "RobustMSE": RobustMSESanitizer(eps, distance="hamming", time_limit=20.0, **shared),
    }


def cases(eps, only):
    """For each table and mechanism: names, the fitted sanitizer and the true distribution."""
    for table, make in TABLES.items():
        records = make()
        if records is None:
            print("Adult left out: set SKRLDP_ADULT to the path of its file.")
            continue
        records = records[NAMES]
        public = records.sample(N_PUBLIC, random_state=1)
        for name, sanitizer in sanitizers(eps).items():
            if only and name not in only and table not in only:
                continue
            sanitizer.fit(public)
            mechanism = sanitizer.mechanism_
            places = {
                (s, *u): (i, j)
                for i, s in enumerate(mechanism.secrets)
                for j, u in enumerate(mechanism.values)
            }
            truth = np.zeros((len(mechanism.secrets), len(mechanism.values)))
            for cell, share in records.value_counts(normalize=True).items():
                truth[places[cell]] = share
            yield table, name, sanitizer, truth


def estimate(mechanism, counts):
    return FrequencyEstimator(mechanism, encode="symbol").fit(
        np.arange(len(counts)), sample_weight=counts
    )


def stating(mechanism, truth):
    """An estimator that knows the distribution: its reports are cells, and nearly without end."""
    cells = truth.size
    exact = Mechanism.from_matrix(np.eye(cells), mechanism.secrets, mechanism.values)
    return estimate(exact.named(None, mechanism.columns), np.rint(1e15 * truth.ravel()))


# -- coverage -------------------------------------------------------------------------------------


def figures(first, second, method="auto"):
    """By kind: values, ends of intervals, and errors, of one set of reports and a second one."""
    found = {}

    def add(kind, values, ends, errors):
        parts = found.setdefault(kind, ([], [], []))
        for part, own in zip(parts, (values, ends, errors), strict=True):
            part.append(np.asarray(own, dtype=float))

    def of(kind, one):
        if hasattr(one, "value"):
            add(kind, [one.value], [one.confidence_interval(method=method)], [one.std_error])
        else:
            values = one.frequencies if hasattr(one, "frequencies") else one.values
            add(kind, values, one.confidence_interval(method=method), one.std_error)

    of("shares", first.marginal("secret"))
    means = first.mean("number", by="group")
    groups = [label for (label,) in means.labels]
    of("means", first.mean("number"))
    of("means", means)
    of("differences", means.difference(groups[0], groups[-1]))
    of("ratios", means.ratio(groups[0], groups[-1]))
    of("waves", difference(first.mean("number"), second.mean("number")))
    of("quantiles", first.quantile("number", 0.5))
    return {
        kind: tuple(np.concatenate([np.atleast_1d(p) for p in part]) for part in parts)
        for kind, parts in found.items()
    }


def results(estimator):
    """By model: the result, or why there is none."""
    found = {}
    secret = estimator.mechanism_.secrets[-1]
    for kind, (model, formula) in MODELS.items():
        try:
            found[kind] = model(formula.format(secret=secret), estimator)
        except ValueError as error:
            found[kind] = str(error).split(":")[0]
    return found


class Samples:
    """Estimates from many sets of reports, with the intervals that the package gives each."""

    def __init__(self, mechanism, counts):
        self.mechanism, self.matrix, self.counts = mechanism, mechanism.matrix, counts.astype(float)
        self.n = float(self.counts[0].sum())
        self.found, self.greatest = likeliest(self.matrix, self.counts)
        groups = {name: group_cells(mechanism, [name], "all") for name in NAMES}
        self.numbers = numbers_of_cells(groups["number"])[0]
        self.secrets, self.groups = (indicators(groups[name]) for name in ("secret", "group"))

    def ends(self, numbers, given=None):
        given = np.ones(len(self.numbers)) if given is None else given
        return ends(self.matrix, self.counts, self.found, self.greatest, numbers, given)

    def figures(self, known):
        """By kind: ends of intervals (r, k, 2), which have no error (r, k), and all runs (r,)."""
        found = {}
        if known["shares"].any():
            found["shares"] = self.together([self.ends(own) for own in self.secrets])
        every = self.ends(self.numbers)
        of_groups = [self.ends(self.numbers, own) for own in self.groups]
        found["means"] = self.together([every, *of_groups])
        first, last = of_groups[0], of_groups[-1]
        both = covariance(self.matrix, self.found, np.stack([first[2], last[2]], axis=1), self.n)
        between = both[:, 0, 1] / np.sqrt(both[:, 0, 0] * both[:, 1, 1])
        own = np.ones_like(between)
        table = np.array([[own, between], [between, own]])
        values, limits = (np.stack([first[k], last[k]]) for k in (0, 1))
        unstated = found["means"][1][:, [1, -1]].any(axis=1)
        found["differences"] = ends_of_sums(SIGNS, values, limits, table), unstated
        found["ratios"] = ends_of_quotients(values, limits, between), unstated
        values, limits = (np.stack([every[k], np.roll(every[k], 1, axis=0)]) for k in (0, 1))
        table = np.array([[own, 0.0 * own], [0.0 * own, own]])  # the run before is another wave
        unstated = found["means"][1][:, 0]
        waves = unstated | np.roll(unstated, 1)
        found["waves"] = ends_of_sums(SIGNS, values, limits, table), waves
        likelihood = self.matrix, self.counts, self.found, self.greatest
        quantiles = ends_of_quantile(*likelihood, self.numbers, 0.5)
        found["quantiles"] = quantiles, np.zeros(len(quantiles), dtype=bool)
        whole = np.ones(len(self.counts), dtype=bool)
        return {
            kind: (one if one.ndim == 3 else one[:, None], none.reshape(len(one), -1), whole)
            for kind, (one, none) in found.items()
        }

    def together(self, each):
        """Put means together: ends of intervals (r, k, 2), and which have no error (r, k)."""
        derivatives = np.stack([one[2] for one in each], axis=1)
        both = covariance(self.matrix, self.found, derivatives, self.n)
        variances = np.maximum(np.einsum("rkk->rk", both), 0.0)
        stated = away_from_zero(self.matrix, self.found, derivatives, self.n, variances)
        return np.stack([one[1] for one in each], axis=1), ~stated

    def regression(self, kind, regression):
        """Ends of intervals (r, k, 2), which have a warning (r, k), and which a solution (r,)."""
        values, derivatives, solved = coefficients(regression, kind, self.found)
        both = covariance(self.matrix, self.found, derivatives, self.n)
        variances = np.maximum(np.einsum("rkk->rk", both), 0.0)
        parts = self.matrix, self.found, derivatives, self.n, variances
        half = critical_value(0.95) * np.sqrt(variances)
        return np.stack([values - half, values + half], axis=2), ~away_from_zero(*parts), solved


def indicators(group):
    return (group.labels == np.arange(len(group.categories))[:, None]).astype(float)


def differs(one, other):
    """The greatest difference between ends of intervals, in units of their lengths: (k, 2) each."""
    length = np.maximum(np.ptp(other, axis=1, keepdims=True), 1e-9)
    return float(np.max(np.abs(one - other) / length, initial=0.0))


def coverage(eps, sizes, runs, only, seed):
    print(f"\nCoverage of 95 % intervals, {runs:,} runs: mean (least, greatest) over figures")
    every = defaultdict(list)
    for table, name, sanitizer, truth in cases(eps, only):
        mechanism = sanitizer.mechanism_
        report = mechanism.matrix @ truth.ravel()
        exact, many = stating(mechanism, truth), estimate(mechanism, np.rint(1e11 * report))
        models = {kind: one for kind, one in results(many).items() if not isinstance(one, str)}
        known = {kind: errors > 0 for kind, (*_, errors) in figures(many, many, "wald").items()}
        known |= {kind: one.bse.to_numpy() > 0 for kind, one in models.items()}
        aims = {kind: values for kind, (values, *_) in figures(exact, exact, "wald").items()}
        aims |= {kind: one.params.to_numpy() for kind, one in results(exact).items()}
        if not any(one.any() for one in known.values()):
            print(f"{table}, {name}: the reports determine none of the figures", flush=True)
            continue
        for n in sizes:
            start = time.process_time()
            rng = np.random.default_rng([seed, n])
            samples = Samples(mechanism, rng.multinomial(n, report / report.sum(), runs))
            found = samples.figures(known)
            for kind, one in models.items():
                if known[kind].any():
                    found[kind] = samples.regression(kind, one._regression)
            took = time.process_time() - start
            by_package = of_package(mechanism, samples.counts[:2])
            print(f"{table}, {name}, {mechanism.shape[0]} reports, n = {n:,} ({took:.0f} s)")
            for kind, (own, warned, solved) in found.items():
                where = known[kind]
                own, warned, aim = own[:, where], warned[:, where], aims[kind][where]
                if not aim.size:
                    continue
                held = (own[..., 0] <= aim + 1e-9) & (aim - 1e-9 <= own[..., 1])
                shares, flags = held[solved].mean(axis=0), warned[solved].mean(axis=0)
                every[kind, n] += zip(shares, flags > 0.5, strict=True)
                line = f"  {kind:<12}{aim.size:>3} of {len(where):<3}{shares.mean():.3f} "
                line += f"({shares.min():.3f}, {shares.max():.3f})"
                line += f"  flagged in {flags.mean():.2f}"
                if not solved.all():
                    line += f"  no solution in {1.0 - solved.mean():.3f}"
                if kind in by_package and solved[1]:
                    apart = differs(own[1], by_package[kind][where])
                    line += f"  ends as the package's to {apart:.4f}"
                print(line, flush=True)
    print(
        "\nBy kind and number of reports: figures, least and greatest coverage, within .93 to .97;"
    )
    print("beside them those flagged in most runs (without a standard error, or with a warning)")
    for (kind, n), each in sorted(every.items(), key=lambda item: (item[0][0], item[0][1])):
        line = f"  {kind:<12}{n:>7,}"
        for warned in (False, True):
            shares = np.array([share for share, flag in each if flag == warned])
            if shares.size:
                within = np.mean((shares >= 0.93) & (shares <= 0.97))
                line += f"  {'flagged:' if warned else ''}{shares.size:>4}"
                line += f"  {shares.min():.3f} {shares.max():.3f}  {within:>4.0%}"
        print(line)


def of_package(mechanism, counts):
    """Ends of the intervals of the second of two samples, by kind."""
    first, second = (estimate(mechanism, one) for one in counts)
    found = {kind: own for kind, (_, own, _) in figures(second, first).items()}
    for kind, one in results(second).items():
        if not isinstance(one, str):
            found[kind] = one.conf_int().to_numpy()
    return found


# -- quantiles ------------------------------------------------------------------------------------


def steps(eps, sizes, runs):
    print(f"\nDifferences of medians, {runs:,} runs: coverage, and mean lengths")
    for n_numbers, method in ((2, "auto"), (4, "auto"), (12, "wald"), (40, "wald")):
        for near in (0.5, 0.6):
            half, share = n_numbers // 2, near - 1e-4  # of p just below, of q just above 1/2
            first = np.repeat([share, 1.0 - share], half) / half
            truth = np.stack([first, first[::-1]]) / 2.0
            numbers = np.arange(n_numbers)
            rows = [[group, number] for group in "pq" for number in numbers]
            sanitizer = SRRSanitizer(eps, sensitive=0).fit(rows)
            mechanism = sanitizer.mechanism_
            report = mechanism.matrix @ truth.ravel()
            report /= report.sum()
            below = np.cumsum(truth, axis=1) / truth.sum(axis=1, keepdims=True)
            aims = (below >= 0.5).argmax(axis=1)
            for n in sizes:
                rng = np.random.default_rng(n)
                held, lengths = np.zeros(2), np.zeros((2, 2))
                for _ in range(runs):
                    one, two = (estimate(mechanism, rng.multinomial(n, report)) for _ in range(2))
                    p = one.quantile(1, 0.5, by=0)
                    q = two.quantile(1, 0.5, by=0)
                    own, other = (f.confidence_interval(method=method) for f in (p, q))
                    pairs = [
                        (p.difference("p", "q"), own[0], own[1]),
                        (difference(p, q), own[0], other[0]),
                    ]
                    for k, (found, *both) in enumerate(pairs):
                        ends = np.atleast_2d(found.confidence_interval(method=method))[0]
                        aim = aims[0] - aims[1] if k == 0 else 0
                        held[k] += ends[0] - 1e-9 <= aim <= ends[1] + 1e-9
                        lengths[k] += np.ptp(ends), np.hypot(*map(np.ptp, both))
                print(
                    f"{n_numbers} numbers, {near:g} below the middle, n = {n:,}: "
                    f"groups {held[0] / runs:.3f}, populations {held[1] / runs:.3f}; lengths "
                    f"{np.round(lengths[:, 0] / runs, 2)} ({np.round(lengths[:, 1] / runs, 2)})",
                    flush=True,
                )


# -- tests and power ------------------------------------------------------------------------------


def independent_of(truth, mechanism):
    """The distribution with the same margins in which all columns are independent."""
    groups = len({group for group, _ in mechanism.values})
    cells = truth.reshape(len(truth), groups, -1)
    margins = cells.sum(axis=(1, 2)), cells.sum(axis=(0, 2)), cells.sum(axis=(0, 1))
    return np.einsum("i,j,k->ijk", *margins).reshape(truth.shape)


def tests(eps, sizes, runs, only, seed):
    print(f"\nTests at .05, {runs:,} runs: size; power at half the distance (as planned)")
    every = defaultdict(list)
    for table, name, sanitizer, truth in cases(eps, only):
        mechanism = sanitizer.mechanism_
        under = independent_of(truth, mechanism)
        shares = dict(zip(mechanism.secrets, truth.sum(axis=1), strict=True))
        for n in sizes:
            line = f"{table}, {name}, n = {n:,}:"
            questions = {
                "independence": (Independence("secret", "number"), under, (n,)),
                "two populations": (SameDistribution("secret"), truth, (n, n)),
                "stated": (StatedDistribution("secret", shares), truth, (n,)),
            }
            for what, (hypothesis, null, ns) in questions.items():
                other = other_distribution(what, truth, under)
                given = other if len(ns) == 1 else [other, null]
                sizes_given = list(ns) if len(ns) > 1 else n
                try:
                    plan = expected_power(hypothesis, mechanism, sizes_given, distribution=given)
                except ValueError:
                    line += f"  {what} not determined"
                    continue
                test = Tests(
                    what, hypothesis, mechanism, truth, ns, np.random.default_rng([seed, n])
                )
                size, simulated = test.rejected([null] * len(ns), runs)
                power, _ = test.rejected([other, null][: len(ns)], runs)
                every[what, n].append((size, power - plan))
                line += f"  {what} {size:.3f}; {power:.3f} ({plan:.3f})"
                line += f", simulated {simulated:.0%}" if simulated else ""
            print(line, flush=True)
    print(
        "\nBy test and number of reports: tests, least and greatest size, and power less the plan"
    )
    for (what, n), each in sorted(every.items()):
        size, power = np.array(each).T
        line = f"  {what:<16}{n:>7,}{len(each):>4}  {size.min():.3f} {size.max():.3f}"
        print(f"{line}  {power.min():+.3f} {power.max():+.3f}")


class Tests:
    """The likelihood-ratio test of a hypothesis, for many sets of reports.

    Where the package simulates reports under the hypothesis, each sample has one simulated set
    here, and all are compared with the 95 % quantile of these (the "warp-speed" method of
    Giacomini, Politis and White 2013).
    """

    def __init__(self, what, hypothesis, mechanism, truth, ns, rng):
        self.hypothesis, self.mechanism, self.ns, self.rng = hypothesis, mechanism, ns, rng
        self.matrix, a = mechanism.matrix, truth.size
        secrets, numbers = (
            indicators(group_cells(mechanism, [name], "all")) for name in ("secret", "number")
        )
        self.table, self.freedom = secrets, len(secrets) - 1
        if what == "independence":
            self.condition = independent(secrets, numbers)
            self.table = (secrets[:, None] * numbers).reshape(-1, a)
            self.freedom *= len(numbers) - 1
        elif what == "stated":
            self.condition = linear(secrets[1:] - truth.sum(axis=1)[1:, None])
        else:  # both populations as halves of one
            same = np.vstack([np.ones(a), secrets[1:]])
            self.condition = linear(np.hstack([same, -same]))

    def rejected(self, distributions, runs):
        """How often the hypothesis is contradicted, and in how many runs by simulation."""
        reports = [self.matrix @ one.ravel() for one in distributions]
        reports = [np.tile(one / one.sum(), (runs, 1)) for one in reports]
        samples = self.drawn(reports)
        statistic, found, under = self.statistic(samples)
        fits = [estimate(self.mechanism, one[0]) for one in samples]
        own = likelihood_ratio_test(self.hypothesis, *fits, n_simulations=0).statistic
        if abs(own - statistic[0]) > 1e-2:
            print(f"  statistic {statistic[0]:.3f}, of the package {own:.3f}")
        simulated = np.zeros(runs, dtype=bool)
        for n, one, restricted in zip(self.ns, found, under, strict=True):
            functions = np.broadcast_to(self.table, (runs, *self.table.shape))
            both = covariance(self.matrix, one, functions, n)
            variances = np.maximum(np.einsum("rkk->rk", both), 0.0)
            far = restricted @ self.table.T > 4.0 * np.sqrt(variances)
            far &= away_from_zero(self.matrix, one, functions, n, variances)
            simulated |= ~far.all(axis=1)
        most = np.full(runs, chi2.isf(0.05, self.freedom))
        if simulated.any():
            reports = [one @ self.matrix.T for one in under]
            drawn = self.drawn([one / one.sum(axis=1, keepdims=True) for one in reports])
            most[simulated] = np.quantile(self.statistic(drawn)[0][simulated], 0.95)
        return float(np.mean(statistic > most)), float(simulated.mean())

    def drawn(self, reports):
        return [
            self.rng.multinomial(n, one).astype(float)
            for n, one in zip(self.ns, reports, strict=True)
        ]

    def statistic(self, samples):
        """Statistics (r,), and the likeliest distributions, also under the hypothesis."""
        free = [likeliest(self.matrix, one) for one in samples]
        matrix, counts, k = self.matrix, np.hstack(samples), len(samples)
        if k > 1:
            matrix = np.kron(np.eye(k), matrix)
        under, restricted = likeliest(matrix, counts, self.condition)
        restricted += np.log(k) * counts.sum(axis=1)
        greatest = sum(values for _, values in free)
        found = [one for one, _ in free]
        return 2.0 * (greatest - restricted), found, np.split(k * under, k, axis=1)


def other_distribution(what, truth, under):
    """A distribution for which the hypothesis is wrong."""
    if what == "independence":
        return (truth + under) / 2
    moved = truth.copy()
    step = 0.03
    moved[0] *= 1 - step / moved[0].sum()
    moved[-1] *= 1 + step / moved[-1].sum()
    return moved


# -- the same persons in two waves ----------------------------------------------------------------


def panel(eps, sizes, runs, only):
    print(f"\nThe same persons in two waves, {runs:,} runs: coverage (error, if all were others)")
    scenes = [(kept, permanent) for kept in (0.7, 0.99) for permanent in (False, True)]
    for method, number in (("least-squares", runs), ("ml", max(runs // 20, 1))):
        for table, name, sanitizer, truth in cases(eps, only):
            for n in sizes:
                for kept, permanent in scenes:
                    line = panel_of(sanitizer.mechanism_, truth, n, kept, permanent, method, number)
                    kind = "permanent" if permanent else "fresh"
                    case = f"{table}, {name}, n = {n:,}, {kept:.0%} unchanged, {kind}, {method}"
                    print(f"{case}: {line}", flush=True)


def panel_of(mechanism, truth, n, kept, permanent, method, runs):
    """Records stay with probability `kept`, and are drawn from another distribution otherwise."""
    rng, matrix = np.random.default_rng(n), mechanism.matrix
    moved = (truth + independent_of(truth, mechanism)) / 2
    moved = (moved + other_distribution("two populations", truth, truth)) / 2
    exact = stating(mechanism, truth), stating(mechanism, kept * truth + (1 - kept) * moved)
    truth, moved = truth.ravel(), moved.ravel()
    held, shares, p_values = defaultdict(int), defaultdict(list), []
    for run in range(2 * runs):
        new = truth if run >= runs else moved  # the second half: nothing changes, for the test
        later = kept * truth + (1 - kept) * new
        changed = (1 - kept) * np.outer(matrix @ truth, matrix @ new)
        same = np.diag(matrix @ truth) if permanent else (matrix * truth) @ matrix.T
        both = rng.multinomial(round(0.6 * n), (kept * same + changed).ravel())
        both = both.reshape(len(matrix), -1)
        alone = [rng.multinomial(round(0.2 * n), matrix @ one) for one in (truth, later)]
        first, second = (
            FrequencyEstimator(mechanism, method, encode="symbol").fit(
                np.arange(len(matrix)), sample_weight=own
            )
            for own in (both.sum(axis=1) + alone[0], both.sum(axis=0) + alone[1])
        )
        rows, columns = np.nonzero(both)
        pairs = PairedReports(first, second, rows, columns, sample_weight=both[rows, columns])
        if run < runs:
            for kind, found, apart, aim in panel_figures(first, second, exact, pairs):
                ends = np.atleast_2d(found.confidence_interval())
                held[kind] += (ends[:, 0] - 1e-9 <= aim) & (aim <= ends[:, 1] + 1e-9)
                shares[kind].append(np.atleast_1d(found.std_error / apart.std_error))
            continue
        change = difference(second.marginal("number"), first.marginal("number"), paired=pairs)
        if np.isfinite(change.std_error).all():
            p_values.append(change.wald_test()[1])
    lines = []
    for kind, own in held.items():
        stated = [one for one in np.concatenate(shares[kind]) if np.isfinite(one)]
        lines.append(f"{kind} {np.mean(own / runs):.3f} ({np.mean(stated or [np.nan]):.2f})")
    rejected = np.mean([p <= 0.05 for p in p_values] or [np.nan])
    return ", ".join([*lines, f"test {rejected:.3f} of {len(p_values)}"])


def panel_figures(first, second, exact, pairs):
    """Kinds of figures: of the pairs, as of different persons, and what is true."""
    figures_ = {
        "shares": lambda e: e.marginal("number"),
        "mean": lambda e: e.mean("number"),
        "means": lambda e: e.mean("number", by="group"),
    }
    for kind, figure in figures_.items():
        for between in (difference, ratio) if kind == "mean" else (difference,):
            own = figure(second), figure(first)
            aim = between(figure(exact[1]), figure(exact[0]))
            aim = np.atleast_1d(getattr(aim, "values", getattr(aim, "value", None)))
            name = "ratio" if between is ratio else kind
            yield name, between(*own, paired=pairs), between(*own), aim


# -- naive ways -----------------------------------------------------------------------------------


def naive(eps, n, runs, only):
    print(
        f"\nLogistic regression of the secret on number and group, {n:,} reports: mean coefficients"
    )
    for table, name, sanitizer, truth in cases(eps, only):
        mechanism, joint = sanitizer.mechanism_, sanitizer.joint_
        truth = (truth + independent_of(truth, mechanism)) / 2
        cells = pd.DataFrame(
            [(s, *u) for s in mechanism.secrets for u in mechanism.values], columns=NAMES
        )
        report = mechanism.matrix @ truth.ravel()
        ways = {
            "public prior": joint.smoothed(0.5).ravel(),
            "flat prior": np.full(truth.size, 1 / truth.size),
        }
        rng, sums, solved = np.random.default_rng(0), defaultdict(float), 0
        exact = results(stating(mechanism, truth))["logit"].params.to_numpy()
        for _ in range(runs):
            counts = rng.multinomial(n, report / report.sum())
            found = results(estimate(mechanism, counts))["logit"]
            if not isinstance(found, str):
                solved += 1
                sums["reports"] += found.params.to_numpy()
            for way, prior in ways.items():
                given = mechanism.matrix * prior
                given = given / np.maximum(given.sum(axis=1, keepdims=True), 1e-300)
                sums[f"posterior, {way}"] += weighted_logit(cells, counts @ given) / runs
            probable = np.bincount(given_cells(mechanism, joint), counts, minlength=truth.size)
            sums["most probable"] += weighted_logit(cells, probable) / runs
        sums["reports"] = sums["reports"] / max(solved, 1)
        print(f"{table}, {name}: true {np.round(exact, 2)}")
        for way, values in sums.items():
            print(f"  {way:<24}{np.round(values, 2)}", flush=True)


def given_cells(mechanism, joint):
    return (mechanism.matrix * joint.smoothed(0.5).ravel()).argmax(axis=1)


def weighted_logit(cells, weights):
    """Coefficients of statsmodels for weighted records, in the order of the formula's columns."""
    kept = weights > 0
    secret = cells["secret"] == cells["secret"].iloc[-1]
    design = pd.get_dummies(cells["group"], drop_first=True, dtype=float)
    design = pd.concat([cells["number"].astype(float), design], axis=1)
    design = sm.add_constant(design.set_axis(design.columns.map(str), axis=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = sm.GLM(
            secret[kept].astype(float),
            design[kept],
            sm.families.Binomial(),
            freq_weights=weights[kept],
        ).fit()
    return fitted.params.to_numpy()


# -- time -----------------------------------------------------------------------------------------


def timing():
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "secret": rng.choice(["no", "yes"], 1_000_000),
            "a": rng.integers(0, 5, 1_000_000),
            "b": rng.integers(0, 4, 1_000_000),
            "c": rng.integers(0, 6, 1_000_000),
        }
    )
    sanitizer = SRRSanitizer(2.0, sensitive="secret", encode="symbol", random_state=0).fit(people)
    reports = sanitizer.transform(people)
    print(f"\nTime: {len(reports):,} reports, {sanitizer.joint_.probabilities.size} cells")
    start = time.process_time()
    estimator = FrequencyEstimator(sanitizer).fit(reports)
    fitted = time.process_time()
    found = logit("secret ~ a + C(b) + C(c)", estimator)
    done = time.process_time()
    print(
        f"  {len(found.params)} coefficients: estimate {fitted - start:.2f} s, regression "
        f"{done - fitted:.2f} s"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="20 runs of 10,000 reports")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--seed", type=int, default=0, help="another number: other samples")
    parser.add_argument("--eps", type=float, default=2.0)
    parser.add_argument(
        "--parts", nargs="*", default=["coverage", "steps", "tests", "panel", "naive", "time"]
    )
    parser.add_argument("--only", nargs="*", metavar="NAME", help="mechanisms or tables")
    given = parser.parse_args()
    runs, sizes = (20, (10_000,)) if given.quick else (given.runs, given.sizes)
    warnings.filterwarnings(
        "ignore", "the (reports do not determine|intervals of the coefficients)", UserWarning
    )
    if "time" in given.parts:
        timing()
    if "naive" in given.parts:
        naive(given.eps, 10_000, min(runs, 100), given.only)
    if "tests" in given.parts:
        tests(given.eps, sizes, runs, given.only, given.seed)
    if "steps" in given.parts:
        steps(given.eps, sizes, runs)
    if "panel" in given.parts:
        panel(given.eps, sizes, runs, given.only)
    if "coverage" in given.parts:
        coverage(given.eps, sizes, runs, given.only, given.seed)


if __name__ == "__main__":
    main()
