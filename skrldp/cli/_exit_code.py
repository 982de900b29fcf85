"""What becomes of a command's errors: a message, and the exit code."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

from skrldp.cli._errors import FAILED, INTERRUPTED, PIPE_CLOSED, WRONG, CommandError
from skrldp.cli._progress import aside, said
from skrldp.exceptions import CertificateError, SkrldpError

__all__ = ["exit_code_of"]

# What the package's messages say to people who write Python, and what commands need to say.
_AS_COMMANDS = {
    r"make one with secrets\.token_hex\(32\)": "make one with skrldp key FILE",
    r"Write the bytes of a key with key\.hex\(\), or make": "Make",
    r"give KeyVariable\(name\), or a function that returns the key": (
        "the key of the reports can be in a variable: report --key-variable NAME"
    ),
    r"KeyVariable takes the name of an": "--key-variable takes the name of an",
    r"KeyFile takes the path of a file, not a key": "a key file is given by its name, not as a key",
    r" of (?:the|a) batch(?: of [\d,]+ rows)?": "",
    r", and call check_ids on the whole table": "",
    r"Use min_frequency='auto'": "Use --min-frequency auto",
    # Rows of a survey are counted together, and lose their numbers.
    r"(column .* of weights must .*|lacks the (?:stratum|cluster|weight) of .*): "
    r"rows? \d+(?:, \d+)*(?:, \.\.\.)?": r"\1",
    r"say nest=True": "say --nest",
    r"singleton='(\w+)'": r"--singleton \1",
    r"SurveyDesign\(stratum_sizes=\.\.\.\)": "--stratum-sizes COLUMN",
    r"use LikelihoodRatioSet\(radius='asymptotic'\)": "leave --max-weight out",
}
_UNWRITTEN = "interrupted; nothing was written."


def exit_code_of(work: Callable[[], int | None], *, quiet: bool) -> int:
    """Do a command's work, print errors and warnings in one line each, and return the exit code."""
    try:
        with said(quiet), warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _warn
            code = work() or 0
            sys.stdout.flush()
            return code
    except CertificateError as error:
        _say("error", error)
        return FAILED
    except BrokenPipeError:  # as with `| head`: whoever reads has seen enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # else Python complains when it ends
        return PIPE_CLOSED
    except (CommandError, SkrldpError, ValueError, TypeError, OSError) as error:
        _say("error", error)
        return WRONG
    except KeyboardInterrupt as stop:
        _say("error", " ".join(["interrupted.", *_notes(stop)]) if _notes(stop) else _UNWRITTEN)
        return INTERRUPTED


def _warn(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    own = issubclass(category, UserWarning)  # those of scikit-learn and ours; no deprecations
    if own:
        _say("warning", message)


def _notes(message: object) -> list[str]:
    """Return what was added to an error: what it leaves behind."""
    return getattr(message, "__notes__", [])


def _say(what: str, message: object) -> None:
    text = str(message)
    if isinstance(message, OSError) and message.strerror:
        name = "" if message.filename is None else f"{message.filename}: "
        text = f"{name}{message.strerror}."
    text = " ".join([text, *_notes(message)])
    for python, meant in _AS_COMMANDS.items():
        text = re.sub(python, meant, text)
    aside(f"skrldp: {what}: {text}")
