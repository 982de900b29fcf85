"""Linear algebra on one thread."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()  # searches for libraries, which takes milliseconds


def one_thread() -> AbstractContextManager[Any]:
    """Let linear algebra use one thread: at these sizes, several threads are slower."""
    limit: AbstractContextManager[Any] = _pools().limit(limits=1, user_api="blas")
    return limit
