"""Errors that end a command with a message, and its exit codes."""

from __future__ import annotations

__all__ = ["FAILED", "INTERRUPTED", "PIPE_CLOSED", "WRONG", "CommandError"]

FAILED, WRONG, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141


class CommandError(Exception):
    """Wrong usage or bad input: the message says what, where, and how to mend it."""
