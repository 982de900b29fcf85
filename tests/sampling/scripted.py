"""Streams with scripted numbers, and the false-alarm rate of the tests."""

import numpy as np

FALSE_ALARM = 1e-9


class Scripted:
    """A stream that plays given numbers: one queue for each dtype."""

    def __init__(self, **queues):
        self.queues = {np.dtype(name): np.asarray(queue) for name, queue in queues.items()}

    def fill(self, out):
        queue = self.queues[out.dtype]
        out[:] = queue[: out.size]
        self.queues[out.dtype] = queue[out.size :]

    @property
    def exhausted(self):
        return not any(queue.size for queue in self.queues.values())
