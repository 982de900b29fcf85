"""``skrldp design``: a public table in, a mechanism and its privacy report out."""

from __future__ import annotations

import contextlib
import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from operator import methodcaller
from pathlib import Path
from typing import Any

from skrldp.cli._distinct import count_rows
from skrldp.cli._errors import CommandError
from skrldp.cli._figures import as_html, as_json
from skrldp.cli._formats import Asked, check_delimiter, kind_of
from skrldp.cli._outputs import STANDARD, new_file
from skrldp.cli._progress import for_people
from skrldp.cli._sets import uncertainty_of

__all__ = ["design"]

_SHOWN = methodcaller("_repr_html_")  # as notebooks show it
_SANITIZERS = {
    "polyopt": "PolyOptSanitizer",
    "a-optimal": "AOptimalSanitizer",
    "robust-mse": "RobustMSESanitizer",
    "ir": "IRSanitizer",
    "srr": "SRRSanitizer",
    "grr": "GRRSanitizer",
    "non-robust": "NonRobustSanitizer",
}
# What a design is for. Reports that are read should be right as often as possible.
_PURPOSES = {"figures": "a-optimal", "records": "robust-mse", "information": "polyopt"}


def design(
    public: str,
    *,
    output: str,
    purpose: str | None,
    sanitizer: str | None,
    sensitive: Sequence[str],
    columns: Sequence[str],
    counts: str | None,
    categories: str | None,
    text: Sequence[str],
    parameters: Mapping[str, Any],
    stated_set: Mapping[str, Any],
    survey: Mapping[str, Any],
    page: str | None,
    kind: Asked,
    force: bool,
    quiet: bool,
    in_json: bool,
) -> None:
    """Design a mechanism from a public table, write it, and print its privacy report."""
    drawn = {name: value for name, value in survey.items() if value is not None}
    if purpose is not None and sanitizer is not None:
        raise CommandError("--for and --sanitizer exclude each other: each says what is designed.")
    sanitizer = sanitizer or _PURPOSES[purpose or "figures"]
    designer = _designer(sanitizer, sensitive, categories, parameters, stated_set)
    if drawn:
        designer.set_params(**_of_survey(drawn, counts, stated_set))
    of_design = [drawn[name] for name in ("weights", "strata", "clusters") if name in drawn]
    inputs = [public, categories]
    wanted = [*sensitive, *columns, *of_design] if columns else None
    if output == page:
        raise CommandError("the mechanism and the page need different names.")
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(new_file(output, force=force, inputs=inputs))
        html = (
            None
            if page is None
            else stack.enter_context(new_file(page, force=force, inputs=inputs))
        )
        own = kind_of(public, kind)
        check_delimiter(kind, own)
        table, weights = count_rows(public, own, wanted, text=text, counts=counts, quiet=quiet)
        _check_columns(table.column_names, sensitive, public)
        if drawn:  # the rows again: each is a record, with its weight
            import numpy as np

            table, weights = table.take(np.repeat(np.arange(len(weights)), weights)), None
        designer.set_params(verbose=int(for_people(quiet)))
        with contextlib.redirect_stdout(sys.stderr):  # what `verbose` prints is no result
            designer.fit(table, sample_weight=weights)
        from skrldp.statement import privacy_report

        found = privacy_report(designer)
        file.write(designer.mechanism_.to_json().encode())
        if html is not None:
            html.write(as_html("Privacy report", _SHOWN(found)).encode())
    told = sys.stderr if output == STANDARD else sys.stdout
    if in_json:
        figures = {"digest": designer.mechanism_.digest, **found.to_dict()}
        print(as_json(figures), file=told)
    elif not (output == STANDARD and quiet):
        print(found, file=told)


def _of_survey(
    drawn: Mapping[str, Any], counts: str | None, stated_set: Mapping[str, Any]
) -> dict[str, Any]:
    """Make the design of a survey that options state, and the set that goes with it."""
    from skrldp.surveys import SurveyDesign

    found: dict[str, Any] = {}
    if stated_set["uncertainty"] in (None, "likelihood-ratio") and "max_weight" not in drawn:
        around = uncertainty_of("likelihood-ratio", stated_set["beta"])
        found["uncertainty"] = around.set_params(radius="asymptotic")
    if counts is not None:
        raise CommandError("--counts does not go with a survey's design, which is about records.")
    try:
        return found | {"survey": SurveyDesign(**drawn)}
    except ValueError as error:
        raise CommandError(f"--weights, --strata, --clusters: {error}") from None


def _designer(
    sanitizer: str,
    sensitive: Sequence[str],
    categories: str | None,
    parameters: Mapping[str, Any],
    stated_set: Mapping[str, Any],
) -> Any:
    """Make the sanitizer, and refuse options that it does not have."""
    from skrldp import sanitizers

    kind = getattr(sanitizers, _SANITIZERS[sanitizer])
    known = inspect.signature(kind).parameters
    given = {name: value for name, value in parameters.items() if value not in (None, [], ())}
    for name in given:
        if name not in known:
            option = "--" + name.replace("_", "-")
            able = [
                other
                for other, class_name in _SANITIZERS.items()
                if name in inspect.signature(getattr(sanitizers, class_name)).parameters
            ]
            raise CommandError(
                f"{option} does not go with --sanitizer {sanitizer}, but with {', '.join(able)}."
            )
    given["uncertainty"] = uncertainty_of(**stated_set)
    if sanitizer == "robust-mse":
        given["distance"] = "hamming"
    if categories is not None:
        given["categories"] = _categories(categories)
    names = list(sensitive)
    return kind(sensitive=names[0] if len(names) == 1 else names, **given)


def _categories(path: str) -> dict[str, list[Any]]:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CommandError(f"{path}: there is no such file.") from None
    except (OSError, ValueError):
        found = None
    if not (isinstance(found, dict) and all(isinstance(v, list) for v in found.values())):
        raise CommandError(
            f"{path} is no JSON object with a list of values for each column, as in "
            '{"hours": ["0-34", "35-40", "41-"]}.'
        )
    return found


def _check_columns(names: Sequence[str], sensitive: Sequence[str], path: str) -> None:
    for name in sensitive:
        if name not in names:
            has = ", ".join(map(repr, names))
            raise CommandError(f"{path} lacks the column {name!r} (--sensitive); it has {has}.")
    if len(set(names)) <= len(set(sensitive)):
        raise CommandError(f"{path} has no column besides the sensitive ones.")
