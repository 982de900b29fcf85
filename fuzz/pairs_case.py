"""A case of crossed options: what is fitted, and what its table and columns are called."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pairs_forms import PLACES


class Later(NamedTuple):
    """A parameter that is made of the case, once it has a table."""

    made: Any  # a function of the case


@dataclass
class Case:
    """What is to be fitted: a table, and the parameters of a sanitizer."""

    rng: np.random.Generator
    mechanism: str = ""
    names: tuple = ()  # of the settings
    parameters: dict = field(default_factory=dict)  # of the sanitizer, or of the base of blocks
    blocks: dict = field(default_factory=dict)  # of BlockSanitizer, if there are blocks
    secrets: int = 2
    two: bool = False  # sensitive columns
    whole: bool = False  # whether all columns are sensitive
    values: int = 3
    rare: bool = False  # values of "u" that few records have
    more: bool = False  # a second column of U
    third: bool = False  # and a third one
    n: int = 400
    zeros: float = 0.0
    declare: tuple = ()  # columns
    extra: tuple = ()  # declared columns with a value that no record has
    survey: str = ""
    counted: bool = False  # by sample_weight
    empty: bool = False  # rows that count nothing
    numbers: bool = False  # "u" has numbers
    cut: dict = field(default_factory=dict)  # edges of columns of numbers
    kind: str = "texts"  # of values
    form: str = "pandas"  # of the table
    before: bool = False  # whether the sanitizer was fitted to another table before
    table: pd.DataFrame | None = None  # the columns as they are called, for the checks
    given: Any = None  # the same as the sanitizer gets it
    places: dict = field(default_factory=dict)  # of columns that have no names
    levels: dict = field(default_factory=dict)  # values of columns that a dtype declares
    refusal: str = ""
    weights: np.ndarray | None = None
    truths: dict = field(default_factory=dict)  # known places to groups, set, leakages

    def at(self, name):
        """Return what a column is called: its name, or its place in an array."""
        return self.places.get(name, name)

    @property
    def sensitive(self):
        own = [self.at(name) for name in (["s", "r"] if self.two else ["s"])]
        return own + self._others * self.whole

    @property
    def of_u(self):
        return self._others * (not self.whole)

    @property
    def _others(self):
        return [self.at(name) for name in ["u", *["k"] * self.more, *["v"] * self.third]]

    @property
    def declared(self):
        """The columns whose values are declared."""
        given = self.parameters.get("categories")
        if isinstance(given, list):
            given = {place: own for place, own in enumerate(given) if not isinstance(own, str)}
        found = {*given} if isinstance(given, dict) else set()
        if self.form == "enums" or (given == "dtype" and self.form in LEVELLED):
            found |= {*self.sensitive, *self.of_u}
        elif self.kind == "truths" and self.form not in PLACES:
            found |= {name for name in self.table if self.table[name].dtype == bool}
        return found


LEVELLED = ("categories", "enums")
