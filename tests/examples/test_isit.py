"""The experiment of ISIT section V on a few instances: what the paper found, and our promises.

The seed is fixed, so nothing here fails by chance. The margins are wide all the same: of 125 such
groups of instances, all pass.
"""

import sys

import numpy as np
import pytest
from conftest import ROOT

EXAMPLES = ROOT / "examples"
sys.path.append(str(EXAMPLES))  # the workers of a parallel run get this path, too

import isit_section_v as isit  # noqa: E402

pytestmark = pytest.mark.slow
INSTANCES = 8
SMALL, LARGE = 75, 15_000


@pytest.fixture(scope="module")
def experiment():
    return isit.run(INSTANCES, (SMALL, LARGE), progress=False)


def test_without_robust_privacy_designs_leak_more_than_they_claim(experiment):
    for problem in ("NUNP", "RUNP"):
        few, many = (experiment.at(n, problem)[0] for n in (SMALL, LARGE))
        assert np.mean(few > isit.EPS) >= 0.75
        assert np.median(few) > 1.3 * isit.EPS
        assert np.mean(many > isit.EPS) >= 0.7
        assert np.median(many) < np.median(few)  # what is known better leaks less by mistake


def test_robust_privacy_holds_wherever_the_distribution_is_in_the_set(experiment):
    for n in (SMALL, LARGE):
        assert experiment.known(n).sum() >= 4  # or there is nothing to see
        for problem in ("NURP", "RURP"):
            assert np.all(experiment.at(n, problem)[0][experiment.known(n)] <= isit.EPS)


def test_the_measures_are_those_of_the_paper():
    distribution, counts = isit.draw(0, SMALL)
    mechanism = isit.design(counts, "NUNP").mechanism_
    distance, reports = 0.0, {}
    for (s, u), column in zip(isit.CELLS, mechanism.matrix.T, strict=True):
        for y, probability in zip(mechanism.symbols, column, strict=True):
            distance += distribution[s, u] * probability * (u - y) ** 2
            reports[y, s] = (
                reports.get((y, s), 0.0) + distribution[s, u] / distribution[s].sum() * probability
            )
    ratios = [p / reports[y, other] for (y, s), p in reports.items() for other in isit.SECRETS]
    (eps, far, inside, _, _), *_ = isit.measure(0, [SMALL])[0]
    assert far == pytest.approx(distance, rel=1e-12)
    assert eps == pytest.approx(np.log(max(ratios)), rel=1e-12)
    chi2 = sum((counts.ravel() / SMALL - distribution.ravel()) ** 2 / distribution.ravel())
    assert inside == (chi2 <= 23.684791304840576 / SMALL)  # ISIT (3), 14 degrees of freedom
