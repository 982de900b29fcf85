"""How much reports tell about each group: race in Adult, with other columns as U.

Run it with ``python benchmarks/bench_groups.py [--quick]``: ten minutes, or half a minute. The
figures are I(U;Y|S) / H(U|S) over all records and I(U;Y|S=s) / H(U|S=s) for each secret, of the
mechanism as it is sampled, at the public distribution. It needs Adult's file: ``SKRLDP_ADULT``, or
``../shared/data/adult/adult.data``.
"""

import argparse
import warnings

import pandas as pd
from bench_large import COLUMNS, adult_file
from sklearn.exceptions import ConvergenceWarning

from skrldp import (
    IRSanitizer,
    NonRobustSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    SRRSanitizer,
)
from skrldp.information import shares_of_entropy

SECONDS = 60.0


def main(columns, levels, seconds):
    """Print a line for each sanitizer, column and level of privacy."""
    path = adult_file()
    if path is None:
        print("no file of Adult: set SKRLDP_ADULT")
        return
    table = pd.read_csv(path, header=None, names=COLUMNS, skipinitialspace=True)
    counts = table["race"].value_counts()
    print(
        f"{'U':<16}{'eps':>5} {'':<10}{'all':>7}"
        + "".join(f"{race[:9]:>11}" for race in counts.index)
    )
    print(f"{'records':<32}{len(table):>7,}" + "".join(f"{n:>11,}" for n in counts))
    for column in columns:
        for eps in levels:
            for sanitizer in (
                PolyOptSanitizer(time_limit=seconds),
                IRSanitizer(),
                SRRSanitizer(),
                NonRobustSanitizer(time_limit=seconds),
            ):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    warnings.simplefilter("ignore", PrivacyLeakWarning)
                    sanitizer.set_params(eps=eps, sensitive="race").fit(table[["race", column]])
                joint = sanitizer.joint_
                shares, whole = shares_of_entropy(sanitizer.information_by_secret_, joint.counts)
                told = dict(zip(joint.secrets, shares, strict=True))
                name = type(sanitizer).__name__.removesuffix("Sanitizer")
                print(
                    f"{column:<16}{eps:>5g} {name:<10}{whole:>7.3f}"
                    + "".join(f"{told[race]:>11.3f}" for race in counts.index),
                    flush=True,
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    if parser.parse_args().quick:
        main(["income"], [0.5], 3.0)
    else:
        main(["relationship", "education"], [0.5, 1.0], SECONDS)
