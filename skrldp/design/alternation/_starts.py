"""Mechanisms to start from."""

import numpy as np

from skrldp._typing import Floats

__all__ = ["PERTURBATION", "starts"]

# Gamma noise of shape 1/2, times 1 + _BIAS where report y stands for value y. Noise alone leaves
# values without a report of their own, and values alone leave S out. The bias doubled loses
# 1e-4 on a table of 12 cells (benchmarks/bench_constants.py), and shape 0.75 gains as much.
_BIAS = 4.0
_GAMMA_SHAPE = 0.5
_LEAST_NOISE = 1e-9
# Standard deviation of the logarithms of what entries are multiplied by, where rows are perturbed.
PERTURBATION = 0.7


def starts(shape: tuple[int, int], b: int, seed: int) -> Floats:
    """Draw a mechanism to start from: noise, with a report for each value in turn.

    Shapes: returns (b, a).
    """
    noise = np.random.default_rng(seed).gamma(_GAMMA_SHAPE, size=(b, *shape)) + _LEAST_NOISE
    report = np.arange(b)
    noise[report, :, report % shape[1]] *= 1.0 + _BIAS
    return (noise / noise.sum(axis=0)).reshape(b, -1)
