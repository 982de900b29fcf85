"""What JSON and messages read of a mechanism."""

from typing import Any, Protocol

from skrldp.mechanism._forms import Form
from skrldp.mechanism._guarantee import Guarantee
from skrldp.mechanism._others import Others

__all__ = ["Parts"]


class Parts(Protocol):
    """The attributes of a :class:`Mechanism`, which says what each is."""

    @property
    def secrets(self) -> tuple[Any, ...]: ...
    @property
    def values(self) -> tuple[Any, ...]: ...
    @property
    def symbols(self) -> tuple[Any, ...]: ...
    @property
    def columns(self) -> tuple[tuple[Any, bool], ...]: ...
    @property
    def form(self) -> Form: ...
    @property
    def guarantee(self) -> Guarantee | None: ...
    @property
    def others(self) -> tuple[Others, ...] | None: ...
    @property
    def cells(self) -> tuple[tuple[Any, Any], ...]: ...
