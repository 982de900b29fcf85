"""The price of a promise for all distributions, and displays of promises beyond one ε."""

import itertools
import warnings

import numpy as np
import pytest
from regions import lower
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skrldp import (
    GRRSanitizer,
    IRSanitizer,
    LeakageDisplay,
    LikelihoodRatioSet,
    MechanismDisplay,
    PolyOptSanitizer,
    PriceDisplay,
    PrivacyUtilityDisplay,
    RobustMSESanitizer,
    SRRSanitizer,
    UncertaintyDisplay,
)

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = pytest.mark.filterwarnings("ignore:the values of U were learned")

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

COUNTS = [120, 60, 90, 50, 140, 80]
ROWS = [[s, u] for s in range(2) for u in range(3)]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def fitted(template, rows=ROWS, counts=COUNTS):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(template).fit(rows, sample_weight=counts)


def price(template, **options):
    return PriceDisplay.from_table(template, ROWS, sample_weight=COUNTS, **options)


def legend_of(drawn):
    return [text.get_text() for text in drawn.ax_.get_legend().get_texts()]


def polyopt(**parameters):
    return PolyOptSanitizer(**{"solver": "vertices", **lower(parameters)})


# --- PriceDisplay --------------------------------------------------------------------------------


def test_a_price_curve_is_what_fits_give(capsys):
    template = polyopt(eps=0.9, eps_all=5.0, sensitive=0)
    drawn = price({"_mine": template}, eps_all=[4.0, 0.9, 2.0], verbose=1)
    levels, values = drawn.curves["_mine"]
    assert levels.tolist() == [0.9, 2.0, 4.0]
    # The problems are nested, and solved exactly.
    together = [*values, drawn.unbounded["_mine"]]
    assert np.all(np.diff(together) > 1e-3)
    for level, value in ((0.9, values[0]), (None, together[-1])):
        again = fitted(clone(template).set_params(eps_all=level))
        assert value == pytest.approx(again.normalized_mutual_information_, rel=1e-9)
        assert level is None or again.certificate_.eps_all <= level
    assert template.eps_all == 5.0 and not hasattr(template, "mechanism_")
    out = capsys.readouterr().out
    assert "_mine, eps_all=2:" in out and "_mine, eps_all=none:" in out and "IR:" in out

    for name, cls in (("SRR", SRRSanitizer), ("IR", IRSanitizer)):
        peer = fitted(cls(eps=0.9, sensitive=0))
        expected = peer.certificate_.eps_all, peer.normalized_mutual_information_
        assert drawn.points[name] == pytest.approx(expected, rel=1e-9)
    # SRR is among what the curve's first optimum is chosen from, and IR among those at its eps_all.
    assert drawn.points["SRR"][0] <= 0.9 + 1e-9 and values[0] >= drawn.points["SRR"][1] * (1 - 1e-6)

    (line,) = drawn.lines_
    assert np.array_equal(line.get_xydata(), np.stack([levels, values], axis=1))
    assert [tuple(point.get_xydata()[0]) for point in drawn.points_] == [*drawn.points.values()]
    dashed = next(line for line in drawn.ax_.lines if line.get_markevery() == [1])
    end, last = dashed.get_xydata()[1]
    assert last == drawn.unbounded["_mine"] and end > 4.0 and dashed.is_dashed()
    ticks = {t.get_text(): t.get_position()[0] for t in drawn.ax_.get_xticklabels()}
    assert ticks == {"0.9": 0.9, "2": 2.0, "4": 4.0, "∞": end}
    assert legend_of(drawn) == [" _mine", "SRR", "IR"]
    assert "ε = 0.9 over the uncertainty set" in drawn.ax_.get_xlabel()
    figure, ax = plt.subplots()
    assert drawn.plot(ax) is drawn and drawn.ax_ is ax and drawn.figure_ is figure


def test_distances_have_a_price_too():
    template = RobustMSESanitizer({(0, 1): 0.7}, uncertainty=LikelihoodRatioSet(region="lower"))
    drawn = price({"by pair": template, "one": RobustMSESanitizer(1.0)}, eps_all=[1.0, 3.0])
    assert drawn.points == {} and drawn.eps is None
    assert drawn.ax_.get_ylabel() == "expected distance of the report from U"
    for name, (_, values) in drawn.curves.items():
        assert np.all(np.diff([*values, drawn.unbounded[name]]) < 0)
    expected = fitted(clone(template).set_params(eps_all=3.0)).distortion_
    assert drawn.curves["by pair"][1][1] == pytest.approx(expected, rel=1e-3)  # its tolerance
    assert drawn.ax_.get_ylim()[0] == 0.0


def test_default_levels_begin_at_each_eps():
    drawn = price({"a": RobustMSESanitizer(1.5), "b": RobustMSESanitizer(5.5)})
    assert drawn.curves["a"][0].tolist() == [1.5, 2.0, 3.0, 4.0, 6.0, 8.0]
    assert drawn.curves["b"][0].tolist() == [5.5, 6.875, 8.25, 11.0]
    ticks = [t.get_position()[0] for t in drawn.ax_.get_xticklabels()]
    assert {1.5, 11.0} < {*ticks} and 5.5 not in ticks  # no room beside 6
    drawn = price({"a": polyopt(eps=1.5), "b": IRSanitizer(2.0)}, eps_all=[2.0])
    assert list(drawn.points) == ["SRR, ε = 1.5", "IR, ε = 1.5", "SRR, ε = 2"]  # no IR twice


@pytest.mark.parametrize(
    ("template", "levels", "words"),
    [
        (SRRSanitizer(), None, "'SRR' is a SRRSanitizer and has no parameter eps_all: it is priv"),
        ({"mine": GRRSanitizer()}, None, "would be a point of this display"),
        (polyopt(eps=1.0), [0.5, 2.0], r"eps_all=0\.5 is less than eps=1 of 'PolyOpt'"),
        (polyopt(eps={(0, 1): 1.5}), [1.0], r"eps_all=1 is less than eps=1\.5"),
        (polyopt(eps=[[9, 1.5], [1.5, 9]]), [1.0], r"eps_all=1 is less than eps=1\.5"),
        (polyopt(), [], "eps_all is empty"),
        (polyopt(), [2.0, np.inf], "eps_all=inf must be a positive finite number .*in any case"),
        (polyopt(eps=-1.0), None, r"eps=-1\.0 must be a positive"),
        ({"a": RobustMSESanitizer(), "b": polyopt()}, None, "draw them in two displays"),
        ({}, None, "the dict of sanitizers is empty"),
    ],
)
def test_prices_that_cannot_be_drawn(template, levels, words):
    with pytest.raises(ValueError, match=words):
        price(template, eps_all=levels)
    assert not plt.get_fignums()


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ({}, {}, "curves is empty"),
        ({"a": ([1.0, np.inf], [0.1, 0.2])}, {}, "belongs into `unbounded`"),
        ({"a": ([1.0], [0.1])}, {"unbounded": {"b": 0.2}}, "unbounded names 'b', but there is no"),
        ({"a": ([1.0], [0.1])}, {"points": {"b": (0.0, 0.2)}}, "the point 'b' must have a pos"),
    ],
)
def test_bad_prices(arguments, options, words):
    with pytest.raises(ValueError, match=words):
        PriceDisplay(arguments, **options)


def test_points_without_a_bound_are_beyond_the_break():
    drawn = PriceDisplay({"a": ([1.0], [0.1])}, points={"IR": (np.inf, 0.3)}).plot()
    ticks = {t.get_text(): t.get_position()[0] for t in drawn.ax_.get_xticklabels()}
    assert drawn.points_[0].get_xdata()[0] == ticks["∞"] > 1.0
    whole = PriceDisplay({"a": ([1.0, 2.0], [0.1, 0.2])}).plot()
    assert [t.get_text() for t in whole.ax_.get_xticklabels()] == ["1", "2"]


# --- Other displays of such promises -------------------------------------------------------------


def test_utility_against_eps_leaves_other_promises_alone():
    def draw(template, **options):
        PrivacyUtilityDisplay.from_table(template, ROWS, sample_weight=COUNTS, **options)

    with pytest.raises(ValueError, match="'PolyOpt' has one ε for each pair of secrets"):
        draw(polyopt(eps={(0, 1): 1.0}))
    with pytest.raises(
        ValueError, match=r"'PolyOpt' has eps_all=1\.5, which must be at least eps=2"
    ):
        draw(polyopt(eps_all=1.5), eps=[1.0, 2.0])


def test_baselines_have_the_same_alphabets():
    template = polyopt(eps=1.0, max_categories=2)
    drawn = PrivacyUtilityDisplay.from_table(template, ROWS, sample_weight=COUNTS, eps=[1.0])
    expected = fitted(GRRSanitizer(1.0, max_categories=2)).normalized_mutual_information_
    assert drawn.curves["GRR (plain LDP)"][1][0] == expected


@pytest.mark.parametrize(
    ("template", "stated"),
    [
        (polyopt(eps_all=3.0), ["eps_all = 3", "eps_given_u = 3"]),
        (polyopt(), ["unbounded", "unbounded"]),
        (polyopt(observe="nonsensitive"), ["unbounded", "eps_given_u = 0"]),
    ],
)
def test_what_a_report_tells_somebody_who_knows_u(template, stated):
    sanitizer = fitted(template)
    drawn = LeakageDisplay.from_estimator(sanitizer, known_u=True)
    certificate, rows = sanitizer.certificate_, sanitizer.mechanism_.matrix.reshape(-1, 2, 3)
    for y, row in enumerate(rows):
        with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0: a report that nobody sends
            known = np.nanmax([row[0] / row[1], row[1] / row[0]])
            at_all = max(row[s].max() / row[1 - s].min() for s in range(2))
        assert drawn.worst_given_u[y] == pytest.approx(known)
        assert drawn.worst_everywhere[y] == pytest.approx(at_all)
    assert np.log(drawn.worst_given_u.max()) == pytest.approx(certificate.eps_given_u, abs=1e-12)
    assert np.log(drawn.worst_everywhere.max()) == pytest.approx(certificate.eps_all, abs=1e-12)
    _, of_all, of_u, _ = legend_of(drawn)
    assert of_all == f"any distribution: {stated[0]}"
    assert of_u.split("\n")[0] == f"somebody who knows U: {stated[1]}"
    beyond = np.isinf(drawn.worst_given_u).any()
    assert ("triangles: more than the axis shows" in of_u) == beyond
    assert LeakageDisplay.from_estimator(sanitizer).worst_given_u is None


def test_changes_of_many_secrets():
    rows = np.random.default_rng(0).random((4, 5, 3))
    rows[0, 1], rows[1, 2, 0], rows[2, :, 1] = 0.0, 0.0, 0.0
    rows[3, 4] = 1e-3, 1.0, 2.0  # both extremes are of one secret
    given = rows.mean(axis=2)
    drawn = LeakageDisplay(given, np.full(5, 0.2), eps=1.0, rows=rows)
    pairs = list(itertools.permutations(range(5), 2))
    for y, row in enumerate(rows):
        with np.errstate(divide="ignore", invalid="ignore"):
            known = np.nanmax([row[s] / row[t] for s, t in pairs])
            at_all = np.nanmax([row[s].max() / row[t].min() for s, t in pairs])
        assert drawn.worst_given_u[y] == pytest.approx(known)
        assert drawn.worst_everywhere[y] == pytest.approx(at_all)
    compared = np.zeros((5, 5), dtype=bool)
    compared[0, 3] = compared[3, 0] = True
    some = LeakageDisplay(given, np.full(5, 0.2), eps=1.0, compared=compared)
    ratio = given[:, 0] / given[:, 3]
    assert some.worst == pytest.approx(np.maximum(ratio, 1 / ratio))
    with pytest.raises(ValueError, match=r"compared must have shape \(5, 5\)"):
        LeakageDisplay(given, np.full(5, 0.2), eps=1.0, compared=[[True]])
    with pytest.raises(ValueError, match="rows must be a table of 4 reports"):
        LeakageDisplay(given, np.full(5, 0.2), eps=1.0, rows=rows[0])


def test_pairs_that_are_not_compared_are_not_called_bounded():
    rows = [[s, u] for s in range(3) for u in range(2)]
    eps = {(0, 1): np.inf, (0, 2): 1.0, (1, 2): 0.5}
    sanitizer = fitted(
        RobustMSESanitizer(eps, uncertainty=LikelihoodRatioSet(region="lower")), rows
    )
    worst = LeakageDisplay.from_estimator(sanitizer, distribution="worst")
    attained = sanitizer.certificate_.eps_attained
    assert np.nanmax(np.log(worst.worst)) == pytest.approx(attained, abs=1e-9)
    bound, bar, *_ = legend_of(worst)
    assert "the greatest of the pairs that are compared" in bound
    assert bar == "two secrets that are compared"
    for display in (MechanismDisplay, UncertaintyDisplay):
        assert display.from_estimator(sanitizer).figure_


def test_columns_that_are_protected_each_by_itself_are_shown_so():
    rows = [[s, t, u] for s in "ab" for t in "xyz" for u in range(2)]
    counts = np.random.default_rng(0).integers(50, 400, len(rows))
    template = RobustMSESanitizer(
        sensitive=[0, 1], protect="each", uncertainty=LikelihoodRatioSet(region="lower")
    )
    sanitizer = fitted(template, rows, counts)
    of_each = sanitizer.certificate_.each
    for column, names in (("0", ("a", "b")), ("1", ("x", "y", "z"))):
        drawn = LeakageDisplay.from_estimator(sanitizer, distribution="worst", column=column)
        assert drawn.secrets == names and drawn.eps == of_each[column].eps
        assert np.nanmax(np.log(drawn.worst)) == pytest.approx(
            of_each[column].eps_attained, abs=1e-9
        )
    worst = LeakageDisplay.from_estimator(sanitizer)
    assert worst.eps == sanitizer.certificate_.eps
    with pytest.raises(ValueError, match="column='u' is no sensitive column: they are '0', '1'"):
        LeakageDisplay.from_estimator(sanitizer, column="u")
    with pytest.raises(ValueError, match="protected jointly"):
        LeakageDisplay.from_estimator(fitted(SRRSanitizer()), column="0")
