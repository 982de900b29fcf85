"""Every code block of the pages runs, what they name exists, and their links lead somewhere.

python tests/test_docs.py docs/guide/PAGE.md     writes what its code prints, and saves its pictures
"""

import ast
import doctest
import functools
import io
import itertools
import os
import pkgutil
import re
import runpy
import sys
import textwrap
import tomllib
import warnings
from contextlib import contextmanager, nullcontext, redirect_stdout

import pytest
from conftest import ROOT, few_iterations

DOCS, PACKAGE = ROOT / "docs", ROOT / "skrldp"
GENERATED = {"_build", "auto_examples", "generated"}
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    ROOT / "examples" / "web_survey" / "README.md",
    *(
        path
        for path in sorted([*DOCS.rglob("*.md"), *DOCS.glob("*.rst")])
        if not GENERATED & set(path.relative_to(DOCS).parts)
    ),
]
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in PAGES}
FENCE = re.compile(r"^( *)```(\S*)\n(.*?)^\1```$", flags=re.DOTALL | re.MULTILINE)
RUN_ELSEWHERE = {
    "docs/guide/pipelines.md",  # tests/test_label_beside_report.py
    # tests/engines/test_engine_recipes.py
    *("docs/guide/engines.md", "docs/guide/engine_ledgers.md"),
}
# Pages that show the eps or the information of designs; on others these end after a few iterations.
OPTIMAL = {
    "docs/start.md",
    *(
        f"docs/guide/{name}.md"
        for name in ("audit", "certificates", "officer", "planning", "promise")
    ),
}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(text, language):
    """Yield the code and the line number of each fenced block in `language`."""
    for match in FENCE.finditer(text):
        if match[2] == language:
            yield textwrap.dedent(match[3]), text.count("\n", 0, match.start()) + 1


NUMBER = re.compile(r"-?\d*\.\d+|\d[\d,]{2,}")


def steps(text):
    """Yield the Python of each fenced block, its line, and the output shown below it, if any."""
    found = list(FENCE.finditer(text))
    for match, below in itertools.zip_longest(found, found[1:]):
        if match[2] == "python":
            shown = below and below[2] in ("text", "none")
            shown = shown and not text[match.end() : below.start()].strip()
            yield (
                textwrap.dedent(match[3]),
                text.count("\n", 0, match.start()) + 1,
                below if shown else None,
            )


@contextmanager
def printed_warnings():
    """Print warnings that a page shows, without file and line; others are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda text, category, *_: print(f"{category.__name__}: {text}")
        yield


def agree(printed, shown):
    """The same words, and nearly the same numbers: reports are drawn anew, designs differ.

    Bounds that people copy, which are rounded outwards, are the same: see `copied`.
    """
    if copied(shown) - copied(printed):
        return False
    same = doctest.OutputChecker().check_output
    if not same(NUMBER.sub("#", shown), NUMBER.sub("#", printed), FLAGS):
        return False
    if "..." in shown:
        return True
    both = ([float(own.replace(",", "")) for own in NUMBER.findall(x)] for x in (printed, shown))
    return all(abs(a - b) <= max(0.2, 0.2 * abs(b)) for a, b in zip(*both, strict=True))


def copied(text):
    """The factors and shares of a privacy report in words: they may go into a letter."""
    text = " ".join(text.split())
    if "Privacy report" not in text:
        return set()
    return set(re.findall(r"(?:at most|table of) (\d[\d.,]*\d|\d)", text))


def run(page, names, write=False):
    """Run all Python of a page as one session; return what it printed.

    Blocks that are no doctests print what is shown below them, or it is written there. What is
    marked ``none`` differs each time.
    """
    text, printed, outputs = TEXTS[page], [], []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for code, line, shown in steps(text):
        said = io.StringIO()
        if ">>>" not in code:
            warns = shown is not None and "Warning: " in shown[3]
            with redirect_stdout(said), printed_warnings() if warns else nullcontext():
                exec(compile(code, f"{page}:{line}", "exec"), names)
            printed.append(said.getvalue())
            assert not warns or "Warning: " in printed[-1], f"{page}:{line} warns of nothing"
            if shown:
                outputs.append((shown.span(3), printed[-1]))
                kept = shown[3].strip() if shown[2] == "none" else agree(printed[-1], shown[3])
                assert write or kept, printed[-1]
            continue
        test = doctest.DocTestParser().get_doctest(code, {}, page, page, line)
        test.globs = names
        result = runner.run(test, out=said.write, clear_globs=False)
        assert result.failed == 0, said.getvalue()
    if write:
        for (start, end), output in reversed(outputs):
            text = text[:start] + output + text[end:]
        (ROOT / page).write_text(text, encoding="utf-8")
    return "".join(printed)


def slug(heading):
    """The anchor that a forge and MyST give to a heading."""
    plain = re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "page",
    [
        name
        for name, text in TEXTS.items()
        if name.startswith("docs/") and name not in RUN_ELSEWHERE and any(blocks(text, "python"))
    ],
)
def test_page(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    if "load_affairs" in TEXTS[page]:
        pytest.importorskip("statsmodels")
    with few_iterations(10**9 if page in OPTIMAL else 5):
        printed = run(page, {})
    letter = set(re.findall(r"\[(\d[\d.,]*)(?: %)?\]", TEXTS[page]))
    assert letter <= copied(printed) or "A letter" not in TEXTS[page]
    saved = {path.name for path in tmp_path.glob("*.[sp][vn]g")}
    shown = re.findall(r"!\[[^]]*\]\((?:\.\./)?images/([^)]*)\)", TEXTS[page])
    assert not saved or saved == set(shown)


def test_commands_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named_targets, named_extras = set(), set()
    for page, text in TEXTS.items():
        fenced = "".join(match[3] for match in FENCE.finditer(text))
        make = r"make (?:[A-Z]+=\S+ )?([a-z][a-z-]*)"
        called = {*re.findall(f"^{make}", fenced, re.MULTILINE), *re.findall(f"`{make}", text)}
        extras = set(re.findall(r"pip install [^`\n]*\.\[([a-z]+)\]", text))
        assert called <= targets, page
        assert extras <= set(project["optional-dependencies"]), page
        named_targets |= called
        named_extras |= extras
    assert {"demo", "test", "docs"} <= named_targets
    assert {"examples", "cli"} <= named_extras


def test_files_and_functions_that_pages_name_exist():
    rooms = "|".join(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
    for page, text in TEXTS.items():
        for script in re.findall(r"(?:benchmarks|examples|tests)/[\w/]+\.py", text):
            assert (ROOT / script).is_file(), f"{page} names {script}"
        for name in re.findall(rf"`((?:{rooms})(?:\.\w+){{2,}})", text):
            assert pkgutil.resolve_name(f"skrldp.{name}"), f"{page} names {name}"


def test_links_lead_somewhere_and_images_have_descriptions():
    for page, text in TEXTS.items():
        prose, home = FENCE.sub("", text), (ROOT / page).parent
        for link in re.findall(r"\]\((?![a-z]+:)([^)\s]+)\)", prose):
            path, _, anchor = link.partition("#")
            target = (home / path).resolve() if path else ROOT / page
            assert target.exists(), f"{page} links to {link}"
            assert not anchor or anchor in anchors(target), f"{page} links to {link}"
        for description in re.findall(r"!\[([^]]*)\]\(", prose):
            assert len(description) > 20, page


EXPLANATION = {f"docs/guide/{name}.md" for name in ("promise", "sets", "designs", "estimates")}


def test_pages_are_short():
    words = {page: len(text.split()) for page, text in TEXTS.items()}
    docs = {page: count for page, count in words.items() if page.startswith("docs/")}
    guide = {page: count for page, count in docs.items() if page.startswith("docs/guide/")}
    long = {page for page, n in guide.items() if n > (1_500 if page in EXPLANATION else 600)}
    assert not long and sum(guide.values()) <= 19_000 and sum(docs.values()) <= 48_000


def literals(node):
    """The literal text of a message, with dots where it is formatted; "" if it has none."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [part.value if isinstance(part, ast.Constant) else "…" for part in parts]
    return "".join(map(str, texts)) if isinstance(node, ast.JoinedStr | ast.Constant) else ""


@functools.cache
def trees():
    """Parse the package."""
    return [ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")]


def warning_messages():
    """Yield the message of each warning in the package, also of one that was assigned before."""
    nodes = (node for tree in trees() for node in ast.walk(tree))
    for function in (node for node in nodes if isinstance(node, ast.FunctionDef)):
        assigned = {
            node.targets[0].id: node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("warnings.warn", "_warn"):
                message = node.args[0]
                text = literals(assigned.get(getattr(message, "id", None), message))
                if len(text.strip("…: .")) > 10:  # others only pass a message on
                    yield text


@pytest.mark.slow
@pytest.mark.parametrize("page", ["troubleshooting", "warnings"])
def test_messages_on_pages_exist(page):
    """Each piece of a message between dots is in a string of the package."""
    code = "\n".join(literals(node) for tree in trees() for node in ast.walk(tree))
    quoted = r"^(?:\| |- |.*\* (?:and|or) )\*([^*]+)\*"
    messages = re.findall(quoted, TEXTS[f"docs/guide/{page}.md"], re.MULTILINE)
    pieces = {piece.strip(" ,") for message in messages for piece in message.split("…")}
    assert len(pieces) > 8
    assert not [piece for piece in pieces if piece not in code]


@pytest.mark.slow
def test_every_warning_has_its_line():
    quoted = re.findall(r"\*([^*\n]+)\*", TEXTS["docs/guide/warnings.md"])
    lines = [[piece.strip(" ,") for piece in message.split("…")] for message in quoted]
    messages = set(warning_messages())
    assert len(messages) > 20
    for message in messages:
        assert any(all(piece in message for piece in pieces) for pieces in lines), message


def test_the_gallery_has_every_example():
    order = runpy.run_path(str(DOCS / "gallery_order.py"))["ORDER"]
    assert sorted(order) == sorted(path.stem for path in (ROOT / "examples").glob("plot_*.py"))


if __name__ == "__main__":
    os.chdir(DOCS / "images")
    for page in sys.argv[1:]:
        run(page, {}, write=True)
