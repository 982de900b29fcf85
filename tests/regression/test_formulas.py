"""Formulas run no code, mean what they say, and predictions invent nothing."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skrldp import Bins, FrequencyEstimator, GRRSanitizer
from skrldp.regression import logit
from skrldp.regression.expressions import FormulaError, read_terms
from skrldp.regression.formula import read_formula

formulaic = pytest.importorskip("formulaic")

JOBS = ["1", "a", "b (c)"]
RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "ill": RNG.choice(["no", "yes"], 4_000),
        "age": RNG.choice([20, 30, 45], 4_000),
        "my job": RNG.choice(JOBS, 4_000),
        "happy": RNG.random(4_000) < 0.6,
        "log": RNG.choice([1.5, 2.5], 4_000),
    }
)
PEOPLE["ill"] = np.where(RNG.random(4_000) < PEOPLE["age"] / 60, "yes", PEOPLE["ill"])


@pytest.fixture(scope="module")
def estimator():
    stating = GRRSanitizer(eps=25.0, sensitive="ill", random_state=0).fit(PEOPLE)
    return FrequencyEstimator(stating).fit(stating.transform(PEOPLE))


@pytest.fixture
def no_code(monkeypatch):
    """Assert that nothing is evaluated as Python while a formula is read."""
    calls = []
    for name in ("builtins.eval", "builtins.exec", "os.system"):
        monkeypatch.setattr(name, lambda *args, **kwargs: calls.append(args))
    yield
    monkeypatch.undo()
    assert not calls


ATTACKS = [
    "ill ~ {age + 0*np._pytesttester.os.system('id')}",
    "ill ~ age + {(lambda: __import__('os').system('id'))()}",
    "ill ~ age.values",
    "ill ~ I(age.__class__.__bases__[0].__subclasses__())",
    "ill ~ __import__('os')",
    "ill ~ age[0]",
    "ill ~ [age ~ happy]",
    "ill ~ eval(log)",
    'ill ~ float(\'__import__("os").system("id")\')',
    "ill ~ C(age, Treatment(__import__('os').system('id')))",
    "ill ~ I('a' * 999999999)",
    "ill ~ I(`my job` == __import__)",
    "ill ~ log(age, age)",
    "ill ~ log(**age)",
    "ill ~ log(f'{age}')",
    "ill ~ I(b'a' == `my job`)",
    "ill ~ `__import__('os').system('id')`",
    "ill ~ I(age)\n~ {1}",
    "ill ~ \ufb02oat(age)",  # which NFKC makes float
    "ill ~ I(age' )} {1 + 1} '",
    "ill ~ age**99999999",
    "ill ~ I(" + "(" * 3000 + "age" + ")" * 3000 + ")",
    "ill ~ I(" + "9" * 5000 + ")",
    "ill ~ I(age + 1" + "0" * 400 + ")",
]


@pytest.mark.parametrize("formula", ATTACKS)
def test_what_is_not_in_the_list_is_refused_and_never_run(formula, estimator, no_code):
    with pytest.raises(ValueError, match=r"^(formula .* (cannot|has)|column .* does not exist)"):
        logit(formula, estimator)


PIECES = r"""age `my_job` happy log ill os np ~ + : * ** 2 0 ( ) { } [ ] ` ' " \ . , == = % | ^ #
lambda in not and reference I( C( log( float( Treatment( eval( 'a' __import__('os') I(age+1)
ill~age+"""


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*PIECES.split(), " ", "\n"]), max_size=12).map("".join))
@example("ill ~ I(age == 20)`'{os}'`")
def test_formulaic_gets_names_digits_and_operators_alone(formula):
    try:
        terms = read_terms(formula)
        parsed = formulaic.parser.DefaultFormulaParser().get_terms(terms.formula)
    except (FormulaError, formulaic.errors.FormulaicError, SyntaxError, TypeError, ValueError):
        return
    except (AttributeError, RecursionError):
        return  # of formulaic, as of the formula `~`
    for term in (term for side in parsed._flatten() for term in side):
        for factor in term.factors:
            assert factor.eval_method.value in ("lookup", "literal")
            assert factor.expr in terms.calls or factor.expr.isdecimal()


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("log(age + 1)", lambda p: np.log(p["age"] + 1)),
        ("I(age**2 / 7 - 3 * age % 2)", lambda p: p["age"] ** 2 / 7 - 3 * p["age"] % 2),
        ("I(age ** 14)", lambda p: p["age"].astype(float) ** 14),  # no integers that overflow
        ("I(`my job` == 'b (c)')", lambda p: p["my job"] == "b (c)"),
        ("I('1' != `my job`)", lambda p: p["my job"] != "1"),
        ("I(20 < age <= 30 or not happy)", lambda p: (p["age"] == 30) | ~p["happy"]),
        ("I(age > 20 & happy)", None),
        ("I((age > 20) | (happy == True))", lambda p: (p["age"] > 20) | p["happy"]),
        ("maximum(age - 25, 0)", lambda p: (p["age"] - 25).clip(0)),
        ("sqrt(abs(-log))", lambda p: np.sqrt(p["log"])),
        ("round(log(log))", lambda p: np.rint(np.log(p["log"]))),
    ],
)
def test_calls_mean_what_they_say(formula, expected, estimator):
    if expected is None:
        with pytest.raises(ValueError, match="join conditions"):
            read_formula(f"ill ~ {formula}", estimator, "logit")
        return
    regression = read_formula(f"ill ~ 0 + {formula}", estimator, "logit")
    frame = pd.DataFrame({name: list(own) for name, own in regression.values.items()})
    np.testing.assert_allclose(regression.regressors[:, 0], expected(frame).astype(float))


def test_the_reference_category_is_the_first_or_the_given_one(estimator):
    usual = logit("ill ~ C(age) + `my job`", estimator).params
    other = logit("ill ~ C(age, Treatment(reference=45)) + C(`my job`, Treatment('a'))", estimator)
    assert [name for name in usual.index if "age" in name] == ["C(age)[T.30]", "C(age)[T.45]"]
    shift = usual["C(age)[T.45]"]
    assert other.params.iloc[1] == pytest.approx(-shift, abs=1e-9)
    assert other.params.iloc[2] == pytest.approx(usual["C(age)[T.30]"] - shift, abs=1e-9)
    assert list(other.params.index[3:]) == [f"C(my job, Treatment('a'))[T.{k}]" for k in JOBS[::2]]


FORMULA = "ill ~ C(age) + `my job` + C(happy) + log"


def test_predictions_invent_nothing(estimator):
    """Missing values give NaN, unseen categories an error, known ones what they give in pandas."""
    result = logit(FORMULA, estimator)
    records = PEOPLE[["age", "my job", "happy", "log"]].head(8).astype({"age": "Int64"})
    whole = result.predict(records)
    by_hand = result.predict().to_numpy()
    combinations = [tuple(row) for row in zip(*map(list, _values(result).values()), strict=True)]
    rows = records[list(_values(result))].itertuples(index=False, name=None)
    np.testing.assert_allclose(whole, [by_hand[combinations.index(row)] for row in rows])
    for name in records:
        holed = records.astype({"happy": "boolean"})
        holed.loc[2, name] = None
        predicted = result.predict(holed)
        assert predicted.isna().tolist() == [row == 2 for row in range(8)], name
        np.testing.assert_array_equal(predicted.drop(2), whole.drop(2))
    assert result.predict(holed.iloc[[2, 2]]).isna().all()
    for name, strange in {"age": 21, "my job": "z", "happy": 2, "log": "1.5"}.items():
        unseen = records.astype({"age": object, "happy": int})
        unseen[name] = [strange if row == 5 else value for row, value in enumerate(records[name])]
        unseen.loc[2, "age"] = None
        with pytest.raises(ValueError, match=rf"column '{name}' has in row 5 a value .* not "):
            result.predict(unseen.astype({"age": "Int64", "happy": int}))


def test_predictions_take_numbers_where_the_mechanism_has_bins():
    table = PEOPLE[["ill", "age"]]
    bins = Bins([20, 30, 40, 50])
    sanitizer = GRRSanitizer(eps=2.0, sensitive="ill", categories={"age": bins}, random_state=0)
    sanitizer.fit(table)
    result = logit("ill ~ age", FrequencyEstimator(sanitizer).fit(sanitizer.transform(table)))
    numbers = pd.DataFrame({"age": [20, 29.5, None, 45]}, index=list("abcd"))
    labels = pd.DataFrame({"age": ["[20, 30)", "[20, 30)", None, "[40, 50)"]}, index=list("abcd"))
    pd.testing.assert_series_equal(result.predict(numbers), result.predict(labels))
    assert result.predict(numbers).isna().to_dict() == dict.fromkeys("abd", False) | {"c": True}
    for outside in (50, 19.9, -1):
        with pytest.raises(ValueError, match="in row 3 a value that is outside of"):
            result.predict(numbers.assign(age=[20, 29.5, None, outside]))


def _values(result):
    """Combinations of the right side's columns."""
    return {k: v for k, v in result._regression.values.items() if k != "ill"}
