"""Which entries of a row tell what is reported under which secret."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skrldp._typing import Booleans, Floats, Indices

__all__ = ["Layout"]


@dataclass(frozen=True, eq=False)
class Layout:
    """The entries of a row, in one part for each secret.

    A *secret* is here whatever an observer wants to tell apart: a value of S, or one of several
    sensitive columns, or a value of S together with known values of U. Its part holds the entries
    of the cells that are possible under it.
    """

    # (p, k), the entries of each part. A part with fewer than k of them is filled up with copies of
    # its first one; their public probability is 0, and they change no maximum (docs/proofs.md).
    parts: Indices
    # (n_secrets,), the part of each secret. Secrets that the mechanism does not observe share
    # theirs.
    place: Indices
    n_cells: int  # number of entries of a row

    @classmethod
    def plain(cls, n_secrets: int, n_values: int, observe: str = "all") -> "Layout":
        """Lay out rows whose entries are cells in their order, or values of U for all secrets."""
        if observe == "nonsensitive":
            return cls(np.arange(n_values)[None], np.zeros(n_secrets, dtype=np.intp), n_values)
        n_cells = n_secrets * n_values
        return cls(np.arange(n_cells).reshape(n_secrets, n_values), np.arange(n_secrets), n_cells)

    @cached_property
    def in_order(self) -> bool:
        """Whether the parts, one after the other, are the row."""
        return self.parts.size == self.n_cells and bool(
            np.all(self.parts.ravel() == np.arange(self.n_cells))
        )

    @property
    def shared(self) -> bool:
        """Whether several secrets have the same part."""
        return len(self.parts) < len(self.place)

    @cached_property
    def real(self) -> Booleans:
        """Which entries of the parts are no copies, shape (p, k)."""
        columns = np.arange(self.parts.shape[1])
        earlier = columns[:, None] > columns
        same = self.parts[:, :, None] == self.parts[:, None, :]
        return ~(same & earlier).any(axis=2)

    def split(self, rows: Floats) -> Floats:
        """Take rows apart into their parts.

        Shapes: `rows` (b, ...); returns (b, p, k).
        """
        flat = np.asarray(rows, dtype=float).reshape(len(rows), self.n_cells)
        if self.in_order:
            return flat.reshape(len(rows), *self.parts.shape)
        return flat[:, self.parts]

    def spread(self, rows: Floats) -> Floats:
        """Give each secret its part of each row.

        Shapes: `rows` (b, ...); returns (b, n_secrets, k).
        """
        parts = self.split(rows)
        if len(self.parts) == 1:
            return np.broadcast_to(parts, (len(parts), len(self.place), parts.shape[2]))
        return parts[:, self.place] if self.shared else parts

    def gather(self, parts: Floats) -> Floats:
        """Add up what belongs to each entry of a row: the adjoint of :meth:`split`.

        Shapes: `parts` (b, p, k). Returns (b, n_cells): the same function of the rows.
        """
        return self._gathered(parts.reshape(len(parts), -1), 1)

    def gather_forms(self, forms: Floats) -> Floats:
        """Add up what belongs to each two entries of a row.

        Shapes: `forms` (b, p * k, p * k). Returns (b, n_cells, n_cells): the same forms of the
        rows.
        """
        return self._gathered(self._gathered(forms, 1), 2)

    def _gathered(self, table: Floats, axis: int) -> Floats:
        if self.in_order:
            return table
        order, starts = self._groups
        sorted_table = np.take(table, order, axis=axis)
        if len(order) == self.n_cells:  # no copies
            return sorted_table
        return np.asarray(np.add.reduceat(sorted_table, starts, axis=axis))

    @cached_property
    def _groups(self) -> tuple[Indices, Indices]:
        """The places of the parts by entry, and where those of each entry begin."""
        entries = self.parts.ravel()
        order = np.argsort(entries, kind="stable")
        return order, np.searchsorted(entries[order], np.arange(self.n_cells))
