"""Fuzz the readers of foreign texts: targets.py by Hypothesis, and what the tests have.

    make fuzz                                            all, a thousand texts each
    make fuzz ARGS="truth --number 10000 --seed 1"       one of them
    python fuzz/run.py loader --atheris                  with coverage, where atheris is installed

`truth` changes single numbers of proofs, and what is still accepted must be true in 60 digits.
`clients` and `checkers` compare Python with Node. `claims` alters what files claim, which the
command must notice. `pairs` crosses options of sanitizers, and what is then stated must be true by
brute force: some seconds each. `coverage` simulates how often sets miss the truth where values are
learned. Where no target is named, these two take a tenth.
"""

import argparse
import shutil
import sys
from collections import Counter

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from targets import TARGETS


def run_target(name, number, start):
    """Try changed texts; print what became of them."""
    found = Counter()

    @seed(start)
    @settings(max_examples=number, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=False))
    def tried(rng):
        found[TARGETS[name](rng)] += 1

    tried()
    said = ", ".join(f"{count:,} {what}" for what, count in found.most_common())
    print(f"{name}: {found.total():,} texts ({said}), none that breaks a promise", flush=True)


def run_truth(number, start):
    """Change single numbers of proofs; what is accepted must be true."""
    import changed_proofs

    return changed_proofs.run(number, start)


def run_clients(number, start):
    """Compare both clients."""
    import changed_texts

    different = changed_texts.compare(number, start)
    print(f"clients: {number:,} texts, {len(different)} differences", *different[:5], sep="\n")
    return len(different)


def run_checkers(number, start):
    """Compare both checkers of proofs."""
    import changed_proofs

    holding, different = changed_proofs.compare(number, start)
    words = f"{number:,} proofs, {holding:,} of which hold, {len(different)} differences"
    print(f"checkers: {words}", *different[:5], sep="\n")
    return len(different)


def run_claims(number, start):
    """Alter claims of files; the command must notice all."""
    import altered

    return altered.run(number, start)


def run_pairs(number, start, options=()):
    """Cross options of sanitizers; what is stated must be true."""
    import pairs

    unknown = {*options} - {*pairs.SETTINGS}
    if unknown:
        raise SystemExit(f"there is no option {sorted(unknown)}, only {', '.join(pairs.SETTINGS)}")
    return pairs.run(number, start, options)


def run_coverage(number, start):
    """Draw tables; sets around them must hold the truth as often as they state."""
    import pairs_coverage

    return pairs_coverage.run(number, start)


MORE = {
    "truth": run_truth,
    "clients": run_clients,
    "checkers": run_checkers,
    "claims": run_claims,
    "pairs": run_pairs,
    "coverage": run_coverage,
}
IN_PYTHON = ("truth", "claims", "pairs", "coverage")
SLOW = ("pairs", "coverage")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join([*TARGETS, *MORE])}; all if none")
    parser.add_argument("--number", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--options", nargs="+", default=[], help="of pairs: one is in each case")
    parser.add_argument("--atheris", action="store_true", help="one target, until it is stopped")
    asked = parser.parse_args()
    unknown = set(asked.names) - {*TARGETS, *MORE}
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    if asked.atheris:
        import atheris

        test = given(st.randoms(use_true_random=False))(TARGETS[asked.names[0]])
        atheris.Setup(sys.argv[:1], test.hypothesis.fuzz_one_input)
        atheris.Fuzz()
    failures = 0
    for name in asked.names or [*TARGETS, *MORE]:
        if name in TARGETS:
            run_target(name, asked.number, asked.seed)
        elif name not in IN_PYTHON and shutil.which("node") is None:
            print(f"{name}: left out, as there is no Node")
        else:
            number = asked.number if asked.names or name not in SLOW else asked.number // 10
            own = [asked.options] * (name == "pairs")
            failures += MORE[name](number, asked.seed, *own) or 0
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
