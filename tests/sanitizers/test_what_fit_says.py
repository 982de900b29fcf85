"""What `fit` says of a public table before it designs: rare values, combinations, identifiers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

from skrldp import (
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    PolyOptSanitizer,
)
from skrldp.exceptions import PrivacyLeakWarning

RARE = {"priest": 24, "pilot": 16, "nurse": 40, "judge": 32}


def jobs(n=1_000):
    frame = pd.DataFrame({"ill": np.arange(n) % 2, "job": "clerk", "age": np.arange(n) % 3})
    frame["job"] = frame["job"].mask(np.arange(n) % 5 < 2, "farmer")
    frame.loc[: sum(RARE.values()) - 1, "job"] = np.repeat([*RARE], [*RARE.values()])
    return frame


def test_rare_values_are_named_with_their_records():
    with pytest.warns(PrivacyLeakWarning) as told:
        IRSanitizer(sensitive="ill").fit(jobs()[["ill", "job"]])
    (message,) = (str(one.message) for one in told)
    assert "column 'job' has 4 values" in message
    assert "('pilot': 16, 'priest': 24, 'judge': 32, ...)" in message
    assert len(message) <= 250 and message.endswith("min_frequency='auto' reports them as 'other'.")
    found = IRSanitizer(sensitive="ill", min_frequency="auto")
    assert found.fit(jobs()[["ill", "job"]]).joint_.alphabet == "frequent"


def test_a_table_of_the_married_alone_does_not_pass_in_silence():
    values = {"ill": [0, 1], "marital": ["married", "single", "divorced"]}
    table = pd.DataFrame({"ill": np.arange(300) % 2, "marital": "married"})
    with pytest.warns(PrivacyLeakWarning, match="2 of 3 given values of U have no public"):
        IRSanitizer(sensitive="ill", categories=values).fit(table)
    IRSanitizer(sensitive="ill", categories=values, uncertainty=LikelihoodRatioSet(drift=0.05)).fit(
        table
    )
    GRRSanitizer(sensitive="ill", categories=values).fit(table)  # holds for every population
    table.loc[:4, "marital"] = "single"
    IRSanitizer(sensitive="ill", categories=values).fit(table)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_search_over_folds_warns_once(n_jobs):
    base = IRSanitizer(sensitive="ill")
    search = GridSearchCV(base, {"eps": [0.5, 1.0]}, cv=2, n_jobs=n_jobs)
    table = jobs()[["ill", "job"]].sample(frac=1.0, random_state=0)
    with pytest.warns(PrivacyLeakWarning, match="'pilot': 16, 'priest': 24") as told:
        search.fit(table)
    assert len(told) == 1


class Slow(PolyOptSanitizer):
    """A design of more than five cells would take long, and is not made."""

    _slow_from = 5
    _design = None


class SlowAndSmall(Slow):
    _most_cells = 7


def test_combinations_that_transform_will_refuse_are_told_before_the_design():
    seen = pd.DataFrame({"ill": [0, 1] * 100, "a": [1, 1, 2, 2] * 50, "b": [3, 3, 3, 4] * 50})
    words = "the 3 of 4 combinations of columns 'a', 'b' in the table; `transform` refuses"
    with pytest.raises(UserWarning, match=f"{words}.* categories='product' takes all"):
        Slow(sensitive="ill").fit(seen)
    with pytest.raises(UserWarning, match=r"values of S .* 3 of 4 .* categories='product'"):
        Slow(sensitive=["a", "b"]).fit(seen)
    with pytest.raises(UserWarning, match="handle_unknown='infrequent_if_exist' reports them as"):
        SlowAndSmall(sensitive="ill").fit(seen)
    found = GRRSanitizer(sensitive="ill").fit(seen)  # which takes no time: `transform` says it
    new = pd.DataFrame({"ill": [0], "a": [1], "b": [4]})
    with pytest.raises(ValueError, match=r"categories=.product. to"):
        found.transform(new)
    assert GRRSanitizer(sensitive="ill", categories="product").fit(seen).transform(new).shape


def test_what_looks_like_an_identifier_is_warned_of():
    frame = jobs()[["ill", "age"]].assign(id=range(1_000))
    with pytest.warns(
        UserWarning, match="'id' looks like an identifier: it has 1,000 values in 1,0"
    ):
        GRRSanitizer(sensitive="ill", categories="product").fit(frame)
    with pytest.raises(ValueError, match=r"'id' has 1,000 distinct values. It looks like an ident"):
        AOptimalSanitizer(sensitive="ill").fit(frame)  # which would take minutes
    few = frame[:40].assign(id=range(40))  # so few may be ages
    GRRSanitizer(sensitive="ill", categories="product").fit(few)
    GRRSanitizer(sensitive="ill", categories="product").fit(frame.assign(id=frame["id"] // 4))
    panel = frame.assign(id=frame["id"] // 3)
    with pytest.raises(ValueError, match=r"'id' has 334 distinct values. It looks like an ident"):
        AOptimalSanitizer(sensitive="ill").fit(panel)
    with pytest.raises(ValueError, match=r"rare: each has fewer than \d+ records. Join them"):
        GRRSanitizer(sensitive="ill", min_frequency="auto").fit(frame[["ill", "id"]])
    with pytest.raises(ValueError, match="rare: each has fewer than 300 records"):
        GRRSanitizer(sensitive="ill", min_frequency=0.3).fit(frame[["ill", "id"]])
