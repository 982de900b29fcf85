"""Categories: when two values of a table are one.

Only NumPy is imported: clients compare as the table does.
"""

from skrldp.alphabet._scalars import is_missing, plain

__all__ = ["is_missing", "plain"]
