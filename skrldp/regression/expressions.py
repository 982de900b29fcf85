"""Calls in formulas, such as ``log(age)``: parsed and evaluated without running Python.

A formula may come from a web form or a file. Therefore its characters are split into tokens of a
few kinds, calls of permitted functions are parsed into a syntax tree whose names are placeholders,
and this tree is evaluated node by node. Formulaic receives only names of columns, digits and
operators.
"""

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skrldp.alphabet.categories import Column, listed

if TYPE_CHECKING:
    import pandas as pd

_TOKEN = re.compile(
    r"""\s*(?:
    `(?P<quoted>[^`\\]+)` | (?P<text>'[^'`\\]*'|"[^"`\\]*") |
    (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?) | (?P<name>[^\W\d]\w*) |
    (?P<sign>\*\*|[=!<>]=|[-+*/:^|~(),<>&%=])
    )\s*""",
    re.VERBOSE,
)
_WORDS = ("and", "or", "not", "True", "False")
_SIGNS = ("**", *"-+*/:^|~()")  # formulaic's operators; other operators may occur only in calls
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("ceil", "exp", "expm1", "floor", "log", "log10")},
    **{name: getattr(np, name) for name in ("log1p", "log2", "maximum", "minimum", "sqrt")},
    "abs": np.absolute,
    "float": np.positive,
    "I": np.positive,
    "round": np.rint,
}
_OF_TWO = ("maximum", "minimum")
_CODING = ("C", "Treatment")
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
    ast.Pow: np.power,
    ast.UAdd: np.positive,
    ast.USub: np.negative,
}
_LOGIC: dict[type[ast.AST], np.ufunc] = {
    ast.And: np.logical_and,
    ast.BitAnd: np.logical_and,
    ast.Or: np.logical_or,
    ast.BitOr: np.logical_or,
}
_COMPARISONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}
# Functions of whole columns are rejected, because a column here contains each combination of
# categories once.
_OF_COLUMNS = ("bs", "cc", "center", "cr", "cs", "hashed", "lag", "poly", "scale", "standardize")


class FormulaError(ValueError):
    """The reason why a part of a formula is rejected."""


class Call(NamedTuple):
    """A call in a formula: its syntax tree, and the columns in it."""

    tree: ast.expr
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Terms:
    """A formula in the form that formulaic parses.

    Attributes
    ----------
    formula : str
        Names between backticks, digits and operators.
    calls : dict
        What each name stands for: a call, or a column.
    """

    formula: str
    calls: Mapping[str, Call]

    def columns(self, names: Iterable[str]) -> list[str]:
        """Return the columns that names in the formula require, without duplicates."""
        return list(dict.fromkeys(column for name in names for column in self.calls[name].columns))


def read_terms(formula: str) -> Terms:
    """Split a formula into names, digits, operators and calls; reject anything else."""
    tokens = _tokens(formula)
    calls: dict[str, Call] = {}
    written = []
    while tokens:
        kind, token = tokens.pop(0)
        call = None
        if kind == "name" and token not in _WORDS and tokens[:1] == [("sign", "(")]:
            inside = _until_closed(tokens)
            call = _parse([(kind, token), *inside])
            del tokens[: len(inside)]
            token = ast.unparse(call.tree)
        elif kind in ("name", "quoted"):
            call = Call(ast.Name(token), (token,))
        elif kind == "text" or (kind == "number" and len(token) > 1):
            raise FormulaError(f"{token} is allowed in calls only, such as I(x == {token})")
        elif kind == "sign" and token not in _SIGNS:
            raise FormulaError(f"{token!r} is allowed in calls only, such as I(x {token} 1)")
        if call is not None:
            is_word = token in (".", "Intercept") or token.isdecimal()  # of formulaic
            if is_word or calls.setdefault(token, call).columns != call.columns:
                raise FormulaError(
                    f"{token!r} has a different meaning in formulas: rename the column"
                )
            token = f"`{token}`"
        written.append(token)
    return Terms(" ".join(written), calls)


def _tokens(formula: str) -> list[tuple[str, str]]:
    tokens, start = [], 0
    while start < len(formula):
        match = _TOKEN.match(formula, start)
        if match is None:
            raise FormulaError(
                f"{formula[start:].strip()[:1]!r} is not allowed, because formulas contain only "
                "names, numbers, operators and calls such as log(x) or I(x == 'a')"
            )
        kind = str(match.lastgroup)
        tokens.append((kind, match[kind]))
        start = match.end()
    return tokens


def _until_closed(tokens: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """Return the tokens up to the parenthesis that closes the first one."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token == ("sign", "(")) - (token == ("sign", ")"))
        if not depth:
            return tokens[: index + 1]
    raise FormulaError("a parenthesis is not closed")


def _parse(tokens: Sequence[tuple[str, str]]) -> Call:
    """Parse a call, with placeholders for names of columns."""
    names, written = [], []
    for (kind, token), (_, following) in pairwise([*tokens, ("", "")]):
        is_word = kind == "name" and token in (*_WORDS, "reference" if following == "=" else "")
        if kind == "name" and not is_word and following == "(":
            _check_function(token)
        elif kind == "quoted" or (kind == "name" and not is_word):
            names.append(token)
            token = f"_{len(names) - 1}"
        written.append(token)
    try:
        tree = ast.parse(" ".join(written), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        raise FormulaError("a call is not closed, or lacks an operator or an argument") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id.startswith("_"):
            node.id = names[int(node.id[1:])]
    return Call(tree, tuple(names))


def _check_function(name: str) -> None:
    if name in _OF_COLUMNS:
        raise FormulaError(
            f"{name}() needs the records of a table, but only their distribution is estimated: use "
            "functions of single records, such as log(x) or maximum(x - 40, 0)"
        )
    if name not in _FUNCTIONS and name not in _CODING:
        known = ", ".join(sorted((*_FUNCTIONS, *_CODING)))
        raise FormulaError(f"{name}() is not a function of formulas, which are {known}")


def column_of(
    name: str, terms: Terms, values: Mapping[str, NDArray[Any]], levels: Mapping[str, Column]
) -> "pd.Series":
    """Evaluate a name in a formula, as numbers or as a categorical with all categories.

    `values` are the columns, (n,) each, without missing values; `levels` their categories.
    """
    import pandas as pd

    tree = terms.calls[name].tree
    if _function(tree) == "C":
        column, reference = _coding(tree, levels)
    elif isinstance(tree, ast.Name) and not is_numeric(levels[tree.id]):
        column, reference = tree.id, 0
    else:
        n_rows = len(next(iter(values.values())))
        return pd.Series(_evaluate(tree, values, levels) + np.zeros(n_rows))
    known = levels[column]
    order = np.r_[reference, np.delete(np.arange(len(known)), reference)]
    codes = np.argsort(order)[known.codes(values[column])]
    return pd.Series(pd.Categorical.from_codes(codes, [known.categories[k] for k in order]))


def coded_columns(names: Iterable[str], terms: Terms, levels: Mapping[str, Column]) -> set[str]:
    """Return the columns that names of a formula need as categories, not as numbers."""
    coded = set()
    for name in names:
        tree, columns = terms.calls[name]
        is_coding = _function(tree) == "C"
        coded |= {column for column in columns if is_coding or not is_numeric(levels[column])}
    return coded


def is_numeric(column: Column) -> bool:
    """Whether all categories are numbers."""
    return all(isinstance(category, Real) for category in column.categories)


def _coding(tree: ast.expr, levels: Mapping[str, Column]) -> tuple[str, int]:
    """Return the column of a call of C, and the index of its reference category."""
    match tree:
        case ast.Call(args=[ast.Name(id=name)], keywords=[]):
            return name, 0
        case ast.Call(
            args=[
                ast.Name(id=name),
                ast.Call(func=ast.Name(id="Treatment"), args=[level], keywords=[])
                | ast.Call(
                    func=ast.Name(id="Treatment"),
                    args=[],
                    keywords=[ast.keyword("reference", level)],
                ),
            ],
            keywords=[],
        ):
            return name, _level(level, levels[name])
    raise FormulaError("write C(x) or C(x, Treatment('a')): a column and its reference category")


def _level(node: ast.expr, column: Column) -> int:
    """Return the index of the category that a constant names."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            value: Any = -number
        case ast.Constant(value=value):
            pass
        case _:
            raise FormulaError(f"a category of {column.name!r} was expected")
    index = column.code(value)
    if index < 0:
        raise FormulaError(
            f"{value!r} is not a category of {column.name!r}; the categories are "
            f"[{listed(column.categories)}]"
        )
    return index


def _function(node: ast.AST) -> str:
    """Return the name of the function that a node calls; empty if the node is not a call."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id
    return ""


def _evaluate(node: ast.AST, values: Mapping[str, Any], levels: Mapping[str, Column]) -> Any:
    """Evaluate a syntax tree, node by node, as floats or booleans."""

    def numbers(*nodes: ast.AST) -> list[Any]:
        return [_evaluate(operand, values, levels) + 0.0 for operand in nodes]

    def conditions(*nodes: ast.AST) -> list[Any]:
        results = [_evaluate(operand, values, levels) for operand in nodes]
        if any(np.asarray(result).dtype != bool for result in results):
            raise FormulaError("'and', 'or' and 'not' join conditions: put each in parentheses")
        return results

    match node:
        case ast.Constant(value=bool() | int() | float() as number):
            return number if isinstance(number, bool) else float(number)
        case ast.Name(id=name) if is_numeric(levels[name]):
            is_boolean = all(isinstance(level, bool) for level in levels[name].categories)
            return values[name].astype(bool if is_boolean else float)
        case ast.Call(args=[ast.Name(id=name)], keywords=[]) if _function(node) == "float":
            return values[name].astype(float)
        case ast.Call(args=arguments, keywords=[]) if (name := _function(node)) in _FUNCTIONS:
            if len(arguments) != 1 + (name in _OF_TWO):
                raise FormulaError(
                    f"{name}() takes {'two arguments' if name in _OF_TWO else 'one argument'}"
                )
            return _FUNCTIONS[name](*numbers(*arguments))
        case ast.BinOp(op=op) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](*numbers(node.left, node.right))
        case ast.UnaryOp(op=op) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](*numbers(node.operand))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            return _compare(op, left, right, values, levels)
        case ast.Compare(left=left, ops=ops, comparators=rights) if len(ops) > 1:
            sides = zip([left, *rights], ops, rights, strict=False)
            pairs = [ast.Compare(first, [op], [second]) for first, op, second in sides]
            return np.logical_and.reduce(np.broadcast_arrays(*conditions(*pairs)))
        case ast.BoolOp(op=op, values=parts):
            return _LOGIC[type(op)].reduce(np.broadcast_arrays(*conditions(*parts)))
        case ast.BinOp(op=op) if type(op) in _LOGIC:
            return _LOGIC[type(op)](*conditions(node.left, node.right))
        case ast.UnaryOp(op=ast.Not()):
            return np.logical_not(*conditions(node.operand))
    raise FormulaError(f"{ast.unparse(node)!r} is not a number or a condition")


def _compare(
    op: ast.cmpop,
    left: ast.expr,
    right: ast.expr,
    values: Mapping[str, Any],
    levels: Mapping[str, Column],
) -> Any:
    """Compare numbers, or the categories of a column with one of them."""
    column, constant = (left, right) if isinstance(left, ast.Name) else (right, left)
    if not isinstance(column, ast.Name) or is_numeric(levels[column.id]):
        numbers = (_evaluate(side, values, levels) for side in (left, right))
        return _COMPARISONS[type(op)](*numbers)
    if not isinstance(op, ast.Eq | ast.NotEq):
        raise FormulaError(f"categories of {column.id!r} are compared by == and != only")
    is_equal = levels[column.id].codes(values[column.id]) == _level(constant, levels[column.id])
    return is_equal if isinstance(op, ast.Eq) else ~is_equal
