"""The experiments of Entropy section 8: how informative robust mechanisms are, and what they leak.

``plot_entropy_section_8.py`` draws what this module computes, and ``docs/reproduced.md`` states
which results agree with the paper. As a script it computes the tables behind Figures 2 to 5 and
Table 2:

    python examples/entropy_section_8.py --full --cache DIR --save DIR --adult FILE

Every design is stored as one line of a cache file as soon as it is computed, so that an interrupted
run continues where it stopped. Each mechanism comes from a public estimator and is certified as it
is sampled. Each distribution and table has its own random stream, so that its results do not depend
on the number of distributions or processes.
"""

import argparse
import hashlib
import json
import os
import time
import warnings
from dataclasses import asdict, astuple, dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import binom
from sklearn.base import clone
from threadpoolctl import threadpool_limits
from tqdm import tqdm

import skrldp
from skrldp import (
    GRRSanitizer,
    IRSanitizer,
    NonRobustSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    SkrldpError,
    SRRSanitizer,
)
from skrldp.design.closed_form import divided_reporting
from skrldp.design.mutual_information import Information
from skrldp.support_function import cell_bounds

RECORDS = 32_561  # of Adult, and drawn from each synthetic distribution
BETA = 0.05
SEED = 2024
# The smallest ε in the paper is 0.075, and Figure 5 and Table 2 use 1.5. The paper does not state
# the others.
GRID = (0.075, 0.15, 0.225, 0.3, 0.45, 0.6, 0.75, 0.9, 1.2, 1.5)
# Attributes of Adult for S and for U; the synthetic alphabets have the same sizes.
ADULT = {
    (2, 5): ("sex", "race"),
    (5, 2): ("race", "sex"),
    (15, 16): ("occupation", "education"),
    (42, 6): ("native-country", "relationship"),
}
SHAPES = tuple(ADULT)
FEW = SHAPES[:2]  # those for which the paper's PolyOpt is feasible
COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status"),
    *("occupation", "relationship", "race", "sex", "capital-gain", "capital-loss"),
    *("hours-per-week", "native-country", "income"),
]

# -- the mechanisms -------------------------------------------------------------------------------


class AsInThePaper(PolyOptSanitizer):
    """PolyOpt at the public distribution as it is: cells without records have no weight."""

    def _criterion(self, joint, requirements):
        return Information(requirements.fold(joint.probabilities))


def _polyopt(sanitizer=PolyOptSanitizer, **closely):
    return lambda eps, ball, limit: sanitizer(
        eps, uncertainty=clone(ball).set_params(**closely), time_limit=limit
    )


def l1_radius(p, marginal, alpha, radius):
    """Upper bound on the ℓ1 distance of the ball's conditionals from the public ones, (a1,).

    With H(ρ) the greatest probability that the ball gives to a set of public probability ρ, it is
    the peak of the concave 2(H(ρ) − ρ) above the smallest probability (Entropy (30), Proposition 2;
    Theorem 10 of docs/proofs.md). Shapes: `p` (a1, a2), `marginal` (a1,), `radius` (a1,) or 1.
    """
    p, marginal = np.asarray(p), np.asarray(marginal)
    radii = np.broadcast_to(radius, len(p))

    def excess(secret, probabilities):
        own = slice(secret, secret + 1)
        upper = cell_bounds(probabilities[None], marginal[own], alpha, radii[own])[1][0]
        return np.maximum(2.0 * (upper - probabilities), 0.0)

    peaks = [concave_peak(partial(excess, s), own.min()) for s, own in enumerate(p)]
    return np.where(marginal > 0, np.minimum(peaks, 2.0), 2.0)


def concave_peak(function, start, points=65, grids=12):
    """Greatest value on [start, 1] of a concave function, by ever finer grids, from above."""
    grid = np.linspace(start, 1.0, points)
    values = function(grid)
    for _ in range(grids):
        best = int(values.argmax())
        grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, points - 1)], points)
        values = function(grid)
    # By concavity the peak lies at most one last step's rise above the best value seen.
    return float(values.max() + np.abs(np.diff(values)).max())


def theorem5_distance(region):
    """Bound d on the ℓ1 distance of two conditionals of the ball (Entropy (62)); at most 2."""
    p = region.conditionals
    first, second = region.pairs
    if p.shape[1] == 1 or len(first) == 0:  # U has one value, so it is not informative
        return 0.0
    apart = np.abs(p[first] - p[second]).sum(axis=1).max()
    radii = l1_radius(p, region.weights, region.alpha, region.single_budgets)
    return min(2.0, 2.0 * float(radii.max()) + float(apart))


def theorem5_reporting(joint, region, eps):
    """Independent reports, where U has the corrected budget of Entropy Theorem 5."""
    distance = theorem5_distance(region)

    def value_eps(parts):
        if distance == 0:
            return np.full(parts.shape, np.inf)
        return np.log1p(2.0 * np.expm1(parts) / distance)

    return divided_reporting(joint, eps, value_eps)


class IRAsInThePaper(IRSanitizer):
    """Independent reporting with the budget of the paper's Theorem 5."""

    def _reporting(self, promise):
        (requirement,) = promise.over()
        return theorem5_reporting(promise.joint, requirement.region, requirement.eps)


def _reporting(sanitizer):
    return lambda eps, ball, limit: sanitizer(eps, uncertainty=ball)


METHODS = {
    # as in the paper
    "GRR": lambda eps, ball, limit: GRRSanitizer(eps, uncertainty=ball),
    "SRR": lambda eps, ball, limit: SRRSanitizer(eps, uncertainty=ball),
    "IR": _reporting(IRAsInThePaper),
    "PolyOpt": _polyopt(AsInThePaper, region="lower", same_secret=True),
    "NR": lambda eps, ball, limit: NonRobustSanitizer(eps, time_limit=limit),
    # our additions: regions that are less and less cautious, and the tight budget
    "lower": _polyopt(region="lower"),
    "box": _polyopt(region="box"),
    "product": _polyopt(region="product"),
    "joint": _polyopt(region="joint"),
    "IR, tight": _reporting(IRSanitizer),
}
CLOSED = ("GRR", "SRR", "IR")
PAPER = (*CLOSED, "PolyOpt", "NR")
REGIONS = ("PolyOpt", "lower", "box", "product", "joint", "NR")


@dataclass(frozen=True)
class Task:
    """One design.

    Attributes
    ----------
    data : {"synthetic", "adult"}
        Source of the public table.
    shape : tuple of int
        Numbers of secrets and of values.
    method : str
        A key of ``METHODS``.
    eps : float
    beta : float
    instance : int
        Number of the synthetic distribution.
    limit : float or None
        Time limit of the solver, in seconds. A design that reaches it depends on the machine.
    """

    data: str
    shape: tuple
    method: str
    eps: float
    beta: float = BETA
    instance: int = 0
    limit: float | None = None


# -- the tables -----------------------------------------------------------------------------------


def draw(shape, instance):
    """Draw a distribution from Jeffreys' prior, and the counts of 32,561 records from it.

    Returns
    -------
    distribution, counts : arrays of the given shape
    """
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(*shape, instance)))
    distribution = rng.dirichlet(np.full(shape[0] * shape[1], 0.5))
    return distribution.reshape(shape), rng.multinomial(RECORDS, distribution).reshape(shape)


@lru_cache(maxsize=1)
def adult_counts(source):
    """Count the 32,561 records of ``adult.data``, with missing values ("?") as a further category.

    Parameters
    ----------
    source : str or Path
        The file of the UCI repository, or "fetch" to download it from OpenML with scikit-learn,
        which stores a copy.

    Returns
    -------
    dict
        A table of counts for each alphabet, secrets in rows.

    Raises
    ------
    ValueError
        If the records differ from those that the paper used.
    """
    if str(source) == "fetch":
        from sklearn.datasets import fetch_openml

        # OpenML has the 16,281 records of adult.test first, and None where UCI has "?".
        frame = fetch_openml("adult", version=2, as_frame=True).frame.iloc[-RECORDS:]
        used = sorted({name for pair in ADULT.values() for name in pair})
        records = frame[used].astype(object).where(frame[used].notna(), "?").astype(str)
    else:
        records = pd.read_csv(source, names=COLUMNS, skipinitialspace=True)
    counts = {
        shape: pd.crosstab(records[secret], records[value]).to_numpy().astype("<i8")
        for shape, (secret, value) in ADULT.items()
    }
    content = b"".join(each.tobytes() for each in counts.values())
    if hashlib.sha256(content).hexdigest() != _ADULT_DIGEST:
        raise ValueError(
            f"{source} does not hold the {RECORDS:,} records of the UCI repository's adult.data: "
            "their counts differ. Give the path of that file, unchanged and without adult.test."
        )
    return counts


# SHA-256 of the four tables of counts
_ADULT_DIGEST = "276a5e8e192f193a4a45692e056100fa2deffa68f9e5bc61f289447534cbde94"


def table(task, adult=None):
    """Return the true distribution (None if it is unknown) and the public counts of a task."""
    if task.data == "synthetic":
        return draw(task.shape, task.instance)
    if adult is None:
        raise ValueError("Adult's records are needed: give the path of adult.data, or 'fetch'.")
    return None, adult_counts(str(adult))[task.shape]


# -- one design -----------------------------------------------------------------------------------


def measure(task, adult=None):
    """Design a mechanism from the public counts, and measure it at the distribution behind them.

    Returns
    -------
    dict
        ``nmi``: I(X; Y) / H(X) at the public distribution. ``information``: I(X; Y) there, in nats.
        ``proven``: the certificate's bound on the leakage over the confidence set. ``seconds`` of
        processor time, the ``status`` of the design and, for synthetic tables, ``true_information``
        and ``true_eps``, the leakage ε*, at the true distribution, and whether it is ``inside`` the
        set. If there is no mechanism, ``error`` instead of all this.
    """
    distribution, counts = table(task, adult)
    a1, a2 = counts.shape
    ball = RenyiBall(alpha=2.0, beta=task.beta)
    sanitizer = METHODS[task.method](task.eps, ball, task.limit)
    # keep categories without records in the alphabet
    sanitizer.set_params(sensitive=0, categories=[list(range(a1)), list(range(a2))])
    start = time.process_time()
    with warnings.catch_warnings(), threadpool_limits(1):
        # Ignore warnings about designs without a set and about few records, because we measure
        # their effect.
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        try:
            sanitizer.fit(np.argwhere(counts >= 0), sample_weight=counts.ravel())
        except SkrldpError as error:
            return {"error": f"{type(error).__name__}: {error}"}
    seconds = time.process_time() - start
    mechanism = sanitizer.mechanism_
    found = {
        "nmi": sanitizer.normalized_mutual_information_,
        "information": sanitizer.mutual_information_,
        "proven": sanitizer.certificate_.eps,
        "seconds": round(seconds, 3),
        "status": sanitizer.solution_.status,
    }
    if distribution is not None:
        chi2 = float(((counts / counts.sum() - distribution) ** 2 / distribution).sum())
        radius = ball.radius_for(int(counts.sum()), counts.size)
        found |= {
            "true_information": mechanism.mutual_information(distribution),
            "true_eps": mechanism.leakage(distribution),
            "inside": bool(np.log1p(chi2) <= radius),
        }
    return found


# -- many designs ---------------------------------------------------------------------------------


class Cache:
    """Designs that have been computed: a file with one line of JSON for each.

    A line is identified by the task, the table, the distribution and the version of the package. It
    is written immediately and in one piece. If the last line is incomplete, because the machine
    stopped, it is ignored and computed again. Only one process at a time may write.

    Parameters
    ----------
    folder : Path or None
        Folder of the file; with None, nothing is stored.
    """

    def __init__(self, folder=None):
        self.known, self.path, self._whole = {}, None, None
        if folder is None:
            return
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.path = Path(folder) / "entropy_section_8.jsonl"
        if not self.path.exists():
            return
        text = self.path.read_text(encoding="utf-8")
        whole, _, cut = text.rpartition("\n")
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                entry = json.loads(line)
                self.known[entry["key"]] = entry["found"]
            except (ValueError, LookupError, TypeError) as error:
                raise ValueError(
                    f"{self.path}, line {number}, is not a design: delete that line."
                ) from error
        if cut:
            self._whole = len(text.encode()) - len(cut.encode())

    def add(self, key, found):
        """Store a design in memory and in the file."""
        self.known[key] = found
        if self.path is None:
            return
        if self._whole is not None:  # only now, so that reading alone changes nothing
            os.truncate(self.path, self._whole)
            self._whole = None
        line = json.dumps({"key": key, "found": found}) + "\n"
        with self.path.open("ab", buffering=0) as file:
            file.write(line.encode())


def key_of(task, adult=None):
    """Return a name that contains everything on which a design depends."""
    digest = hashlib.sha256()
    for part in table(task, adult):
        digest.update(b"" if part is None else np.ascontiguousarray(part).tobytes())
    return json.dumps([skrldp.__version__, digest.hexdigest()[:16], *astuple(task)])


def run(tasks, *, cache=None, adult=None, jobs=1, compute=True, progress=True):
    """Compute the tasks that the cache does not contain.

    Parameters
    ----------
    tasks : list of Task
    cache : path or Cache, optional
        The cache, or its folder.
    adult : path or "fetch", optional
        Path of Adult's records, if a task needs them.
    jobs : int
        Number of processes; -1 for one per core.
    compute : bool
        Whether to compute tasks that the cache does not contain, rather than omit them.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    pandas.DataFrame
        A row for each task, with its attributes and the measurements.
    """
    tasks = list(dict.fromkeys(tasks))
    cache = cache if isinstance(cache, Cache) else Cache(cache)
    keys = [key_of(task, adult) for task in tasks]
    if not compute:
        known = [(task, key) for task, key in zip(tasks, keys, strict=True) if key in cache.known]
        return frame_of((task, cache.known[key]) for task, key in known)
    missing = [(task, key) for task, key in zip(tasks, keys, strict=True) if key not in cache.known]
    results = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(measure)(task, adult) for task, _ in missing
    )
    with tqdm(
        total=len(tasks), initial=len(tasks) - len(missing), unit="design", disable=not progress
    ) as bar:
        for (task, key), found in zip(missing, results, strict=True):
            cache.add(key, found)
            bar.set_postfix_str(f"{task.method}, {task.shape[0]}x{task.shape[1]}", refresh=False)
            bar.update()
    return frame_of((task, cache.known[key]) for task, key in zip(tasks, keys, strict=True))


def frame_of(designs):
    """Return a table of tasks and their results, with a column for every possible result."""
    rows = [{**asdict(task), **found} for task, found in designs]
    more = ("nmi", "information", "proven", "seconds", "status", "true_information", "true_eps")
    names = [*Task.__dataclass_fields__, *more, "inside", "error"]
    return pd.DataFrame(rows, columns=names)


# -- the designs of a figure -----------------------------------------------------------------


@dataclass(frozen=True)
class Size:
    """Number of distributions, values of ε and time limits.

    Attributes
    ----------
    instances : int
        Number of synthetic distributions for the methods of the paper.
    grid : tuple of float
        Their ε.
    ours, ours_grid : int and tuple of float
        The same for our additions on ten cells, which take longer.
    ladder : int
        Number of distributions for the comparison of regions.
    large, large_grid : int and tuple of float
        The same for PolyOpt at hundreds of cells.
    limit, large_limit : float
        Time limits for each of our designs on ten cells and on hundreds, in seconds.
    """

    instances: int
    grid: tuple
    ours: int
    ours_grid: tuple
    ladder: int
    large: int
    large_grid: tuple
    limit: float = 10.0
    large_limit: float = 60.0


FULL = Size(100, GRID, 100, (0.075, 0.15, 0.3, 0.75, 1.5), 20, 5, (0.3, 0.9, 1.5))
SMALL = Size(3, (0.075, 0.3, 1.5), 1, (0.075, 0.3, 1.5), 1, 1, (1.5,), 1.0, 3.0)
BETAS = (0.1, 0.01, 0.001)
LADDER = (0.075, 0.3, 1.5)
FIGURES = ("2", "3", "4", "5", "table2", "regions")
CURVES = ("paper", "ours", "large")


def plan(figure, size, curves=CURVES):
    """List the designs that a figure shows.

    Parameters
    ----------
    figure : str
        One of ``FIGURES``; "regions" is not in the paper and compares the relaxations.
    size : Size
    curves : subset of ("paper", "ours", "large")
        The paper's methods, ours, and PolyOpt at hundreds of cells.

    Returns
    -------
    list of Task
    """
    if figure == "5":
        figure, size = "3", _only(size, 1.5)
    data = "adult" if figure == "2" else "synthetic"
    tasks = []
    for kind in curves:
        for instance in range(1 if data == "adult" else _instances(figure, kind, size)):
            for shape in SHAPES:
                for method, eps, beta, limit in _settings(figure, kind, shape, size):
                    tasks.append(Task(data, shape, method, eps, beta, instance, limit))
    return tasks


def _only(size, eps):
    changed = {"grid": (eps,), "ours_grid": (eps,), "large_grid": (eps,)}
    return Size(**{**asdict(size), **changed})


def _instances(figure, kind, size):
    if figure == "regions":
        return size.ladder
    return {"paper": size.instances, "ours": size.ours, "large": size.large}[kind]


def _settings(figure, kind, shape, size):
    """Yield method, ε, β and time limit of the designs that a figure shows for an alphabet."""
    few = shape in FEW
    if figure == "regions":
        if kind == "ours" and few:
            for eps in LADDER:
                for method in REGIONS:
                    yield method, eps, BETA, _limit(method, size)
        return
    betas = BETAS if figure == "table2" else (BETA,)
    if kind == "large":
        grid = (1.5,) if figure == "table2" else size.large_grid
        wanted = [] if few or figure in ("4", "table2") else ["joint"]
    elif kind == "ours":
        # Adult is one table, so there is time for every ε
        grid = {"table2": (1.5,), "2": size.grid}.get(figure, size.ours_grid)
        wanted = {"4": ["joint"], "table2": ["joint", "IR, tight"]}.get(
            figure, ["lower", "joint", "IR, tight"]
        )
        if not few:  # the others take minutes there
            wanted = [method for method in wanted if method == "IR, tight"]
    else:
        grid = (1.5,) if figure == "table2" else size.grid
        wanted = {"4": ["PolyOpt", "NR"], "table2": ["SRR", "IR", "PolyOpt"]}.get(figure, PAPER)
        if not few:
            wanted = [method for method in wanted if method in CLOSED and figure != "4"]
    limit = size.large_limit if kind == "large" else None
    for eps in grid:
        for beta in betas:
            for method in wanted:
                yield method, eps, beta, limit or _limit(method, size)


def _limit(method, size):
    # enumeration takes a tenth of a second, a closed form less
    return size.limit if method in ("box", "product", "joint") else None


# -- the tables of the figures
# ------------------------------------------------------------------------


def curves_of(designs, by="eps"):
    """Figures 2 and 3: the mean of the normalised information, and its standard error.

    Returns
    -------
    pandas.DataFrame
        By data, alphabet, method and ε: ``mean``, ``se`` (NaN for one table), ``count``, ``cut``
        (designs that reached their time limit), ``failed`` (designs without a mechanism, which the
        mean omits), and ``gain`` and ``gain_se``: by how much the mean exceeds that of ``baseline``
        on the same tables. ``level`` is the mean of the baseline on all its tables plus the gain.
        It is the mean itself if the method was computed on all of them.
    """
    cut = (designs["status"] == "time_limit").astype(int)
    frame = (
        _grouped(designs.assign(cut=cut), by)
        .agg(
            mean=("nmi", "mean"),
            se=("nmi", "sem"),
            count=("nmi", "count"),
            cut=("cut", "sum"),
            failed=("error", "count"),
        )
        .reset_index()
    )
    names = ["data", "shape", "method", by]
    found = designs.set_index([*names, "instance"])["nmi"].sort_index()
    mean = frame.set_index(names)["mean"]
    more = []
    for data, text, method, at, own in frame[[*names, "mean"]].itertuples(index=False):
        shape = tuple(int(size) for size in text.split("x"))
        other = baseline(method, shape)
        if (data, text, other, at) not in mean.index:
            more.append((None, np.nan, np.nan, own))
            continue
        gain = (found.loc[data, shape, method, at] - found.loc[data, shape, other, at]).dropna()
        level = mean.loc[data, text, other, at] + gain.mean()
        more.append((other, gain.mean(), gain.sem(), level))
    return frame.join(pd.DataFrame(more, columns=["baseline", "gain", "gain_se", "level"]))


def table_2_of(designs):
    """Table 2: the same by significance level β, at one ε."""
    return curves_of(designs, "beta")


def baseline(method, shape):
    """Return the paper's method with which one of ours is compared; None for the paper's own."""
    if method in PAPER:
        return None
    return "PolyOpt" if shape in FEW and not method.startswith("IR") else "IR"


def leakage_of(designs):
    """Figure 4: quartiles of the realised ε* at the true distribution, and how often it exceeds ε.

    Returns
    -------
    pandas.DataFrame
        By alphabet, method and ε: ``q25``, ``q75``, 95 % limits of the latter (``q75_low``,
        ``q75_high``), ``median``, ``worst``, ``above`` (share of ε* > ε), ``inside`` (share of true
        distributions in the confidence set) and ``count``.
    """
    designs = designs[designs["error"].isna()]
    designs = designs.assign(above=designs["true_eps"] > designs["eps"])
    groups = _grouped(designs, "eps")
    eps = groups["true_eps"]
    frame = pd.DataFrame({f"q{q}": eps.quantile(q / 100) for q in (25, 75)})
    limits = eps.apply(lambda values: pd.Series(quantile_limits(values, 0.75))).unstack()
    frame = frame.assign(q75_low=limits[0], q75_high=limits[1])
    frame = frame.assign(median=eps.median(), worst=eps.max(), above=groups["above"].mean())
    inside = designs.assign(inside=designs["inside"].astype(float))
    return frame.assign(
        inside=_grouped(inside, "eps")["inside"].mean(), count=eps.count()
    ).reset_index()


def quantile_limits(values, share, level=0.95):
    """Return confidence limits of a quantile: order statistics, valid for any distribution."""
    ordered, tail = np.sort(np.asarray(values, dtype=float)), (1.0 - level) / 2.0
    ranks = binom.ppf([tail, 1.0 - tail], len(ordered), share).astype(int)
    low, high = ranks[0] - 1, ranks[1]  # indices of the ordered values
    return (
        ordered[low] if low >= 0 else -np.inf,
        ordered[high] if high < len(ordered) else np.inf,
    )


def differences_of(designs):
    """Figure 5: quantiles of (I at P̂ − I at P*) / I at P̂.

    Returns
    -------
    pandas.DataFrame
        By alphabet, method and ε: ``min``, ``q25``, ``median``, ``q75``, ``max``, ``positive`` (the
        share of differences above 0) and ``count``.
    """
    designs = designs[designs["error"].isna()]
    change = 1.0 - designs["true_information"] / designs["information"]
    groups = _grouped(designs.assign(change=change, positive=change > 0), "eps")
    names = {"min": 0.0, "q25": 0.25, "median": 0.5, "q75": 0.75, "max": 1.0}
    frame = pd.DataFrame({name: groups["change"].quantile(q) for name, q in names.items()})
    return frame.assign(
        positive=groups["positive"].mean(), count=groups["change"].count()
    ).reset_index()


def _grouped(designs, by):
    named = designs.assign(shape=[f"{a1}x{a2}" for a1, a2 in designs["shape"]])
    return named.groupby(["data", "shape", "method", by], sort=False)


SUMMARIES = {
    "2": curves_of,
    "3": curves_of,
    "4": leakage_of,
    "5": differences_of,
    "table2": table_2_of,
    "regions": curves_of,
}


def save(figure, designs, folder):
    """Write the table of a figure as CSV, with five significant digits."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name = figure if figure in ("table2", "regions") else f"figure_{figure}"
    path = folder / f"entropy_{name}.csv"
    SUMMARIES[figure](designs).to_csv(path, index=False, float_format="%.5g")
    return path


def adult_source(given):
    """Return the given path, else that of the environment variable, else None."""
    return given or os.environ.get("SKRLDP_ADULT") or None


def arguments(description):
    """Create the options that the script and the page share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--full", action="store_true", help="100 distributions: hours")
    parser.add_argument(
        "--adult",
        metavar="FILE",
        help="UCI's adult.data, or 'fetch' to get it from OpenML; else $SKRLDP_ADULT is looked at",
    )
    parser.add_argument("--cache", metavar="DIR", help="keep every design there, and go on from it")
    parser.add_argument("--save", type=Path, metavar="DIR", help="write there what is shown")
    parser.add_argument("--jobs", type=int, default=1, help="processes; -1 for one on each core")
    return parser


def main():
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--figure", choices=FIGURES, nargs="+", default=list(FIGURES))
    parser.add_argument(
        "--curves",
        choices=CURVES,
        nargs="+",
        default=list(CURVES),
        help="the paper's methods, ours, and PolyOpt at hundreds of cells",
    )
    names = {"x".join(map(str, shape)): shape for shape in SHAPES}
    parser.add_argument("--shape", choices=names, nargs="+", default=list(names))
    parser.add_argument("--method", choices=METHODS, nargs="+", default=list(METHODS))
    parser.add_argument("--known", action="store_true", help="compute nothing: what the cache has")
    parser.add_argument("--first", type=int, metavar="K", help="the first K distributions alone")
    options = parser.parse_args()
    adult, size = adult_source(options.adult), FULL if options.full else SMALL
    shapes = {names[name] for name in options.shape}
    for figure in options.figure:
        if figure == "2" and adult is None:
            print("Figure 2 left out: give Adult's records by --adult or $SKRLDP_ADULT.")
            continue
        tasks = [
            task
            for task in plan(figure, size, options.curves)
            if task.shape in shapes and task.method in options.method
        ]
        if options.first is not None:
            tasks = [task for task in tasks if task.instance < options.first]
        if not tasks:
            continue
        print(f"Figure {figure}: {len(tasks):,} designs", flush=True)
        designs = run(
            tasks,
            cache=options.cache,
            adult=adult,
            jobs=options.jobs,
            compute=not options.known,
        )
        print(SUMMARIES[figure](designs).to_string(index=False, float_format="%.4f"))
        for message in designs["error"].dropna().unique():
            print(f"No mechanism: {message}")
        if options.save is not None:
            print(f"Written: {save(figure, designs, options.save)}")


if __name__ == "__main__":
    main()
