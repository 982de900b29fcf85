"""What sanitizers make of declared levels, of all combinations and of tables that are too large."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

import skrldp
from skrldp import (
    GRRSanitizer,
    IRSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
)
from skrldp.sanitizers.parameters import larger_designs


def test_one_unseen_combination_spoils_no_search():
    pairs = [(0, "a"), (1, "a"), (2, "a"), (0, "b"), (1, "b")] * 12 + [(2, "b")]
    X = pd.DataFrame(pairs, columns=["u", "v"])
    X.insert(0, "s", np.arange(len(X)) % 2)
    grid = {"eps": [0.5, 1.0]}
    search = GridSearchCV(
        SRRSanitizer(sensitive="s", categories="product"), grid, cv=3, error_score="raise"
    )
    search.fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    with pytest.raises(ValueError, match="combination of known values was unseen in fit"):
        GridSearchCV(SRRSanitizer(sensitive="s"), grid, cv=3, error_score="raise").fit(X)


@pytest.mark.parametrize("of", [pd.DataFrame.copy, pd.DataFrame.to_numpy])
def test_columns_with_integer_names_in_another_order_are_refused(of):
    """Also where fit saw an array, whose columns are called 0, 1, ...; else U would be S."""
    X = pd.DataFrame([[0, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 0]] * 50)
    sanitizer = SRRSanitizer(sensitive=0).fit(of(X))
    for use in (sanitizer.transform, sanitizer.score):
        with pytest.raises(ValueError, match="same order as they were in fit"):
            use(X[[1, 0, 2]])
    assert sanitizer.transform(X[[1, 0, 2]].to_numpy()).shape == X.shape  # which has no names
    assert sanitizer.transform(X.set_axis([5, 4, 3], axis=1).to_numpy()).shape == X.shape
    blind = RobustMSESanitizer(sensitive=0, distance="hamming", observe="nonsensitive").fit(of(X))
    assert blind.transform(X[[1, 2]]).shape == (200, 2)
    for names in ([2, 1], [0, 2, 1]):
        with pytest.raises(ValueError, match=r"order|U alone"):
            blind.transform(X[names])


def test_who_holds_larger_tables_is_told():
    """The numbers in the message are the sanitizers' own."""
    X = [[row % 2, f"{row // 50}", f"{row % 50}"] for row in range(5000)]
    with pytest.raises(
        ValueError, match=r"at least 5,000 cells, .*GRRSanitizer 1,000,000, BlockSanitizer"
    ) as caught:
        PolyOptSanitizer(sensitive=0, categories="product").fit(X)
    assert "IRSanitizer 4,000" in str(caught.value)
    with pytest.raises(
        ValueError, match=r"Others hold more: SRRSanitizer 1,000,000, GRRSanitizer 1,000,000, Block"
    ):
        IRSanitizer(sensitive=0, categories="product").fit(X)
    assert larger_designs(GRRSanitizer._most_cells) == "Others hold more: BlockSanitizer."
    classes = [getattr(skrldp, name) for name in skrldp.__all__ if name.endswith("Sanitizer")]
    most = {cls.__name__: cls._most_cells for cls in classes if cls is not skrldp.BlockSanitizer}
    for limit in set(most.values()):
        words = larger_designs(limit)
        for name, own in most.items():
            assert (f"{name} {own:,}" in words) == (own > limit)
