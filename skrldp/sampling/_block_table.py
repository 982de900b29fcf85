"""Exact sampling of a mechanism given by four weights."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._arrays import chunks, smallest_dtype
from skrldp.sampling import _codes
from skrldp.sampling._codes import Stream, check_codes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["BlockTable"]


@dataclass(frozen=True)
class BlockTable:
    """Exact sampler of a mechanism with four distinct weights, without its matrix.

    Cells ``x = s * n_values + u`` and symbols ``y = s' * n_values + u'`` are pairs of a secret and
    a value; the weight of y in x depends only on whether ``s' == s`` and whether ``u' == u``.
    Generalised and secret randomised response and their product are of this kind.

    Parameters
    ----------
    n_secrets, n_values : int
        Sizes of the two alphabets.
    same : int
        Weight of the record's own cell.
    same_secret : int
        Weight of each cell with the record's secret and another value.
    same_value : int
        Weight of each cell with another secret and the record's value.
    other : int
        Weight of each cell with another secret and another value.
    bits : int
        The weights of all symbols sum to ``2**bits``; from 1 to 63.

    Raises
    ------
    TypeError
        If a parameter is not an integer.
    ValueError
        If one is out of range or the weights do not sum to ``2**bits``.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp.sampling import BlockTable
    >>> from skrldp.sampling import RandomStream
    >>> table = BlockTable(2, 3, same=7, same_secret=2, same_value=3, other=1, bits=4)
    >>> reports = table.sample(np.full(1600, 4), RandomStream(0))
    >>> bool(600 < (reports == 4).sum() < 800)
    True
    """

    n_secrets: int
    n_values: int
    same: int
    same_secret: int
    same_value: int
    other: int
    bits: int

    def __post_init__(self) -> None:
        """Check that the weights are a distribution."""
        for name, value in vars(self).items():
            if not isinstance(value, numbers.Integral):
                raise TypeError(f"{name} must be an integer, got {value!r}")
            if value < 0:
                raise ValueError(f"{name} must not be negative, got {value}")
            object.__setattr__(self, name, int(value))  # NumPy's integers would overflow below
        if self.n_secrets < 1 or self.n_values < 1:
            raise ValueError("n_secrets and n_values must be at least 1")
        if not 1 <= self.bits <= 63:
            raise ValueError(f"bits must lie in [1, 63], got {self.bits}")
        total = (
            self.same
            + (self.n_values - 1) * self.same_secret
            + (self.n_secrets - 1) * self.same_value
            + (self.n_secrets - 1) * (self.n_values - 1) * self.other
        )
        if total != 1 << self.bits:
            raise ValueError(f"the weights must sum to 2**{self.bits}, got {total}")

    @property
    def n_cells(self) -> int:
        """Number of cells, and of symbols."""
        return self.n_secrets * self.n_values

    def sample(self, codes: ArrayLike, stream: Stream) -> NDArray[Any]:
        """Draw one symbol for each record.

        Shapes: `codes` (n,); returns (n,). Raises TypeError if the codes are not integers. Raises
        ValueError if a code is no cell of the table. Nothing has been drawn then.
        """
        codes = check_codes(codes, self.n_cells)
        out = np.empty(codes.size, dtype=smallest_dtype(self.n_cells))
        dtype = smallest_dtype(2 * self.n_cells)  # holds sums of two secrets or two values
        n_secrets, n_values = dtype.type(self.n_secrets), dtype.type(self.n_values)
        runs, secret_shifts, value_shifts = self._layout(dtype)
        excess_bits = np.uint64(64 - self.bits)

        buffers = [
            np.empty(min(codes.size, _codes.BLOCK), dtype=kind)
            for kind in (np.uint64, np.uint64, np.uint64, dtype, dtype, dtype)
        ]
        for block in chunks(codes.size, _codes.BLOCK):
            draws, parts, ranks, secrets, values, shifts = (
                buffer[: block.stop - block.start] for buffer in buffers
            )
            # The rank of the symbol by inversion: every run counts how many of its symbols the
            # draw has passed. Divisors are scalars, which NumPy turns into multiplications.
            stream.fill(draws)
            draws >>= excess_bits
            ranks[:] = 0
            for start, weight, count in runs:
                np.maximum(draws, start, out=parts)
                parts -= start
                parts //= weight
                np.minimum(parts, count, out=parts)
                ranks += parts
            where = ranks.view(np.int64)

            np.floor_divide(codes[block], n_values, out=secrets, dtype=dtype, casting="unsafe")
            np.multiply(secrets, n_values, out=values)
            np.subtract(codes[block], values, out=values, dtype=dtype, casting="unsafe")
            # Add modulo the alphabet's size: below it, the subtraction wraps to a larger number.
            secret_shifts.take(where, out=shifts, mode="clip")
            secrets += shifts
            np.minimum(secrets, np.subtract(secrets, n_secrets, out=shifts), out=secrets)
            value_shifts.take(where, out=shifts, mode="clip")
            values += shifts
            np.minimum(values, np.subtract(values, n_values, out=shifts), out=values)
            secrets *= n_values
            np.add(secrets, values, out=out[block], casting="unsafe")
        return out

    def _layout(
        self, dtype: np.dtype[Any]
    ) -> tuple[list[tuple[np.uint64, np.uint64, np.uint64]], NDArray[Any], NDArray[Any]]:
        """Rank the symbols of positive weight, relative to the record's cell.

        Returns `runs`: runs of symbols of equal weight, and the sum of the weights before each;
        `secret_shifts, value_shifts` (n_ranked,): how far (cyclically) the symbol of each rank is
        from the record's secret and value.
        """
        secrets, values = np.arange(1, self.n_secrets), np.arange(1, self.n_values)
        zero = np.zeros(1, dtype=np.intp)
        classes = [
            (weight, np.repeat(ds, du.size), np.tile(du, ds.size))
            for weight, ds, du in (
                (self.same, zero, zero),
                (self.same_secret, zero, values),
                (self.same_value, secrets, zero),
                (self.other, secrets, values),
            )
            if weight and ds.size and du.size
        ]
        runs, start = [], 0
        for weight, group in groupby(classes, key=lambda c: c[0]):
            count = sum(ds.size for _, ds, _ in group)
            runs.append((np.uint64(start), np.uint64(weight), np.uint64(count)))
            start += weight * count
        secret_shifts = np.concatenate([ds for _, ds, _ in classes]).astype(dtype)
        value_shifts = np.concatenate([du for _, _, du in classes]).astype(dtype)
        return runs, secret_shifts, value_shifts
