"""Every code block of the pages runs, what they name exists, and their links lead somewhere."""

import doctest
import importlib.util
import io
import re
import runpy
import textwrap
import tomllib
from contextlib import redirect_stdout

import pandas as pd
import pytest
from conftest import ROOT

import skrldp
from skrldp import auditing, batches, client, display, estimation, model_selection, regression

DOCS = ROOT / "docs"
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
    "docs/guide/engines.md",  # tests/engines/test_engine_recipes.py
}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(text, language):
    """Yield the code and the line number of each fenced block in `language`."""
    for match in FENCE.finditer(text):
        if match[2] == language:
            yield textwrap.dedent(match[3]), text.count("\n", 0, match.start()) + 1


def run(page, names):
    """Run all Python of a page as one session; return what it printed."""
    printed = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for code, line in blocks(TEXTS[page], "python"):
        if ">>>" not in code:
            with redirect_stdout(printed):
                exec(compile(code, f"{page}:{line}", "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(code, {}, page, page, line)
        test.globs = names
        said = io.StringIO()
        result = runner.run(test, out=said.write, clear_globs=False)
        assert result.failed == 0, said.getvalue()
    return printed.getvalue()


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
def test_page(page):
    # What the first page takes for granted.
    table = pd.DataFrame({"ill": ["no", "no", "yes", "yes"] * 50, "visits": ["0", "1+"] * 100})
    given = {"public": table, "private": table} if page == "docs/index.md" else {}
    run(page, given)


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
    assert {"examples", "docs"} <= named_extras


def test_scripts_exist():
    for page, text in TEXTS.items():
        for script in re.findall(r"(?:benchmarks|examples|tests)/[\w/]+\.py", text):
            assert (ROOT / script).is_file(), f"{page} names {script}"


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


def test_the_gallery_has_every_example():
    order = runpy.run_path(str(DOCS / "gallery_order.py"))["ORDER"]
    assert sorted(order) == sorted(path.stem for path in (ROOT / "examples").glob("plot_*.py"))


def test_reference_is_complete():
    listed = set(re.findall(r"^   ((?:[a-z_]+\.)?\w+)$", TEXTS["docs/api.rst"], re.MULTILINE))
    public = set(skrldp.__all__)
    modules = client, batches, estimation, regression, auditing, display, model_selection
    for module in modules:
        name = module.__name__.removeprefix("skrldp.")
        public |= {f"{name}.{item}" for item in module.__all__ if item not in skrldp.__all__}
    public |= {f"targets.{item}" for item in ("Contrast", "Linear", "Marginal", "Mean")}
    public |= {f"certificate.{item}" for item in ("Verdict", "counts_to_json", "verify")}
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
