"""A run of a design: its progress, its threads, and how far from the optimum it says it is."""

import io
import re
import sys
import threading
import time
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp.design.limits import Limits, Workers, part_of_larger_work, shortened
from skrldp.design.mutual_information import Information
from skrldp.design.progress import Progress
from skrldp.design.solution import Solution


class Terminal(io.StringIO):
    """A terminal in place of stderr."""

    def isatty(self):
        return True


INFORMATION = Information(np.full(4, 0.25))


def test_a_terminal_shows_time_stage_and_the_best_mechanism_with_its_gap(monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    shown = Progress(Limits(60.0), INFORMATION)

    def seconds():
        """What happens before each line; the last ends the work."""
        shown.stage = "a long program"
        yield False
        shown.show(0.5)
        shown.show(0.25)
        yield False
        shown.bound = 1.0
        yield False
        yield True

    waits = seconds()
    shown._ended = SimpleNamespace(wait=lambda _: next(waits))
    shown._run()
    for words in (" s, a long program", "I(X;Y) 0.5 nats", "I(X;Y) 0.5 nats, gap 50%"):
        assert words in terminal.getvalue()


@pytest.mark.parametrize(
    ("stream", "is_part", "is_shown"),
    [(Terminal, False, True), (Terminal, True, False), (io.StringIO, False, False)],
)
def test_progress_is_for_terminals_and_the_whole_work_alone(stream, is_part, is_shown, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream())
    with part_of_larger_work() if is_part else nullcontext(), Progress(Limits(), INFORMATION):
        assert any(thread.name == "skrldp" for thread in threading.enumerate()) == is_shown


def test_the_limit_of_a_larger_work_is_kept():
    assert shortened(None) is None and shortened(3.0) == 3.0
    with part_of_larger_work(2.0):
        assert shortened(None) == shortened(3.0) == 2.0 and shortened(1.0) == 1.0
    assert shortened(3.0) == 3.0


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_are_in_order_and_each_item_is_done_once(n_jobs):
    workers, done = Workers(n_jobs), []
    for count in (0, 1, 2, 7, 50):
        done.clear()
        found = workers.map(lambda i: done.append(i) or (i, -i), range(count))
        assert found == [(i, -i) for i in range(count)]
        assert sorted(done) == list(range(count))
    workers.close()


@pytest.mark.parametrize("wrong", [0, 4])
def test_an_error_is_raised_and_ends_the_work(wrong):
    workers, done = Workers(2), []

    def fail(i):
        if i == wrong:
            raise ZeroDivisionError
        time.sleep(1e-3)
        done.append(i)

    with pytest.raises(ZeroDivisionError):
        workers.map(fail, range(1000))
    assert len(done) < 500
    assert workers.map(abs, [-1, -2]) == [1, 2]  # it goes on after that
    workers.close()


VALUES = st.floats(1e-3, 1e3)


def solution(objective, bound, **estimate):
    return Solution("optimal", "x", objective, bound, 1, 0.1, bound_by="b", **estimate)


@given(VALUES, VALUES, st.floats(0.0, 1.0))
def test_the_optimum_is_as_near_as_stated(objective, bound, place):
    """Whatever value between the objective and its bound is the optimum."""
    stated = solution(objective, bound)
    said = stated.gap_in_words
    if said.startswith("optimal"):
        assert objective == pytest.approx(bound, rel=2e-6)
        return
    if stated.gap > 1.0:
        assert said == "no useful bound on the optimum" and abs(objective - bound) > bound
        return
    percent = float(re.match(r"at most ([0-9.]+) % (below|above) the best possible", said)[1])
    assert stated.gap <= percent / 100.0 <= min(stated.gap * 1.01, 1.0)  # one number
    optimum = objective + place * (bound - objective)
    assert abs(objective - optimum) <= percent / 100.0 * optimum * (1 + 1e-12)


def test_where_no_share_can_be_stated():
    assert solution(2.0, 0.0).gap_in_words == "at most 2 above the best possible (bound: b)"
    assert solution(0.0, 0.0).gap == 0.0
    words = "about 12.0 % from an unproved estimate of the optimum"
    assert solution(28.0, 1.0, estimate=25.0).gap_in_words == words
