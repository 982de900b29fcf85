"""What the reference names is there after `import skrldp`, and nothing else has to be imported."""

import re
import subprocess
import sys

from conftest import ROOT

FRESH = """
import importlib, sys
last = ""
for name in {names}:
    room = name.rpartition(".")[0]
    if room and room != last:  # once for each room: it is not loaded yet
        last = room
        for module in [m for m in sys.modules if m.split(".")[0] == "skrldp"]:
            del sys.modules[module]
    thing = importlib.import_module("skrldp")
    for part in name.split("."):
        thing = getattr(thing, part)
print("all there")
"""


def test_the_reference_names_what_is_there():
    text = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    names = re.findall(r"^   ((?:[a-z_]+\.)*\w+)$", text, re.MULTILINE)
    rooms = {name.rpartition(".")[0] for name in names} - {""}
    assert {"auditing", "client", "estimation", "model_selection"} <= rooms
    code = FRESH.format(names=sorted({*names, *rooms}))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "all there", done.stderr
