"""The texts of parameters, which classes take from their base classes, are complete."""

import inspect
import re

import pytest

import skrldp
from skrldp import GRRSanitizer
from skrldp.sanitizers.parameters import with_parameters

SANITIZERS = [getattr(skrldp, name) for name in skrldp.__all__ if name.endswith("Sanitizer")]


@pytest.mark.parametrize("cls", SANITIZERS, ids=lambda cls: cls.__name__)
def test_every_parameter_is_described_with_its_default(cls):
    doc = inspect.cleandoc(cls.__doc__)
    section = doc.split("\nParameters\n----------\n")[1].split("\n\nAttributes\n")[0]
    lines = dict(re.findall(r"^(\w+) : (.*)$", section, flags=re.MULTILINE))
    parameters = inspect.signature(cls).parameters
    assert lines.keys() == parameters.keys()
    assert not re.search(r"^\{.*\}$", doc, flags=re.MULTILINE)
    first = next(iter(parameters.values()))
    assert (first.name, first.kind) == ("eps", first.POSITIONAL_OR_KEYWORD)
    for name, parameter in parameters.items():
        stated = re.search(r"default=(.*)$", lines[name])
        if stated is None:
            continue
        default = parameter.default
        texts = (repr(default), f'"{default}"', f"{default:_}" if isinstance(default, int) else "")
        assert stated[1] in texts or float(stated[1]) == default, name


def test_a_text_that_no_base_class_has_is_an_error():
    with pytest.raises(KeyError, match="handle"):

        @with_parameters
        class Cup(GRRSanitizer):
            """A cup.

            {eps, handle}
            """
