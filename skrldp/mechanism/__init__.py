"""Mechanisms: the randomised maps from records to reports, with exact probabilities.

A mechanism's probabilities are integers over a power of two, so that the matrix that is certified
and the matrix that is sampled are the same. A :class:`Mechanism` names its cells and reports, and
stores its weights in one of three forms: dense (any matrix), by values of U (any mechanism that
observes U alone) and block (the closed forms, whose matrix on thousands of cells would be too
large). Only NumPy is imported here, since clients use this package.
"""

from skrldp.mechanism._base import Mechanism
from skrldp.mechanism._bounded_reports import bound_of_reports
from skrldp.mechanism._categories import as_json, check_categories
from skrldp.mechanism._forms import BlockForm, DenseForm, Form, ValuesForm
from skrldp.mechanism._guarantee import (
    FurtherBound,
    Guarantee,
    ProvenBound,
    beta_together,
    bound_of_several,
)
from skrldp.mechanism._manifest import Manifest, read_json
from skrldp.mechanism._messages import (
    REPORTS,
    further_lines,
    known_in_groups,
    lines_of,
    lines_of_blocks,
    notes_of,
)
from skrldp.mechanism._rounding import slot_bits
from skrldp.mechanism._stated_sets import (
    RULES,
    STATED_SETS,
    StatedLikelihoodRatioSet,
    StatedRenyiSet,
    StatedSet,
)

__all__ = [
    "REPORTS",
    "RULES",
    "STATED_SETS",
    "BlockForm",
    "DenseForm",
    "Form",
    "FurtherBound",
    "Guarantee",
    "Manifest",
    "Mechanism",
    "ProvenBound",
    "StatedLikelihoodRatioSet",
    "StatedRenyiSet",
    "StatedSet",
    "ValuesForm",
    "as_json",
    "beta_together",
    "bound_of_reports",
    "bound_of_several",
    "check_categories",
    "further_lines",
    "known_in_groups",
    "lines_of",
    "lines_of_blocks",
    "notes_of",
    "read_json",
    "slot_bits",
]
