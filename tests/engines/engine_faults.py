"""Reporters whose process dies, or dawdles, in the middle of a task the first time.

They run in worker processes and mark in a folder what happened, once for all processes.
"""

import os
import signal
import time
from pathlib import Path


def first_to_come(folder, name):
    """Tell whether nobody, in any process, asked this before for this name."""
    try:
        os.close(os.open(Path(folder) / name, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def die():
    """End this process at once, as the system does when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_executor():
    """End the Spark executor that this Python process works for."""
    pid = os.getppid()
    while "CoarseGrainedExecutorBackend" not in Path(f"/proc/{pid}/cmdline").read_text():
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if pid <= 1:
            raise RuntimeError("this process is not of a Spark executor on a cluster")
    os.kill(pid, signal.SIGKILL)
    time.sleep(60)


def dawdle():
    """Sleep for longer than the test may take."""
    time.sleep(300)


def of_process():
    """Name this start of some work by its process."""
    return f"{os.getpid()}.{time.time_ns()}"


def of_task():
    """Name this start of a Spark task: partition, attempt at it in its stage, number of all."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return f"{task.partitionId()}.{task.attemptNumber()}.{task.taskAttemptId()}"


class Troubled:
    """`work` on batches, and `trouble` after the first batch that comes out, once in all.

    Each start of the work leaves a file that `name` names.
    """

    def __init__(self, work, folder, trouble=None, name=of_process):
        self.work, self.folder, self.trouble, self.name = work, str(folder), trouble, name

    def __call__(self, batches):
        Path(self.folder, f"start-{self.name()}").touch()
        for batch in self.work(batches):
            yield batch
            if self.trouble is not None and first_to_come(self.folder, "trouble"):
                self.trouble()

    def starts(self):
        """The names of all starts, each as numbers."""
        names = (path.name.removeprefix("start-") for path in Path(self.folder).glob("start-*"))
        return sorted(tuple(map(int, name.split("."))) for name in names)

    def happened(self):
        return Path(self.folder, "trouble").exists()
