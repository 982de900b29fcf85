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


class Troubled:
    """`work` on batches, and `trouble` after the first batch that comes out, once in all.

    Each start of the work is marked by a file, so `starts` counts them, the repeated ones too.
    """

    def __init__(self, work, folder, trouble=None):
        self.work, self.folder, self.trouble = work, str(folder), trouble

    def __call__(self, batches):
        Path(self.folder, f"start-{os.getpid()}-{time.time_ns()}").touch()
        for batch in self.work(batches):
            yield batch
            if self.trouble is not None and first_to_come(self.folder, "trouble"):
                self.trouble()

    def starts(self):
        return len(list(Path(self.folder).glob("start-*")))

    def happened(self):
        return Path(self.folder, "trouble").exists()
