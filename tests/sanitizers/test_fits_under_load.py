"""A fit is a function of its input: it does not depend on the process, nor on how busy it is."""

import os
import subprocess
import sys

FIT = """
import warnings, numpy as np
from skrldp import PolyOptSanitizer
warnings.simplefilter("ignore")
shape = (2, 3)
counts = np.random.default_rng(0).multinomial(5000, np.full(np.prod(shape), 1 / np.prod(shape)))
X = np.stack(np.indices(shape), axis=-1).reshape(-1, 2)
found = PolyOptSanitizer(sensitive=0).fit(X, sample_weight=counts).mechanism_.to_json()
"""
BUSY = "while True: pass"


def run(program):
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)


def test_two_fits_give_the_same_integers_under_load():
    alone = run(FIT + "print(found)").communicate()[0].decode()
    busy = [run(BUSY) for _ in range(os.cpu_count() or 1)]
    try:
        space = {}
        exec(FIT, space)
    finally:
        for process in busy:
            process.kill()
            process.communicate()
    assert len(alone) > 100
    assert space["found"] == alone.strip()
