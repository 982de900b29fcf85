"""Changed mechanisms and proofs, other ones than are kept: Node and Python treat them alike."""

import shutil
import sys

import numpy as np
import pytest
from conftest import ROOT, few_iterations

sys.path.insert(0, str(ROOT / "fuzz"))
import changed_proofs
import changed_texts
import pairs

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node is missing")


def test_both_clients_read_changed_texts_alike():
    assert changed_texts.compare(1000, seed=1) == []


def test_both_checkers_say_the_same():
    holding, different = changed_proofs.compare(150, seed=2)  # make fuzz compares more
    assert holding > 20 and different == []


CROSSED = [
    [("mechanism", "AOptimal"), ("known", "one column"), ("values", "days")],
    [("mechanism", "GRR"), ("blocks", "bins"), ("table", "array")],
]


@pytest.mark.parametrize("chosen", CROSSED)
def test_both_say_the_same_of_crossed_options(chosen):
    node = pairs.Node()
    with few_iterations():
        assert pairs.check(pairs.make_case(chosen, np.random.default_rng(3)), node) == "true"
    lines, answers = node.lines[-1:], list(node.answers)
    assert node.ask() > 3
    node.lines, node.answers = lines, [{**answers[-1], "eps": 0.0}]
    with pytest.raises(pairs.FalseClaimError, match="JavaScript says"):
        node.ask()
