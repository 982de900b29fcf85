"""``skrldp design``: a public table in, a mechanism and its privacy report out."""

from __future__ import annotations

import json as js
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from csv import reader
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal

from skrldp.cli import _options as o
from skrldp.cli._errors import CommandError
from skrldp.cli._outputs import STANDARD, new_file
from skrldp.cli._progress import done, for_people, prints_aside, tell

__all__ = ["design"]

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
    public: o.PublicTable,
    *,
    output: Annotated[
        str,
        o.option(
            "--output -o FILE",
            "Where the mechanism's JSON goes. - is standard output; the privacy report "
            "then goes to standard error.",
        ),
    ],
    sensitive: Annotated[
        list[str],
        o.option(
            "--sensitive -s COLUMN",
            "A column of the secret. Repeat it for several, which are protected together.",
        ),
    ],
    eps: Annotated[
        float,
        o.eps("No report changes the odds of two secrets by more than a factor of e to this."),
    ],
    purpose: Annotated[
        Literal["figures", "records", "information"] | None,
        o.option(
            "--for",
            "What the reports are for: figures such as shares and means (the default), "
            "records to read one by one, or as much information as possible.",
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        o.option(
            "--target COLUMN",
            "With --for figures: the shares of this column matter; repeat it for "
            "several columns. Those of all values of the columns that are not secret, "
            "if not given.",
        ),
    ] = None,
    blocks: Annotated[
        Literal["singles", "pairs"] | None,
        o.option(
            "--blocks",
            "For a table of many columns: each person reports one block of columns, of each "
            "column or of each two of them. What is written is a manifest of mechanisms.",
        ),
    ] = None,
    block: Annotated[
        list[str] | None,
        o.option(
            "--block COLUMNS",
            'In place of --blocks: a block of columns, separated by commas as in "age,job"; '
            "repeat it.",
        ),
    ] = None,
    sanitizer: Annotated[
        Literal["polyopt", "a-optimal", "robust-mse", "ir", "srr", "grr", "non-robust"] | None,
        o.option("--sanitizer", "What is designed, in place of --for; the guide says which."),
    ] = None,
    column: Annotated[
        list[str] | None,
        o.option(
            "--column -c COLUMN",
            "Another column of the record; repeat it. All columns of the table if not given.",
        ),
    ] = None,
    counts: o.Counts = None,
    categories: Annotated[
        str | None,
        o.option(
            "--categories FILE",
            'JSON with all values that columns may have, {"column": [values]}; "dtype" in place '
            "of the list if the column's dictionary was fixed in advance. Values that few counted "
            "records show void --beta.",
        ),
    ] = None,
    edges: Annotated[
        list[str] | None,
        o.option(
            "--edges COLUMN=NUMBERS",
            'With --blocks: where numbers are cut, as in "age=0,18,65,120"; repeat it. -inf and '
            "inf open the outer bins. Records keep their numbers.",
        ),
    ] = None,
    min_frequency: Annotated[
        str | None,
        o.option(
            "--min-frequency RECORDS",
            'Values of fewer records are reported as "other". "auto": what --beta '
            "needs, and unknown values are others too.",
        ),
    ] = None,
    weights: o.Weights = None,
    strata: o.Strata = None,
    clusters: o.Clusters = None,
    nest: o.Nest = False,
    singleton: o.Singleton = None,
    replicate_weights: o.ReplicateWeights = None,
    scale: o.Scale = None,
    max_weight: o.MaxWeight = None,
    stratum_sizes: o.StratumSizes = None,
    text: o.Text = None,
    eps_all: o.EpsAll = None,
    known: Annotated[
        list[str] | None,
        o.option("--known COLUMN", "A column that observers may know of a person; repeat it."),
    ] = None,
    uncertainty: o.Set = None,
    beta: o.Beta = None,
    observe: Annotated[
        Literal["all", "nonsensitive"] | None,
        o.option(
            "--observe", "What the mechanism sees of a person: the whole record, or not the secret."
        ),
    ] = None,
    n_jobs: Annotated[
        int | None,
        o.option("--n-jobs N", "Number of threads or processes; -1: one for each processor."),
    ] = None,
    time_limit: Annotated[
        float | None,
        o.option(
            "--time-limit SECONDS",
            "The search stops then. The design depends on the machine if this is given.",
        ),
    ] = None,
    html: o.Html = None,
    witness: o.Witness = None,
    public_counts: o.PublicCounts = None,
    in_format: o.InFormat = None,
    delimiter: o.Delimiter = None,
    json: o.Json = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> None:
    """Design a mechanism from a public table.

    Writes the mechanism, all that is needed to report, and prints its privacy report: what is
    proven, and what is not promised. For a table of many columns, --blocks writes a manifest of
    mechanisms, which inspect, report and estimate take like a mechanism. The exit code is 1 if the
    mechanism cannot be proven private; nothing is written then.
    """
    if purpose is not None and sanitizer is not None:
        raise CommandError("--for and --sanitizer exclude each other: each says what is designed.")
    names = [name for name in (output, html, witness, public_counts) if name is not None]
    if len(set(names)) < len(names):
        raise CommandError("the mechanism and the other files need different names.")
    from skrldp.cli._distinct import count_rows
    from skrldp.cli._formats import Asked, check_delimiter, kind_of
    from skrldp.cli._sets import asked_set
    from skrldp.cli._surveys import each_record, survey_of

    survey = survey_of(
        counts,
        max_weight,
        weights=weights,
        strata=strata,
        clusters=clusters,
        nest=nest or None,
        singleton=singleton,
        replicate_weights=replicate_weights,
        scale=scale,
        stratum_sizes=stratum_sizes,
    )
    parameters = {
        "eps": eps,
        "targets": _targets(target),
        "eps_all": eps_all,
        "min_frequency": _records(min_frequency),
        "known": known,
        "observe": observe,
        "n_jobs": n_jobs,
        "time_limit": time_limit,
        "categories": None if categories is None else _categories(categories),
        "edges": dict(map(_edges, edges or [])),
    }
    kind_of_design = sanitizer or _PURPOSES[purpose or "figures"]
    common = {
        "sensitive": sensitive[0] if len(sensitive) == 1 else sensitive,
        "verbose": int(for_people()),
    }
    checked = witness is not None or public_counts is not None
    if checked and (survey is not None or blocks is not None or block):
        raise CommandError(
            "--witness and --public-counts are for one mechanism, from a table that is no survey: "
            "a survey's distribution is one of weights, which counts do not give. Each block has a "
            "proof of its own: in Python, sanitizers_[k].certificate_.witness(), and "
            "counts_to_json(sanitizers_[k].joint_)."
        )
    around = asked_set(uncertainty, beta, survey)
    if blocks is None and not block:
        if parameters.pop("edges"):
            raise CommandError("--edges goes with --blocks or --block.")
        designer = _designer(kind_of_design, parameters)
        designer.set_params(uncertainty=around, survey=survey, **common)
    else:
        if survey is not None:
            raise CommandError("--blocks and --block are not for surveys: leave --weights out.")
        if target:
            raise CommandError("--target is for one mechanism: leave out --blocks and --block.")
        if blocks is not None and block:
            raise CommandError("--blocks and --block exclude each other: name all with --block.")
        designer = _designer_of_blocks(kind_of_design, parameters, blocks, block or [])
        designer.base.set_params(uncertainty=around)
        designer.set_params(**common, **({} if beta is None else {"beta": beta}))
    with ExitStack() as stack:
        files = [
            stack.enter_context(new_file(name, force=force, inputs=[public, categories]))
            for name in names
        ]
        kind = kind_of(public, asked := Asked(in_format, delimiter))
        check_delimiter(asked, kind)
        of_design = survey.columns if survey else ()
        wanted = [*sensitive, *column, *of_design] if column else None
        table, records = count_rows(public, kind, wanted, text=text or (), counts=counts)
        _check_columns(table.column_names, sensitive, target or (), public)
        if survey:
            table, records = each_record(table, records, survey), None
        tell("designing")
        with prints_aside():
            designer.fit(table, sample_weight=records)
        tell("writing the privacy report")
        from skrldp.statement import privacy_report

        found = privacy_report(designer)
        made = designer.mechanism_ if blocks is None and not block else designer.manifest_
        files[0].write(made.to_json().encode())
        pages = iter(files[1:])
        if html is not None:
            next(pages).write(found.to_html().encode())
        if witness is not None:
            tell("writing the witness")
            next(pages).write(designer.certificate_.witness().encode())
        if public_counts is not None:
            from skrldp.certificate import counts_to_json

            next(pages).write(counts_to_json(designer.joint_).encode())
    done()
    told = sys.stderr if output == STANDARD else sys.stdout
    if json:
        print(found.to_json(), file=told)
    elif not (output == STANDARD and quiet):
        print(found, file=told)


def _records(number: str | None) -> int | str | None:
    """Read a number of records; what is none is left to the sanitizer to refuse."""
    return int(number) if number is not None and number.isdecimal() else number


def _targets(columns: Sequence[str] | None) -> Any:
    """Return the shares of each column that matters."""
    from skrldp.targets import Marginal

    return [Marginal(name) for name in columns or ()]


def _designer(sanitizer: str, parameters: Mapping[str, Any]) -> Any:
    """Make the sanitizer, and refuse options that it does not have."""
    from skrldp import sanitizers

    kinds = {name: getattr(sanitizers, of_class) for name, of_class in _SANITIZERS.items()}
    known = {name: signature(kind).parameters for name, kind in kinds.items()}
    given = {name: value for name, value in parameters.items() if value not in (None, [], (), {})}
    for name in given:
        if name not in known[sanitizer]:
            option = "--" + name.replace("_", "-").replace("targets", "target")
            able = ", ".join(other for other, own in known.items() if name in own)
            raise CommandError(
                f"{option} does not go with --sanitizer {sanitizer}, but with {able}."
            )
    if sanitizer == "robust-mse":
        given["distance"] = "hamming"
    return kinds[sanitizer](**given)


def _designer_of_blocks(
    sanitizer: str, parameters: Mapping[str, Any], named: str | None, lists: Sequence[str]
) -> Any:
    """Make the sanitizer of blocks, whose base is the sanitizer of each block."""
    from skrldp.sanitizers import BlockSanitizer

    own = signature(BlockSanitizer).parameters
    given = {name: value for name, value in parameters.items() if value not in (None, [], (), {})}
    columns = [next(reader([text], skipinitialspace=True), []) for text in lists]
    if not all(columns):
        raise CommandError("--block names no column.")
    of_blocks = {name: value for name, value in given.items() if name in own}
    base = _designer(sanitizer, {n: value for n, value in given.items() if n not in own})
    return BlockSanitizer(blocks=named or columns, base=base, **of_blocks)


def _categories(path: str) -> dict[str, Any]:
    try:
        found = js.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CommandError(f"{path}: there is no such file.") from None
    except (OSError, ValueError):
        found = None
    if not (
        isinstance(found, dict) and all(isinstance(v, list) or v == "dtype" for v in found.values())
    ):
        raise CommandError(
            f"{path} is no JSON object with a list of values for each column, as in "
            '{"hours": ["0-34", "35-40", "41-"]}.'
        )
    return found


def _edges(text: str) -> tuple[str, list[float]]:
    """Read the edges of a column: "age=0,18,65"."""
    name, _, numbers = text.rpartition("=")
    try:
        found = [float(number) for number in numbers.split(",")]
    except ValueError:
        found = []
    if not (name and found):
        raise CommandError(f'--edges {text}: give a column and numbers, as in "age=0,18,65,120".')
    return name, found


def _check_columns(
    names: Sequence[str], sensitive: Sequence[str], targets: Sequence[str], path: str
) -> None:
    for option, asked in (("--sensitive", sensitive), ("--target", targets)):
        for name in asked:
            if name not in names:
                has = ", ".join(map(repr, names))
                raise CommandError(f"{path} lacks the column {name!r} ({option}); it has {has}.")
    if len(set(names)) <= len(set(sensitive)):
        raise CommandError(f"{path} has no column besides the sensitive ones.")
