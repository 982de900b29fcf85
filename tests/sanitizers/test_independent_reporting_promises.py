"""Independent reporting with `eps_all` and known columns, from data frame to certificate."""

import math

import numpy as np
import pandas as pd
import pytest

from skrldp import IRSanitizer, RenyiBall
from skrldp.design.closed_form import SplitSearch
from skrldp.design.subset import _independent as independent
from skrldp.mechanism import BlockForm


@pytest.fixture(scope="module", autouse=True)
def few_splits():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(independent, "_SPLITS", SplitSearch(5, 5, 3))
        yield


def people(n=2_000, secrets=2, ages=3):
    rng = np.random.default_rng(0)
    s = rng.integers(secrets, size=n)
    city = np.where(rng.random(n) < 0.2, s % 2, rng.integers(2, size=n))
    age = rng.integers(ages, size=n)
    return pd.DataFrame({"s": s, "city": city, "age": age}).astype(str)


def fitted(table, eps=1.0, **more):
    sanitizer = IRSanitizer(eps, sensitive="s", categories="product", **more)
    return sanitizer.set_params(uncertainty=RenyiBall(radius=0.005)).fit(table)


@pytest.mark.parametrize("underlying", ["grr", "optimal"])
def test_less_is_said_as_more_is_promised(underlying):
    table = people()
    free = fitted(table, underlying=underlying)
    before = 0.0
    for eps_all in (1.0, 1.6, 1e6):
        found = fitted(table, underlying=underlying, eps_all=eps_all)
        certificate = found.certificate_
        assert certificate.eps <= 1.0 and certificate.eps_all <= eps_all
        assert found.mutual_information_ >= before * (1.0 - 1e-5)
        before = found.mutual_information_
    assert before == pytest.approx(free.mutual_information_, rel=1e-6)
    found = fitted(table, underlying=underlying, known=["city"])
    assert found.certificate_.known.eps <= 1.0
    assert found.mutual_information_ <= free.mutual_information_ * (1.0 + 1e-5)
    assert list(found.transform(table.head(2))) == ["s", "city", "age"]


def test_all_of_u_known_is_what_is_proven_of_those_who_know_it():
    found = fitted(people(), eps=0.4, known=["age", "city"])
    certificate = found.certificate_
    assert certificate.known.eps <= 0.4
    assert certificate.known.eps == pytest.approx(certificate.eps_given_u, abs=1e-9)
    assert certificate.eps_all > 0.4


def test_large_alphabets_are_proven_without_a_matrix(monkeypatch):
    def matrix(_):
        raise AssertionError("the matrix of a large mechanism was written out")

    monkeypatch.setattr(BlockForm, "weights", property(matrix))
    table = people(20_000, secrets=3, ages=90)
    found = fitted(table, eps=1.5, known=["city"], eps_all=3.0)
    certificate = found.certificate_
    assert found.joint_.counts.shape == (3, 180)
    assert certificate.eps <= 1.5 and certificate.known.eps <= 1.5 and certificate.eps_all <= 3.0
    assert max(certificate.eps / 1.5, certificate.known.eps / 1.5, certificate.eps_all / 3.0) > 0.99
    assert math.isfinite(found.solution_.bound)


def test_refusals():
    with pytest.raises(ValueError, match=r"eps_all=0\.5 must be at least eps=1"):
        fitted(people(), eps_all=0.5)
    with pytest.raises(ValueError, match="column s is sensitive, so it cannot be known"):
        fitted(people(), known=["s"])
