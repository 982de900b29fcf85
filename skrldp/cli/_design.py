"""``skrldp design``: a public table in, a mechanism and its privacy report out."""

from __future__ import annotations

import json as js
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, redirect_stdout
from csv import reader
from datetime import datetime
from inspect import signature
from typing import Annotated, Any, Literal

import numpy as np
from typer import Option

from skrldp.alphabet.categories import listed
from skrldp.alphabet.numbers import Bins, Knots, Numbers
from skrldp.batches.arrow import arrow_numbers, numbers_of
from skrldp.cli import _common as o
from skrldp.cli._common import CommandError, for_people, of_commands, progress, tell
from skrldp.cli._files import new_file
from skrldp.cli._mechanism import read_numbers, read_text
from skrldp.cli._tables import STANDARD, Table, mark_missing, new_name, weighted, with_counts
from skrldp.targets import Marginal

_ROWS_HELD = 1 << 20  # maximum number of rows in memory before equal ones are combined


def design(
    public: Annotated[str, o.argument("PUBLIC", f"The public table: {o.TABLE}")],
    *,
    output: Annotated[
        str,
        o.option("--output -o FILE", "Output file for the mechanism's JSON. - is standard output."),
    ],
    sensitive: Annotated[
        list[str],
        o.option(
            "--sensitive -s COLUMN",
            "A sensitive column; several are protected together. all: the whole record.",
        ),
    ],
    eps: Annotated[
        float,
        o.option(
            "--eps -e NATS",
            "A report changes the odds of two secrets by a factor of at most e^NATS.",
        ),
    ],
    column: Annotated[
        o.Names,
        o.option(
            "--column -c COLUMN", "A further column of the record; repeatable. By default, all."
        ),
    ] = None,
    sanitizer: Annotated[
        Literal["a-optimal", "polyopt", "robust-mse", "ir", "srr", "grr", "non-robust"],
        Option(
            help=(
                "a-optimal for the smallest errors of shares and means (the default), polyopt for "
                "the most information, robust-mse for the smallest changes; grr, srr and ir need "
                "no search."
            ),
            show_default=False,
        ),
    ] = "a-optimal",
    target: Annotated[
        o.Names,
        o.option(
            "--target COLUMN", "A column whose shares a-optimal should estimate well; repeatable."
        ),
    ] = None,
    blocks: Annotated[
        o.Names,
        o.option(
            "--blocks COLUMNS",
            'Each person reports one block of columns: "age,job", "singles" (each column) or '
            '"pairs" (every pair); repeatable. The output is a manifest of mechanisms.',
        ),
    ] = None,
    bins: Annotated[
        o.Names,
        o.option(
            "--bins COLUMN=EDGES",
            'Edges of bins for the numbers or dates of a column: "age=0,18,65,inf"; repeatable. '
            "Records still contain numbers.",
        ),
    ] = None,
    knots: Annotated[
        o.Names,
        o.option(
            "--knots COLUMN=NUMBERS",
            "Knots to which the numbers of a column are rounded at random, so that means have no "
            'bias: "hours=0,15,30,60,99"; repeatable.',
        ),
    ] = None,
    counts: o.Counts = None,
    missing: o.Missing = None,
    categories: Annotated[
        o.Text,
        o.option(
            "--categories FILE",
            'JSON file with all values of columns, {"column": [values]}; or "dtype" for '
            "dictionaries that were fixed in advance.",
        ),
    ] = None,
    min_frequency: Annotated[
        o.Text,
        o.option(
            "--min-frequency RECORDS",
            'Values with fewer records are reported as "other". "auto": as many records as beta '
            "needs, and unknown values are also reported as other.",
        ),
    ] = None,
    eps_worst_case: Annotated[
        float | None,
        o.option("--eps-worst-case NATS", "A second limit, like --eps, for every distribution."),
    ] = None,
    observer_columns: Annotated[
        o.Names,
        o.option("--observer-column COLUMN", "A column that observers may know; repeatable."),
    ] = None,
    witness: Annotated[
        o.Text,
        o.option("--witness FILE", ("Output file for a proof that others can check with verify.")),
    ] = None,
    public_counts: Annotated[
        o.Text,
        o.option(
            "--public-counts FILE", "Output file for the public counts to which the proof refers."
        ),
    ] = None,
) -> None:
    """Design a mechanism from a public table.

    Writes the mechanism, which is sufficient for reporting, and prints its privacy report: the
    proved guarantees and their limits. For a table of many columns, --blocks writes a manifest of
    mechanisms, which inspect, report and estimate accept like a mechanism. The exit code is 1 if
    the mechanism cannot be proved private; nothing is written then.

    A public table from a survey, with weights or clusters, needs Python: SurveyDesign.
    """
    names = [name for name in (output, witness, public_counts) if name is not None]
    if len(set(names)) < len(names):
        raise CommandError("the mechanism and the other files need different names.")
    cut = dict(_numbers("--bins", text, Bins) for text in bins or [])
    cut |= dict(_numbers("--knots", text, Knots) for text in knots or [])
    if target and blocks:
        raise CommandError("--target applies to a single mechanism: omit --blocks.")
    with ExitStack() as stack:
        inputs = [public, categories]
        files = {name: stack.enter_context(new_file(name, inputs=inputs)) for name in names}
        wanted = with_counts([*sensitive, *column], counts, public) if column else None
        source = Table(public, wanted)
        columns = [name for name in source.schema.names if name != counts]
        if sensitive == ["all"] and "all" not in columns:
            sensitive = columns
        for option, required in (("--sensitive", sensitive), ("--target", target or ())):
            if lacking := [name for name in required if name not in columns]:
                has = listed(columns)
                words = f"{public} lacks the column {lacking[0]!r} ({option}); it has {has}."
                raise CommandError(words)
        designer = _designer(
            sanitizer,
            blocks or [],
            {
                "eps": eps,
                "sensitive": sensitive[0] if len(sensitive) == 1 else sensitive,
                "targets": [Marginal(name) for name in target or ()],
                "eps_worst_case": eps_worst_case,
                "min_frequency": _records(min_frequency),
                "observer_columns": observer_columns,
                "categories": _categories(categories, is_text=source.is_text) | cut,
                "verbose": int(for_people()),
            },
        )
        table, records = _read(source, columns, counts, missing or [], cut)
        tell("designing")
        with redirect_stdout(sys.stderr):
            designer.fit(table, sample_weight=records)
        tell("writing the privacy report")
        from skrldp.certificate import counts_to_json, witness_of
        from skrldp.report import privacy_report

        page = privacy_report(designer)
        mechanism = designer.manifest_ if blocks else designer.mechanism_
        joint = [block.joint_ for block in designer.sanitizers_] if blocks else designer.joint_
        files[output].write(mechanism.to_json().encode())
        if witness is not None:
            tell("writing the witness")
            files[witness].write(witness_of(mechanism, joint).encode())
        if public_counts is not None:
            files[public_counts].write(counts_to_json(joint).encode())
    print(of_commands(str(page)), file=sys.stderr if output == STANDARD else sys.stdout)


# --- What is requested ---------------------------------------------------------------------------


def _designer(sanitizer: str, blocks: Sequence[str], parameters: dict[str, Any]) -> Any:
    """Make the sanitizer, and reject options that it does not have."""
    from skrldp.sanitizers.a_optimal import AOptimalSanitizer
    from skrldp.sanitizers.block_sanitizer import BlockSanitizer
    from skrldp.sanitizers.closed_forms import GRRSanitizer, IRSanitizer, SRRSanitizer
    from skrldp.sanitizers.non_robust import NonRobustSanitizer
    from skrldp.sanitizers.polyopt import PolyOptSanitizer
    from skrldp.sanitizers.robust_mse import RobustMSESanitizer

    options = {name: value for name, value in parameters.items() if value not in (None, [], {})}
    kinds: dict[str, Any] = {
        "a-optimal": AOptimalSanitizer,
        "polyopt": PolyOptSanitizer,
        "robust-mse": RobustMSESanitizer,
        "ir": IRSanitizer,
        "srr": SRRSanitizer,
        "grr": GRRSanitizer,
        "non-robust": NonRobustSanitizer,
    }
    has = {name: signature(kind).parameters for name, kind in kinds.items()}
    of_blocks = signature(BlockSanitizer).parameters if blocks else {}
    for name in options:
        if name not in has[sanitizer] and name not in of_blocks:
            option = "--" + name.replace("_", "-").removesuffix("s" if name == "targets" else "")
            able = (
                ", ".join(kind for kind, accepted in has.items() if name in accepted) or "--blocks"
            )
            raise CommandError(
                f"{option} cannot be used with --sanitizer {sanitizer}, only with {able}."
            )
    if sanitizer == "robust-mse":
        options["distance"] = "hamming"
    accepted = {name: options.pop(name) for name in list(options) if name in of_blocks}
    base = kinds[sanitizer](**options)
    return BlockSanitizer(blocks=_blocks(blocks), base=base, **accepted) if blocks else base


def _blocks(texts: Sequence[str]) -> str | list[list[str]]:
    """Read the rule for all blocks, or the columns of each."""
    if list(texts) in (["singles"], ["pairs"]):
        return texts[0]
    lists = [next(reader([text], skipinitialspace=True), []) for text in texts]
    if not all(lists) or ["singles"] in lists or ["pairs"] in lists:
        raise CommandError(
            '--blocks is "singles" or "pairs", once, or columns separated by commas, as "age,job".'
        )
    return lists


def _records(number: str | None) -> int | str | None:
    """Read a number of records; the sanitizer rejects other values."""
    return int(number) if number is not None and number.isdecimal() else number


def _categories(path: str | None, *, is_text: bool) -> dict[str, Any]:
    """Read the categories of columns, as strings if the table's values are strings."""
    if path is None:
        return {}
    as_text: Any = {"parse_int": str, "parse_float": str} if is_text else {}
    try:
        categories = js.loads(read_text(path), **as_text)
    except ValueError:
        categories = None
    fixed = [] if is_text else ["dtype"]  # of a dictionary
    if not (
        isinstance(categories, dict)
        and all(isinstance(v, list) or v in fixed for v in categories.values())
    ):
        raise CommandError(
            f"{path} must be a JSON object with a list of values for each column, as in "
            '{"hours": ["0-34", "35-40", "41-"]}.'
        )
    return categories


def _numbers(option: str, text: str, kind: type[Bins] | type[Knots]) -> tuple[str, Numbers]:
    """Read a column and its edges or knots: "age=0,18,65"."""
    name, _, points = text.rpartition("=")
    try:
        numbers = [_edge(edge.strip()) for edge in points.split(",")]
    except ValueError:
        numbers = []
    if not (name and numbers):
        raise CommandError(
            f'{option} {text}: pass a column and numbers, as in "age=0,18,65,120", or dates.'
        )
    return name, kind(numbers)


def _edge(text: str) -> float | datetime:
    """Read a number, or a date or time."""
    try:
        return float(text)
    except ValueError:
        return datetime.fromisoformat(text)


# --- The public table ----------------------------------------------------------------------------


def _read(
    source: Table,
    columns: list[str],
    counts: str | None,
    missing: list[str],
    cut: Mapping[str, Numbers],
) -> tuple[Any, Any]:
    """Read the public table; return it, and the number of records that each row represents."""
    import pyarrow as pa
    from pyarrow.types import is_dictionary

    from skrldp.sanitizers.public_table import check_counts

    if missing and not source.is_text:
        raise CommandError(f"--missing applies to strings in CSV, but {source.path} has types.")
    tables, limit, n_rows = [], _ROWS_HELD, 0
    names = [*columns, new_name(columns)]
    plain = not any(is_dictionary(of.type) or of.type.num_fields for of in source.schema)
    batches = progress(source.batches(), source.path)
    for batch, weights, first in weighted(batches, counts, source.path):
        where = f"{source.path}: row {{:,}} (counted from 0)"
        arrays = [mark_missing(batch.column(name), missing) for name in columns]
        arrays = [
            read_numbers(array, name, cut[name], where, first)
            if source.is_text and name in cut
            else array
            for name, array in zip(columns, arrays, strict=True)
        ]
        tables.append(pa.table([*map(_normal, arrays), arrow_numbers(weights)], names))
        n_rows += int(np.count_nonzero(weights))
        if plain and sum(map(len, tables)) > limit:
            tables = [_distinct(tables)]
            limit = max(_ROWS_HELD, 2 * len(tables[0]))
    table = _distinct(tables) if plain else pa.concat_tables(tables)
    weights = numbers_of(table[names[-1]].combine_chunks())
    if counts is not None and plain:  # afterwards all rows are distinct
        check_counts(int(weights.sum()), n_rows, int(np.count_nonzero(weights)))
    table = table.select(columns)
    if source.is_text:
        encoded = [
            table[name] if name in cut else table[name].combine_chunks().dictionary_encode()
            for name in columns
        ]
        table = pa.table(encoded, columns)
    return table, weights


def _normal(column: Any) -> Any:
    """Normalise floats that are the same category: -0.0 is 0.0, and NaN is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_float32(column.type) or pa.types.is_float64(column.type)):
        return column
    return pc.add(pc.if_else(pc.is_nan(column), None, column), pa.scalar(0.0, column.type))


def _distinct(tables: Sequence[Any]) -> Any:
    """Return the distinct rows in order of first occurrence, with the sum of the last column."""
    import pyarrow as pa

    table = pa.concat_tables(tables)
    *keys, number = table.column_names
    grouped = table.group_by(keys, use_threads=False).aggregate([(number, "sum")])
    return grouped.select([*keys, f"{number}_sum"]).rename_columns([*keys, number])
