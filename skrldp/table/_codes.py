"""Rows of a table as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skrldp.alphabet import combine

__all__ = ["Codes"]


@dataclass(frozen=True)
class Codes:
    """Rows of a table as indices of secrets and of values of U."""

    secrets: np.ndarray  # (n,), indices into `CellCodec.secrets`
    values: np.ndarray  # (n,), indices into `CellCodec.values`; −1 where U is unknown
    n_secrets: int = 0  # size of the alphabet of S; 0 if unknown
    # (n,), which rows were equal before values were grouped; None if none were
    rows: np.ndarray | None = None
    # (n,), how many records each distinct row of a lazy frame has; None if each row is one record,
    # or has a weight
    counted: np.ndarray | None = None

    def cells(self, n_values: int) -> np.ndarray:
        """Combine both into cell codes.

        Returns (n,): ``secrets * n_values + values``, in the smallest unsigned integer dtype.
        Raises ValueError if a value of U is unknown.
        """
        if self.values.min(initial=0) < 0:
            raise ValueError("rows with an unknown value of U have no cell")
        n_secrets = self.n_secrets or int(self.secrets.max(initial=0)) + 1
        return combine(self.secrets, self.values, (n_secrets, n_values))
