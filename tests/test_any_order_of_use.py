"""Sanitizers and clients in any order of what is done with them: no bits twice, no stale proof.

A mechanism with 256 reports that hardly depend on the record reports the same record 32 times. Two
windows of 8 of these reports agree with probability 2**-64 where bits are independent, so that an
agreement anywhere tells of bits that were used twice: in less than one of 10**12 runs by chance.

``make lives`` tries longer lives, and more of them.
"""

import os
import pickle
import threading
import warnings

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sklearn.base import clone

from skrldp import GRRSanitizer, RenyiBall, certify, client
from skrldp.sanitizers.access import changes_since_fit

LIVES = int(os.environ.get("SKRLDP_LIVES", "6"))
STEPS = 12 if LIVES < 50 else 40
CELLS = np.array([[s, u] for s in range(2) for u in range(128)])
RECORDS, WINDOW = np.repeat(CELLS[:1], 32, axis=0), 8
WEIGHTS = [np.random.default_rng(seed).integers(50, 90, len(CELLS)) for seed in range(2)]


def in_a_child(report):
    """Report in a forked process."""
    receive, send = os.pipe()
    with warnings.catch_warnings():
        # Python warns of forks while other threads run; no lock is held here.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            os.write(send, np.ascontiguousarray(report(), dtype=np.int64).tobytes())
        finally:
            os._exit(0)
    os.close(send)
    with os.fdopen(receive, "rb") as found:
        reports = np.frombuffer(found.read(), dtype=np.int64)
    os.waitpid(child, 0)
    return reports


class Lives(RuleBasedStateMachine):
    """A sanitizer, its copies and clients, with what was asked for when it was fitted."""

    def __init__(self):
        super().__init__()
        self.seen, self.clients, self.asked = set(), [], None
        self.sanitizer = GRRSanitizer(
            0.1, uncertainty=RenyiBall(radius=0.01), encode="symbol", sensitive=0
        )

    def note(self, reports):
        """Remember reports, if no window of them was there before."""
        numbers = np.ravel(np.asarray(reports)).astype(np.int64)
        assert len(numbers) == len(RECORDS)
        for start in range(len(numbers) - WINDOW + 1):
            window = numbers[start : start + WINDOW].tobytes()
            assert window not in self.seen, "random bits were used twice"
            self.seen.add(window)

    def transform(self):
        return self.sanitizer.transform(RECORDS)

    @initialize()
    def first_fit(self):
        self.fit(0)

    @rule(table=st.sampled_from([0, 1]))
    def fit(self, table):
        with warnings.catch_warnings():  # 128 values of U have few records each, and no names
            warnings.simplefilter("ignore", UserWarning)
            self.sanitizer.fit(CELLS, sample_weight=WEIGHTS[table])
        self.asked = (table, self.sanitizer.eps)

    @rule(eps=st.sampled_from([0.1, 0.2, 0.3]))
    def set_params(self, eps):
        self.sanitizer.set_params(eps=eps)

    @rule()
    def go_on_with_a_clone(self):
        table = self.asked[0]
        self.sanitizer = clone(self.sanitizer)
        assert not hasattr(self.sanitizer, "certificate_")
        self.fit(table)

    @rule()
    def go_on_with_a_pickle(self):
        before, self.sanitizer = self.sanitizer, pickle.loads(pickle.dumps(self.sanitizer))
        self.note(before.transform(RECORDS))

    @rule(times=st.integers(1, 3))
    def report(self, times):
        for _ in range(times):
            self.note(self.transform())

    @rule()
    def report_in_threads(self):
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(self.transform())) for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == len(threads)
        for reports in found:
            self.note(reports)

    @precondition(lambda self: hasattr(os, "fork"))
    @rule(of_client=st.booleans())
    def report_in_a_child(self, of_client):
        if of_client and self.clients:
            own = self.clients[-1]
            self.note(in_a_child(lambda: own.report_many(RECORDS)))
            self.note(own.report_many(RECORDS))
        else:
            self.note(in_a_child(self.transform))

    @rule()
    def load_a_client(self):
        self.clients.append(client.load(self.sanitizer.mechanism_.to_json()))

    @precondition(lambda self: self.clients)
    @rule(which=st.integers(0, 3))
    def a_client_reports(self, which):
        self.note(self.clients[which % len(self.clients)].report_many(RECORDS))

    @invariant()
    def the_proof_is_of_the_last_fit(self):
        if self.asked is None:
            return
        table, eps = self.asked
        own = self.sanitizer
        counts = WEIGHTS[table].reshape(2, 128)
        np.testing.assert_array_equal(own.joint_.counts, counts)
        again = certify(own.mechanism_, own.uncertainty_, own.joint_)
        assert own.certificate_.eps == again.eps <= eps
        assert changes_since_fit(own) == ({} if own.eps == eps else {"eps": (eps, own.eps)})


Lives.TestCase.settings = settings(
    max_examples=LIVES, stateful_step_count=STEPS, deadline=None, derandomize=LIVES < 50
)
# What is set after a fit has no effect before the next, and is warned of in each transform.
TestLives = pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")(Lives.TestCase)
