"""What the reference names is there after `import skrldp`, and nothing else has to be imported."""

import re

from conftest import ROOT

import skrldp


def test_the_reference_names_what_is_there():
    text = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    names = re.findall(r"^   ((?:[a-z_]+\.)*\w+)$", text, re.MULTILINE)
    rooms = {name.rpartition(".")[0] for name in names} - {""}
    assert {"auditing", "client", "estimation", "model_selection"} <= rooms
    for name in {*names, *rooms}:
        first, *rest = name.split(".")
        thing = skrldp.__getattr__(first)  # what is imported already does not help
        for part in rest:
            thing = getattr(thing, part)
