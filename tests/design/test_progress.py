"""A line of progress is written from the first second, whatever is computed meanwhile."""

import threading

import numpy as np
import pytest
from conftest import few_iterations

from skrldp import JointDistribution
from skrldp.design import criterion_problem as problems
from skrldp.design import run
from skrldp.design.criteria import Information
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.privacy.regions import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet

_LONG = 60.0  # seconds after which a line that is awaited will not come


@pytest.fixture
def lines(monkeypatch):
    """What is written, and a way to wait for it; a tick takes a millisecond."""
    monkeypatch.setattr(run, "_TICK", 1e-3)
    written, more = [], threading.Condition()
    original = run.Progress._write

    def noted(self):
        original(self)
        with more:
            written.append(self._bar.postfix)
            more.notify_all()

    monkeypatch.setattr(run.Progress, "_write", noted)

    def wait_for(words, times=1):
        def seen():
            return sum(words in line for line in written) >= times

        with more:
            assert more.wait_for(seen, _LONG), words

    return wait_for


def test_time_goes_on_while_nothing_is_reported(lines, capsys):
    with run.Progress(1, run.Limits()) as progress:
        lines("0 s", times=3)
        progress.stage = "a long program"
        lines("0 s, a long program", times=2)
    assert "a long program" in capsys.readouterr().err


def test_what_was_reached_is_shown_beside_its_bound(lines):
    quantity = Information(np.full(4, 0.25))
    with run.Progress(1, run.Limits(), quantity) as progress:
        progress.show(0.5)
        progress.show(0.25)
        lines("I(X;Y) 0.5 nats")
        progress.bound = 1.0
        lines("I(X;Y) 0.5 nats, bound 1, gap 50%")


def test_nothing_is_written_unasked(capsys):
    with run.Progress(0, run.Limits()) as progress:
        progress.show(1.0) if progress.quantity else None
        assert not any(thread.name == "skrldp" for thread in threading.enumerate())
    assert capsys.readouterr() == ("", "")


def test_stages_before_the_search_are_named(lines, monkeypatch):
    joint = JointDistribution(np.random.default_rng(0).integers(5, 90, (3, 4)))
    asked = Requirements.of(privacy_region(joint, RenyiSet(1.0, 0.01)), 0.5)
    original = problems.quick_reporting

    def slow(*arguments):
        lines("independent reports", times=2)
        return original(*arguments)

    monkeypatch.setattr(problems, "quick_reporting", slow)
    monkeypatch.setattr(problems, "_MANY_CELLS", 12)
    with few_iterations():
        solve(CriterionProblem(joint), asked, time_limit=_LONG, verbose=1)
    assert not any(thread.name == "skrldp" for thread in threading.enumerate())
