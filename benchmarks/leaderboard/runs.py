"""Runs of approaches on tasks: each in a process of its own, with a limit, and kept on file."""

import hashlib
import json
import math
import multiprocessing
import resource
from datetime import date
from multiprocessing.connection import wait
from pathlib import Path
from typing import NamedTuple

from . import measures
from .approaches import Approach
from .tables import Task
from .wide import WideTask

FORK = multiprocessing.get_context("fork")  # the tasks need not be sent


class Run(NamedTuple):
    approach: Approach
    task: Task | WideTask
    eps: float

    @property
    def key(self):
        """What a kept result belongs to."""
        table = hashlib.sha256(self.task.counts.tobytes()).hexdigest()[:12]
        versions = f"{self.approach.version}, measures {measures.VERSION}"
        return json.dumps([self.approach.name, versions, self.task.name, table, self.eps])


def work(run, sender, seconds):
    """Run in a process of its own; the system ends it after `seconds` of processor time."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    try:
        sender.send(run.approach.result(run.task, run.eps))
    except Exception as problem:  # whatever it is, it is the approach's result
        sender.send({"failed": f"{type(problem).__name__}: {problem}".split("\n")[0]})


def results(runs, processes, seconds):
    """Yield each run and its result, in the order in which they end."""
    waiting, running = list(runs)[::-1], {}
    while waiting or running:
        while waiting and len(running) < processes:
            run = waiting.pop()
            receiver, sender = FORK.Pipe(duplex=False)
            process = FORK.Process(target=work, args=(run, sender, seconds), daemon=True)
            process.start()
            sender.close()
            running[receiver] = run, process
        for receiver in wait(list(running)):
            run, process = running.pop(receiver)
            try:
                found = receiver.recv()
            except EOFError:
                found = {"failed": f"ended by the system: {seconds} s are over, or no memory"}
            process.join()
            yield run, found


class Kept:
    """Results on file: a line for each run, the last one counts."""

    def __init__(self, path):
        self.path, self.lines = Path(path), {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                one = json.loads(line)
                self.lines[one.pop("key")] = one

    def keep(self, run, found):
        found = {"date": date.today().isoformat(), **found}
        found = {name: None if found[name] != found[name] else found[name] for name in found}
        self.lines[run.key] = found
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": run.key, **found}) + "\n")

    def of(self, run):
        return self.lines.get(run.key)


def row_of(run, found):
    """A row of the CSV: numbers of four digits."""
    approach, task = run.approach, run.task
    first = {
        "approach": approach.name,
        "promise": approach.promise,
        "source": approach.source,
        "version": approach.version,
        "lines": approach.lines,
        "task": task.name,
        "cells": task.cells,
        "n": task.n,
        "eps": run.eps,
    }
    return first | {name: written(value) for name, value in found.items()}


def written(value):
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "inf"
    return value
