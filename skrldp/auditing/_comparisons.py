"""What is compared: groups of records that should not be told apart, drawn at one distribution."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skrldp._typing import Booleans, Floats, Indices, Integers
from skrldp.auditing._repeated_reports import RepeatedReports
from skrldp.auditing._subject import Subject

__all__ = ["Comparison", "Groups"]


@dataclass(frozen=True, eq=False)
class Groups:
    """Cells in groups, and the pairs of groups that should not be told apart."""

    # (a1, a2), the group of each cell: the secret, the value of one sensitive column, or one of
    # these together with known values of U
    group: Indices
    names: tuple[Any, ...]  # (g,), what is secret about each group
    compared: Booleans  # (g, g), which pairs are compared
    column: str = ""  # the sensitive column, where each is protected by itself; else empty
    # (g,), in words, what is known of the records of each group; empty strings if
    # nothing is
    within: tuple[str, ...] = ()

    @classmethod
    def of_secrets(cls, secrets: tuple[Any, ...], n_values: int) -> "Groups":
        """Make one group of each secret, all of them compared."""
        n = len(secrets)
        group = np.repeat(np.arange(n)[:, None], n_values, axis=1)
        return cls(group, secrets, ~np.eye(n, dtype=bool))

    @property
    def all_secrets(self) -> bool:
        """Whether these are the secrets, all of them compared."""
        n = len(self.names)
        return not (self.column or self.within) and int(self.compared.sum()) == n * (n - 1)

    @cached_property
    def known(self) -> Indices:
        """Number of what is known of each value of U, shape (a2,)."""
        return np.unique(self.group[0], return_inverse=True)[1].reshape(-1)

    def about(self, number: int) -> str:
        """Say what a pair with this group is about; empty if it is about the secret alone."""
        of_column = f"values of {self.column}" if self.column else ""
        within = f"among those with {self.within[number]}" if self.within else ""
        return ", ".join(filter(None, (of_column, within)))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Groups at one distribution, with the claim about each pair of them."""

    groups: Groups
    distribution: Floats  # (a1, a2), distribution of (S, U) that records are drawn from
    # (g, g), what the pairs should leak at most, in nats; NaN where nothing is claimed
    claims: Floats
    # (g, g), what is promised of them, if more than that is claimed at this distribution. The pair
    # that is tested is chosen by how far it may pass this.
    bounds: Floats | None = None

    @cached_property
    def mass(self) -> Floats:
        """Probability of each group."""
        found = np.zeros(len(self.groups.names))
        np.add.at(found, self.groups.group, self.distribution)
        return found

    @cached_property
    def compared(self) -> Booleans:
        """Which pairs are compared and occur, shape (g, g)."""
        occurs = self.mass > 0
        return self.groups.compared & occurs[:, None] & occurs

    @property
    def present(self) -> Indices:
        """The groups that some other one is compared with."""
        return np.flatnonzero(self.compared.any(axis=1))

    def some(self, most: int, generator: np.random.Generator) -> Indices:
        """Choose groups to compare at random, if there are more than `most`."""
        present = self.present
        shuffled = generator.permutation(present)
        if len(present) <= most or self.compared[np.ix_(present, present)].sum() == len(present) * (
            len(present) - 1
        ):
            return shuffled[:most]
        chosen: dict[int, None] = {}  # with each group one that it is compared with
        for first in shuffled.tolist():
            if first not in chosen:
                others = np.flatnonzero(self.compared[first])
                chosen |= dict.fromkeys((first, int(generator.choice(others))))
        return np.array(list(chosen)[:most])

    def draw(self, group: int, size: int, generator: np.random.Generator) -> Integers:
        """Draw cells of one group."""
        cells = np.flatnonzero(self.groups.group.ravel() == group)
        share = self.distribution.ravel()[cells]
        share = share / share.sum()
        drawn: Integers = cells[generator.choice(len(cells), size, p=share / share.sum())]
        return drawn

    def report_distribution(
        self, subject: Subject | RepeatedReports, groups: Indices
    ) -> Floats | None:
        """Return the distribution of the known reports given each of some groups.

        Shapes: returns (number of known reports, number of groups).
        """
        found, table, known = None, self.groups.group, self.groups.known
        for code in np.unique(known[np.isin(table, groups).any(axis=0)]):
            part = np.where(known == code, self.distribution, 0.0)
            mass = part.sum(axis=1)
            conditionals = part / np.where(mass > 0, mass, 1.0)[:, None]
            conditionals /= np.where(mass > 0, conditionals.sum(axis=1), 1.0)[:, None]
            reports = subject.report_distribution(conditionals)
            if reports is None:
                return None
            own = table[:, int(np.argmax(known == code))]
            weights = np.where(own[:, None] == groups, mass[:, None], 0.0) / self.mass[groups]
            found = reports @ weights if found is None else found + reports @ weights
        return found
