"""The list of mutants is true of the package as it is; `make mutants` runs them."""

import pytest
from mutate import Mutant, outcome, read, wrong

MUTANTS = read()


def test_every_mutant_fits_its_file_and_few_are_harmless():
    """A reason why a mutant is harmless is an exception, not a way to a good score."""
    assert not [text for mutant in MUTANTS if (text := wrong(mutant))]
    assert len({(m.file, m.code, m.mutated) for m in MUTANTS}) == len(MUTANTS)
    assert len(MUTANTS) > 100
    assert sum(bool(mutant.harmless) for mutant in MUTANTS) < len(MUTANTS) / 6


@pytest.mark.parametrize(
    ("code", "mutated", "complaint"),
    [
        ("x = 3", "x = 4", "0 times"),
        ("x", "y", "2 times"),
        ("x = 1", "x = (", "no Python"),
        ("x = 1", "x = 1", "changes nothing"),
    ],
)
def test_a_mutant_that_does_not_fit_is_refused(tmp_path, code, mutated, complaint):
    (tmp_path / "skrldp").mkdir()
    (tmp_path / "skrldp" / "a.py").write_text("x = 1\nx += 1\n")
    assert complaint in wrong(Mutant(1, "a.py", code, mutated, ()), tmp_path)
    assert "no such file" in wrong(Mutant(1, "b.py", code, mutated, ()), tmp_path)


def test_a_mutant_is_noticed_or_not(tmp_path, monkeypatch):
    """The tool itself: a wrong line that a test sees, one that none sees, and a clean copy."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # their imports take seconds
    for folder in ("skrldp", "tests"):
        (tmp_path / folder).mkdir()
    source = tmp_path / "skrldp" / "a.py"
    source.write_text("x = 1\ny = 1\n")
    seen = "import runpy\ndef test_x():\n    assert runpy.run_path('skrldp/a.py')['x'] == 1\n"
    (tmp_path / "tests" / "test_a.py").write_text(seen)
    tests = ("test_a.py",)
    result, how = outcome(Mutant(1, "a.py", "x = 1", "x = 2", tests), tmp_path, 60.0)
    assert result == "killed" and "test_x" in how
    assert outcome(Mutant(2, "a.py", "y = 1", "y = 2", tests), tmp_path, 60.0)[0] == "survived"
    assert source.read_text() == "x = 1\ny = 1\n"
