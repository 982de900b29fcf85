"""Several jobs: paths side by side where there is time for all, else rows of one path."""

import numpy as np
import pytest

from skrldp.design import alternation as runs
from skrldp.design.alternation import Run, RunPlan
from skrldp.design.criteria import Information
from skrldp.design.run import Limits, Workers

PLANS = [RunPlan(16, 0.9, seed) for seed in range(3)]
CELLS = Information(np.full(100, 0.01))


class Clock(Limits):
    """Time that passes only when a run takes it."""

    def __init__(self, seconds, jobs):
        super().__init__(None, None, Workers(jobs))
        self.seconds = seconds

    @property
    def left(self):
        return self.seconds


@pytest.fixture
def anneal(monkeypatch):
    """Run paths that take ten seconds each, and say where: reports and threads, or a process."""

    def run(seconds, jobs):
        clock, where = Clock(seconds, jobs), []

        def path(_criterion, _requirements, plan, limits, _callback):
            where.append((plan.reports, limits.workers.number))
            if clock.seconds is not None:
                clock.seconds = max(clock.seconds - 10.0, 0.0)
            return Run(np.full((plan.reports, 100), 1 / plan.reports), 0.0, 1, 10.0)

        class Processes:
            def __init__(self, n_jobs):
                where.append(f"{n_jobs} processes")

            def __call__(self, tasks):
                return [function(*arguments) for function, arguments, _ in tasks]

        monkeypatch.setattr(runs, "_anneal", path)
        monkeypatch.setattr(runs, "Parallel", Processes)
        found = runs.anneal_each(CELLS, None, PLANS, clock)
        assert len(found) == sum(isinstance(item, tuple) for item in where)
        return where

    return run


def test_without_a_limit_paths_are_side_by_side(anneal):
    assert anneal(None, 2) == ["2 processes", *[(16, 1)] * 3]


def test_where_time_is_short_a_path_has_all_jobs(anneal):
    assert anneal(10.0, 2) == [(16, 2)]
    assert anneal(20.0, 2) == [(16, 2), (16, 2)]
    assert anneal(14.0, 2) == [(16, 2), (9, 2)]  # as many reports as there is time for


def test_where_there_is_time_the_others_are_side_by_side(anneal):
    assert anneal(100.0, 2) == [(16, 2), "2 processes", (16, 1), (16, 1)]


def test_no_more_processes_than_paths(anneal):
    assert anneal(None, 10**6)[0] == "3 processes"
    assert anneal(None, 1) == [(16, 1)] * 3
