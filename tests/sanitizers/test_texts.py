"""Parameters and their texts: declared once, complete in every class."""

import inspect
import re

import pytest
from sklearn.base import BaseEstimator

import skrldp
from skrldp.sanitizers.parameters import with_parameters

NAMES = [name for name in skrldp.__all__ if name.endswith("Sanitizer")]
SANITIZERS = [getattr(skrldp, name) for name in NAMES]


@with_parameters
class Spoon(BaseEstimator):
    """A spoon.

    Parameters
    ----------
    size : float, default=1.0
        How large it is.

    Notes
    -----
    Use: for soup,
    and for honey.
    """

    size: float = 1.0


@with_parameters
class Ladle(Spoon):
    """A ladle.

    Parameters
    ----------
    {size}
    holes : int, default=0
        How many it has.

    Notes
    -----
    {Use}
    """

    holes: int = 0


def test_texts_are_those_of_base_classes():
    head, tail = inspect.cleandoc(Ladle.__doc__).split("\nholes")
    assert head.endswith("size : float, default=1.0\n    How large it is.")
    assert tail.endswith("Use: for soup,\nand for honey.")


def test_a_text_that_is_nowhere_is_an_error():
    with pytest.raises(KeyError, match="handle"):

        @with_parameters
        class Cup(Spoon):
            """A cup.

            {size, handle}
            """


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
