"""The gallery: every page opens with a question, and two quick ones are run.

The documentation's build runs them all.
"""

import ast
import sys

import numpy as np
import pytest
from conftest import ROOT

EXAMPLES = ROOT / "examples"
PAGES = sorted(EXAMPLES.glob("plot_*.py"))
THIRD_PARTIES = {"matplotlib", "numpy", "pandas", "sklearn", "skrldp", "statsmodels"}


def name_of(path):
    return path.stem


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_opens_with_a_question(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    over, title, under, blank, *introduction = ast.get_docstring(tree, clean=False)[1:].split("\n")
    assert title.endswith("?")
    assert set(over) == {"="} == set(under)
    assert len(over) == len(under) >= len(title)
    assert not blank
    assert len([line for line in introduction if line.strip()]) >= 5


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_can_be_run_and_shows_a_figure(path):
    text = path.read_text(encoding="utf-8")
    compile(text, path, "exec")
    assert text.count("\n# %%\n") >= 3
    assert "plt.subplots(" in text
    assert text.rstrip().endswith("plt.show()")  # sphinx-gallery takes pictures without it


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_needs_the_extra_for_examples_only(path):
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module.split(".")[0])
    siblings = {sibling.stem for sibling in EXAMPLES.glob("*.py")}
    assert names <= THIRD_PARTIES | siblings | sys.stdlib_module_names


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_pages_that_are_pointed_to_exist(path):
    words = path.read_text(encoding="utf-8").replace("`", " ").replace(",", " ").split()
    named = {
        word for word in words if word.startswith("plot_") and word.rstrip(".;)").endswith("py")
    }
    assert {word.rstrip(".;)") for word in named} <= {page.name for page in PAGES}


def test_asking_twice(run_example):
    page = run_example("plot_asking_twice.py")
    eps, told = page["EPS"], page["told"]
    for name, values in told.items():
        assert values[0] <= eps, name
        assert np.all(np.diff(values) > 0), name
    for name in ("GRR", "SRR", "PolyOpt, all distributions"):  # k reports leak at most k eps
        assert np.all(told[name] <= eps * page["steps"]), name
    assert told["PolyOpt"][1] > 10 * 2 * eps  # which is false of the others
    # Two draws by another route: the mechanism of pairs of reports, at one of the distributions.
    mechanism, distribution = page["sanitizers"]["PolyOpt"].mechanism_, page["distribution"]
    pairs = (mechanism.matrix[:, None] * mechanism.matrix[None]).reshape(-1, mechanism.shape[1])
    both = type(mechanism).from_matrix(pairs, mechanism.secrets, mechanism.values)
    assert 2 * eps < both.leakage(distribution.probabilities) <= told["PolyOpt"][1] + 1e-6


def test_a_first_table(run_example):
    pytest.importorskip("statsmodels")
    page = run_example("plot_first_table.py")
    kept, certificate = page["kept"], page["sanitizer"].certificate_
    assert certificate.holds(1.0)
    for column in ("married", "marriage"):
        # Some twenty standard deviations apart, so this never fails by chance.
        assert kept.loc[column, "PolyOpt"] > kept.loc[column, ["SRR", "GRR"]].max()
    # What the picture shows: reports stay within the band, the columns as they are do not.
    low, high = page["limits"]
    assert np.all((low <= page["probability"]) & (page["probability"] <= high))
    assert page["by_value"].min() < low
    assert page["by_value"].max() > high
