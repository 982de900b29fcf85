"""Nothing is done twice between a table and its reports."""

from skrldp import GRRSanitizer, LikelihoodRatioSet, RenyiBall, RobustMSESanitizer
from skrldp.table import read


def test_a_table_is_read_once(monkeypatch):
    """In `fit`, and in `transform` with the reports that it writes."""
    calls, check = [], read._refuse_column_names
    monkeypatch.setattr(read, "_refuse_column_names", lambda X: (calls.append(X), check(X)))
    rows = [["no", "rare"], ["yes", "often"], ["yes", "rare"]]
    sanitizer = GRRSanitizer(sensitive=0).fit(rows, sample_weight=[7, 10, 26])
    assert len(calls) == 1
    sanitizer.transform(rows)
    assert len(calls) == 2


def test_each_set_is_fitted_once(monkeypatch):
    """That of privacy, and the one beside it for the worst distance."""
    calls = []
    for kind in (LikelihoodRatioSet, RenyiBall):
        fit = kind.fit_set
        monkeypatch.setattr(
            kind, "fit_set", lambda self, joint, fit=fit: calls.append(self) or fit(self, joint)
        )
    rows = [[s, u] for s in range(2) for u in range(3)]
    RobustMSESanitizer(sensitive=0).fit(rows, sample_weight=[300, 200, 100, 150, 250, 500])
    assert [type(one) for one in calls] == [LikelihoodRatioSet, RenyiBall]
