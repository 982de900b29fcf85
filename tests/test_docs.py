"""Every code block of the pages runs, what they name exists, and their links lead somewhere.

python tests/test_docs.py docs/guide/PAGE.md     writes what its code prints, and saves its pictures
"""

import ast
import doctest
import importlib.util
import io
import itertools
import os
import pkgutil
import re
import runpy
import sys
import textwrap
import tomllib
from contextlib import redirect_stdout

import pytest
from conftest import ROOT

import skrldp
from skrldp import (
    auditing,
    batches,
    client,
    datasets,
    display,
    estimation,
    model_selection,
    regression,
)

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
    *("docs/guide/models.md", "docs/guide/pipelines.md"),  # tests/test_labels.py
    # tests/engines/test_engine_recipes.py
    *("docs/guide/engines.md", "docs/guide/engine_ledgers.md"),
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
            with redirect_stdout(said):
                exec(compile(code, f"{page}:{line}", "exec"), names)
            printed.append(said.getvalue())
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


@pytest.mark.parametrize(
    "page",
    [
        name
        for name, text in TEXTS.items()
        if name.startswith("docs/") and name not in RUN_ELSEWHERE and any(blocks(text, "python"))
    ],
)
def test_page(page, monkeypatch, tmp_path, designs_once):
    monkeypatch.chdir(tmp_path)
    if "load_affairs" in TEXTS[page]:
        pytest.importorskip("statsmodels")
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


def test_scripts_exist():
    for page, text in TEXTS.items():
        for script in re.findall(r"(?:benchmarks|examples|tests)/[\w/]+\.py", text):
            assert (ROOT / script).is_file(), f"{page} names {script}"


def test_what_rooms_are_said_to_have_exists():
    rooms = "|".join(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())
    for page, text in TEXTS.items():
        for name in re.findall(rf"`((?:{rooms})(?:\.\w+){{2,}})", text):
            assert pkgutil.resolve_name(f"skrldp.{name}"), f"{page} names {name}"


def test_links():
    for page, text in TEXTS.items():
        home = (ROOT / page).parent
        for link in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", text)):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (home / path).resolve() if path else ROOT / page
            assert target.exists(), f"{page} links to {link}"
            assert not anchor or anchor in anchors(target), f"{page} links to {link}"


EXPLANATION = {f"docs/guide/{name}.md" for name in ("promise", "sets", "designs", "estimates")}


def test_pages_are_short():
    words = {page: len(text.split()) for page, text in TEXTS.items()}
    docs = {page: count for page, count in words.items() if page.startswith("docs/")}
    guide = {page: count for page, count in docs.items() if page.startswith("docs/guide/")}
    long = {page for page, n in guide.items() if n > (1_500 if page in EXPLANATION else 600)}
    assert not long and sum(guide.values()) <= 19_000 and sum(docs.values()) <= 48_000


def test_images_have_descriptions():
    for page, text in TEXTS.items():
        for description, _ in re.findall(r"!\[([^]]*)\]\(([^)]*)\)", FENCE.sub("", text)):
            assert len(description) > 20, page


def test_toctrees():
    """Every page is reached from the first one, and every entry is a page."""
    reached, todo = set(), ["index"]
    while todo:
        name = todo.pop()
        reached.add(name)
        path = next((p for p in (DOCS / f"{name}.md", DOCS / f"{name}.rst") if p.is_file()), None)
        assert path or name == "auto_examples/index", f"{name} is no page"
        trees = blocks(path.read_text(encoding="utf-8"), "{toctree}") if path else ()
        for entry in (line for tree, _ in trees for line in tree.split("\n")):
            if not entry.strip() or entry.startswith(":"):
                continue
            entry = re.sub(r".*<(.*)>", r"\1", entry)
            for file in path.parent.glob(f"{entry}.*") if "*" in entry else [path.parent / entry]:
                relative = file.resolve().relative_to(DOCS).with_suffix("").as_posix()
                todo += [relative] if relative not in reached else []
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in PAGES[4:]}
    assert pages <= reached


def literals(node):
    """The literal text of a message, with dots where it is formatted; "" if it has none."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [part.value if isinstance(part, ast.Constant) else "…" for part in parts]
    return "".join(map(str, texts)) if isinstance(node, ast.JoinedStr | ast.Constant) else ""


def warnings_of(tree):
    """Yield the message of each warning in a module, also of one that was assigned before."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        assigned = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                assigned[node.targets[0].id] = node.value
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("warnings.warn", "_warn"):
                message = node.args[0]
                message = assigned.get(getattr(message, "id", None), message)
                text = literals(message)
                if len(text.strip("…: .")) > 10:  # others only pass a message on
                    yield text


@pytest.mark.parametrize("page", ["troubleshooting", "warnings"])
def test_messages_on_pages_exist(page):
    """Each piece of a message between dots stands in the package's texts."""
    trees = [ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")]
    code = "\n".join(literals(node) for tree in trees for node in ast.walk(tree))
    shown = re.findall(
        r"^(?:\| |- |.*\* (?:and|or) )\*([^*]+)\*", TEXTS[f"docs/guide/{page}.md"], re.M
    )
    pieces = {piece.strip(" ,") for message in shown for piece in message.split("…")}
    assert len(pieces) > 8
    assert not [piece for piece in pieces if piece not in code]


def test_every_warning_has_its_line():
    page = TEXTS["docs/guide/warnings.md"]
    shown = [message.split("…") for message in re.findall(r"\*([^*\n]+)\*", page)]
    messages = {
        text
        for path in PACKAGE.rglob("*.py")
        for text in warnings_of(ast.parse(path.read_text("utf-8")))
    }
    assert len(messages) > 20
    assert not [
        text
        for text in messages
        if not any(all(piece.strip(" ,") in text for piece in pieces) for pieces in shown)
    ]


def test_the_gallery_has_every_example():
    order = runpy.run_path(str(DOCS / "gallery_order.py"))["ORDER"]
    assert sorted(order) == sorted(path.stem for path in (ROOT / "examples").glob("plot_*.py"))


def test_reference_is_complete():
    listed = set(re.findall(r"^   ((?:[a-z_]+\.)?\w+)$", TEXTS["docs/api.rst"], re.MULTILINE))
    public = set(skrldp.__all__)
    modules = client, batches, datasets, estimation, regression, auditing, display, model_selection
    for module in modules:
        name = module.__name__.removeprefix("skrldp.")
        public |= {f"{name}.{item}" for item in module.__all__ if item not in skrldp.__all__}
    public |= {f"targets.{item}" for item in ("Contrast", "Linear", "Marginal", "Mean")}
    checked = "Verdict", "counts_to_json", "verify", "verify_bounds", "witness_of"
    public |= {f"certificate.{item}" for item in checked}
    public |= {f"claims.{item}" for item in ("Around", "Claim", "Claims")}
    assert listed == public


def test_settings_load():
    """The settings run without the network, and what they name is installed."""
    pytest.importorskip("sphinx")
    settings = runpy.run_path(str(DOCS / "conf.py"))
    missing = [name for name in settings["extensions"] if not importlib.util.find_spec(name)]
    assert not missing
    assert (settings["mathjax_folder"]() / "tex-chtml.js").is_file()
    source = ["[it](../../examples/plot_it.py), [all](../examples/), [other](../examples/demo.py)"]
    settings["lead_to_gallery"](None, "guide/page", source)
    assert source == [
        "[it](../auto_examples/plot_it.rst), [all](auto_examples/index.rst), "
        "[other](../examples/demo.py)"
    ]


if __name__ == "__main__":
    os.chdir(DOCS / "images")
    for page in sys.argv[1:]:
        run(page, {}, write=True)
