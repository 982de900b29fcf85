"""A run of a design: its progress, its threads, and how far from the optimum it says it is."""

import re
import threading
import time
from threading import Barrier, get_ident

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp.design import run
from skrldp.design.criteria import Information
from skrldp.design.run import Solution, Workers

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


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
def test_results_are_in_order_and_each_item_is_done_once(n_jobs):
    workers, done = Workers(n_jobs), []
    for count in (0, 1, 2, 7, 50):
        done.clear()
        found = workers.map(lambda i: done.append(i) or (i, -i), range(count))
        assert found == [(i, -i) for i in range(count)]
        assert sorted(done) == list(range(count))
    workers.close()


def test_all_threads_work_at_the_same_time_and_the_one_that_calls_is_one_of_them():
    workers, meeting = Workers(3), Barrier(3)

    def wait(_):
        meeting.wait(timeout=30.0)
        return get_ident()

    found = workers.map(wait, range(3))
    assert len(set(found)) == 3 and get_ident() in found
    workers.close()


@pytest.mark.parametrize("wrong", [0, 4])
@pytest.mark.parametrize("kind", [ZeroDivisionError, IndexError])
def test_an_error_is_raised_and_ends_the_work(wrong, kind):
    workers, done = Workers(2), []

    def fail(i):
        if i == wrong:
            raise kind
        time.sleep(1e-3)
        done.append(i)

    with pytest.raises(kind):
        workers.map(fail, range(1000))
    assert len(done) < 500
    assert workers.map(abs, [-1, -2]) == [1, 2]  # it goes on after that
    workers.close()


VALUES = st.floats(1e-3, 1e3)


def words(objective, bound):
    return Solution("optimal", "x", objective, bound, 1, 0.1, bound_by="b").gap_in_words


@given(VALUES, VALUES, st.floats(0.0, 1.0))
def test_the_optimum_is_as_near_as_stated(objective, bound, place):
    """Whatever value between the objective and its bound is the optimum."""
    said = words(objective, bound)
    if said.startswith("optimal"):
        assert objective == pytest.approx(bound, rel=2e-6)
        return
    if not said:  # the bound is of no use
        assert abs(objective - bound) > bound
        return
    percent = float(re.match(r"at most ([0-9.]+) % (below|above) the best possible", said)[1])
    assert percent <= 100.0
    optimum = objective + place * (bound - objective)
    assert abs(objective - optimum) <= percent / 100.0 * optimum * (1 + 1e-12)


def test_where_no_share_can_be_stated():
    assert words(2.0, 0.0) == "at most 2 above the best possible (bound: b)"
    assert words(2.0, 1.0) == "at most 100 % above the best possible (bound: b)"
    assert words(0.91776, 1.0) == "at most 8.23 % below the best possible (bound: b)"
    assert words(286.31, 1.0) == ""
