"""The demo runs, and what the README prints is what its code prints."""

import re

import pytest
from conftest import few_iterations
from test_docs import NUMBER, TEXTS, run, steps

from skrldp import GRRSanitizer, expected_std_error


@pytest.mark.slow
def test_demo(run_example, capsys):
    pytest.importorskip("statsmodels")
    with few_iterations(20):
        run_example("demo.py", "--seconds", 1e4)
    out, error = capsys.readouterr()
    assert error == ""
    assert out.count("\n") <= 40
    rows = re.findall(r"^ .*?([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$", out, re.M)
    assert len(rows) == 4 + 8
    for estimate, error, low, high, truth in (map(float, row) for row in rows):
        assert low <= estimate <= high
        assert abs(estimate - truth) < 6 * error + 0.001  # fails by chance once in 10^7 times
    polyopt, plain = map(float, re.findall(r"([\d.]+)%$", out, re.M))
    assert polyopt > 10 * plain
    assert "'religious', 'happy' are not protected" in " ".join(out.split())


@pytest.mark.slow
def test_readme():
    pytest.importorskip("statsmodels")
    names = {}
    run("README.md", names)
    (_, _, shown), *_ = steps(TEXTS["README.md"])
    prose = TEXTS["README.md"][shown.end() :].partition("\n\n")[2].partition("\n\n")[0]
    private, happy = names["private"], names["private"].groupby("religious")["happy"].mean()
    truth = [*private["religious"].value_counts(normalize=True).sort_index(), *happy]
    assert [float(number) for number in NUMBER.findall(prose)][:8] == [round(t, 3) for t in truth]
    first = truth[0]
    raw, plain = (float(number) for number in NUMBER.findall(prose)[8:])
    assert raw == pytest.approx((first * (1 - first) / len(private)) ** 0.5, abs=5e-5)
    other = GRRSanitizer(eps=1.0, sensitive="affair", categories=names["answers"])
    other.fit(names["public"])
    assert plain == pytest.approx(expected_std_error(other, len(private), "religious")[0], abs=5e-4)
