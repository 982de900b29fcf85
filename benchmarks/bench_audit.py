"""What an audit sees: its bound compared with the leakage, how soon it finds a fault, and its time.

The faulty sampler leaves the noise out for 5 % of the records. PolyOpt is designed over
``RenyiBall()``. ``--faults`` prints how often faults of several kinds are found instead;
``--repeats`` is the number of audits for each row, and ``--quick`` stands for 10 of them.
"""

import argparse
import copy
import time
import warnings

import numpy as np

from skrldp import (
    GRRSanitizer,
    JointDistribution,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    audit,
)
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
            PolyOptSanitizer(eps=1.0, uncertainty=RenyiBall(), time_limit=60.0),
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
            start = time.process_time()
            bounds = [audit(sanitizer, n=n, random_state=seed).eps for seed in range(times)]
            seconds = (time.process_time() - start) / times
            found = [not audit(faulty, n=n, random_state=seed).passed for seed in range(times)]
            print(
                f"{name:<16} {n:9,} {np.median(bounds):14.3f} {min(bounds):7.3f} {seconds:8.3f} "
                f"{np.mean(found):14.0%}"
            )
    print(f"the leakage is {1.0}; {repeats} audits for each row at most")


# --- Faults of several kinds
# ----------------------------------------------------------------------


class Raw(GRRSanitizer):
    """Sends 1 % of the records as they are."""

    def transform(self, X):
        reports, X = super().transform(X), np.asarray(X)
        bare = np.random.default_rng().random(len(X)) < 0.01
        reports[bare] = X[bare]
        return reports


class RawIfShort(GRRSanitizer):
    """Sends calls of fewer than ten records as they are."""

    def transform(self, X):
        return np.asarray(X) if len(X) < 10 else super().transform(X)


class Repeating(GRRSanitizer):
    """Begins with one of 25 seeds in short calls, in turn."""

    calls = 0

    def transform(self, X):
        self.calls += 1
        twin = copy.copy(self)
        twin.random_state = self.calls % 25 if len(X) < 100 else None
        return super(Repeating, twin).transform(X)


class Numbered(GRRSanitizer):
    """Takes the number of the call for a seed, counted for all objects of the class."""

    calls = 0

    def transform(self, X):
        Numbered.calls += 1
        twin = copy.copy(self)
        twin.random_state = Numbered.calls
        return super(Numbered, twin).transform(X)


FAULTS = (  # what is sampled, cells, probability of the likeliest report, records, mechanism known?
    (Raw, 10, 0.14, 10_000, True),
    (Raw, 10, 0.35, 34_000, True),
    (Raw, 4, 0.48, 57_000, True),
    (Raw, 4, 0.73, 170_000, True),
    (Raw, 4, 0.90, 570_000, True),
    (Raw, 4, np.e / (np.e + 3.0), 300_000, False),
    (Raw, 4, np.e / (np.e + 3.0), 700_000, False),
    (RawIfShort, 4, 0.84, 1_000, True),
    (RawIfShort, 4, 0.75, 1_000, False),
    (Repeating, 10, 0.14, 1_000, True),
    (Numbered, 10, 0.14, 1_000, True),
    (Numbered, 4, 0.48, 1_000, True),
)


def known_values_only(sanitizer):
    """The sanitizer as a function, of which no mechanism is known."""
    return lambda records: sanitizer.transform(records)


def faults(repeats):
    print(f"{'':<12} {'q':>6} {'mechanism':>10} {'n':>9} {'found':>7}")
    for cls, cells, likeliest, n, known in FAULTS:
        rows = [[s, u] for s in range(2) for u in range(cells // 2)]
        eps = float(np.log(likeliest / (1.0 - likeliest) * (cells - 1)))
        sanitizer = cls(eps=eps, encode="cells").fit(rows)
        subject, options = sanitizer, {}
        if not known:
            counts = np.rint(sanitizer.certificate_.distribution * 1e12)
            joint = JointDistribution(counts, sanitizer.joint_.secrets, sanitizer.joint_.values)
            subject = known_values_only(sanitizer)
            options = {"distribution": joint, "eps": eps}
        found = [not audit(subject, n=n, random_state=s, **options).passed for s in range(repeats)]
        words = "known" if known else "unknown"
        print(f"{cls.__name__:<12} {likeliest:6.2f} {words:>10} {n:9,} {np.mean(found):7.0%}")
    print(f"{repeats} audits for each row")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--quick", dest="repeats", action="store_const", const=10)
    parser.add_argument("--repeats", type=int, default=100)
    options = parser.parse_args()
    (faults if options.faults else main)(options.repeats)
