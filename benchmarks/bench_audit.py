"""What an audit sees: its bound compared with the leakage, how soon it finds a fault, and its time.

The faulty sampler leaves the noise out for 5 % of the records. PolyOpt is designed over
``RenyiBall()``. ``--quick`` repeats less often.
"""

import copy
import sys
import time
import warnings

import numpy as np

from skrldp import GRRSanitizer, PolyOptSanitizer, PrivacyLeakWarning, RenyiBall, audit
from skrldp.sanitizers import codec_of, write_reports

SIZES = (300, 1_000, 3_000, 10_000, 30_000, 100_000)
FAULT = 0.05


def designs():
    """Randomised response on 4 cells, and PolyOpt on 40, each at ε = 1."""
    rng = np.random.default_rng(0)
    for name, sanitizer, shape in (
        ("GRR, 2 x 2", GRRSanitizer(eps=1.0), (2, 2)),
        (
            "PolyOpt, 2 x 20",
            PolyOptSanitizer(eps=1.0, uncertainty=RenyiBall(), time_limit=5.0),
            (2, 20),
        ),
    ):
        rows = [[s, u] for s in range(shape[0]) for u in range(shape[1])]
        counts = rng.multinomial(5_000, rng.dirichlet(np.ones(len(rows)) * 2.0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyLeakWarning)
            yield name, sanitizer.fit(rows, sample_weight=counts)


def with_fault(sanitizer):
    """A copy that sends some records as their likeliest report."""
    rng = np.random.default_rng(1)

    class Faulty(type(sanitizer)):
        def transform(self, X):
            codes = codec_of(self).encode(X).cells(codec_of(self).n_values)
            reports = self.mechanism_.sample(codes).astype(np.int64)
            bare = rng.random(len(reports)) < FAULT
            reports[bare] = self.mechanism_.matrix.argmax(axis=0)[codes[bare]]
            return write_reports(self, reports, X)

    faulty = copy.copy(sanitizer)
    faulty.__class__ = Faulty
    return faulty


def main(repeats):
    print(
        f"{'':<16} {'n':>9} {'bound: median':>14} {'lowest':>7} {'seconds':>8} {'fault found':>14}"
    )
    for name, sanitizer in designs():
        faulty = with_fault(sanitizer)
        for n in SIZES:
            times = max(3, min(repeats, 10_000_000 // n))
            start = time.perf_counter()
            bounds = [audit(sanitizer, n=n, random_state=seed).eps for seed in range(times)]
            seconds = (time.perf_counter() - start) / times
            found = [not audit(faulty, n=n, random_state=seed).passed for seed in range(times)]
            print(
                f"{name:<16} {n:9,} {np.median(bounds):14.3f} {min(bounds):7.3f} {seconds:8.3f} "
                f"{np.mean(found):14.0%}"
            )
    print(f"the leakage is {1.0}; {repeats} audits for each row at most")


if __name__ == "__main__":
    main(10 if "--quick" in sys.argv else 100)
