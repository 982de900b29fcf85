"""CONTRIBUTING.md shows the tree as it is, and its answers to "Where is …?" lead somewhere."""

import re

import pytest
from conftest import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "skrldp"
ANSWERS = re.findall(r"^\| (Where [^|]*\?) \| (.*) \|$", TEXT, flags=re.MULTILINE)


def names(folder):
    """Rooms inside a folder: packages and modules that are not kept to it."""
    for path in folder.iterdir():
        if (path / "__init__.py").is_file():
            yield f"{path.name}/"
        elif path.suffix == ".py" and path.name != "__init__.py":
            yield path.name


def test_the_tree_has_every_room():
    tree = TEXT.partition("```text\nskrldp/\n")[2].partition("tests/")[0]
    told = re.findall(r"^  (\S+)  ", tree, flags=re.MULTILINE)
    assert sorted(told) == sorted(names(PACKAGE))


@pytest.mark.parametrize(("question", "answer"), ANSWERS)
def test_where_is(question, answer):
    quoted = re.findall(r"`([^`<]+)`", answer)
    places = [PACKAGE / name for name in quoted if re.search(r"\.py$|/$", name)]
    assert places, question
    assert all(place.exists() for place in places), answer
    code = "\n".join(p.read_text(encoding="utf-8") for p in places if p.is_file())
    for name in set(quoted) - {str(p.relative_to(PACKAGE)) for p in places}:
        if name.endswith(("/", ".py")):
            continue
        for part in name.split("."):
            assert re.search(rf"^ *(def|class) {part}\b", code, re.MULTILINE), f"{answer}: {part}"


def test_the_questions_are_read():
    assert len(ANSWERS) >= 8
