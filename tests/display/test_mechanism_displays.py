"""Displays of one mechanism: its matrix, its leakage, and the set that it is private over."""

import itertools

import numpy as np
import pytest
from conftest import on_the_boundary, radius_of_secret, renyi, set_probability
from displays_of_fits import (
    COUNTS,
    assert_legible,
    blocks,
    fitted,
    matplotlib,
    named,
    plt,
    table,
)
from scipy.optimize import linprog

from skrldp import (
    AllDistributions,
    GRRSanitizer,
    JointDistribution,
    LeakageDisplay,
    MechanismDisplay,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RenyiBall,
    SRRSanitizer,
    UncertaintyDisplay,
    certify,
)
from skrldp.display._triangle import CORNERS, box_outline, region_outline, to_plane

# --- MechanismDisplay ----------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.parametrize("order", ["cells", "symbols"])
def test_heat_map_has_the_mechanisms_colours(order):
    """Each entry's pixel in the picture has the colour of its probability."""
    sanitizer = fitted(PolyOptSanitizer)
    drawn = MechanismDisplay.from_estimator(sanitizer, order=order, colorbar=False)
    matrix = sanitizer.mechanism_.matrix[drawn.order_]
    assert sorted(drawn.order_) == list(range(len(matrix)))
    if order == "cells":
        assert np.all(np.diff(matrix.argmax(axis=1)) >= 0)
    drawn.figure_.canvas.draw()
    picture = np.asarray(drawn.figure_.canvas.buffer_rgba())
    for y, x in np.ndindex(matrix.shape):
        column, row = drawn.ax_.transData.transform((x + 0.1, y + 0.1))
        expected = matplotlib.colormaps["cividis"](matrix[y, x] / matrix.max(), bytes=True)
        assert picture[len(picture) - 1 - int(row), int(column)] == pytest.approx(expected, abs=1)


def test_heat_map_names(monkeypatch):
    sanitizer = named(["no", "yes"], ["never", "often", "rare"])
    drawn = MechanismDisplay.from_estimator(sanitizer)
    assert drawn.order_.tolist() == list(range(6))  # reports are cells: a diagonal
    labels = [tick.get_text() for tick in drawn.ax_.get_yticklabels()]
    assert labels[0] == "no, never" and labels[5] == "yes, rare"
    assert [tick.get_text() for tick in drawn.ax_.get_xticklabels()] == [
        *("never", "often", "rare") * 2
    ]
    shown = assert_legible(drawn.figure_, monkeypatch)
    assert {"no", "yes", "secret", "value of U", "report", "probability of the report"} <= {*shown}
    edges = {line.get_xdata()[0] for line in drawn.ax_.lines}
    assert edges == {2.5}


def test_heat_map_of_a_blind_mechanism():
    sanitizer = fitted(PolyOptSanitizer, observe="nonsensitive")
    drawn = MechanismDisplay.from_estimator(sanitizer)
    assert drawn.image_.get_array().shape == (sanitizer.mechanism_.shape[0], 3)
    assert not drawn.ax_.lines


def test_large_heat_maps_keep_their_greatest_entries(monkeypatch):
    mechanism = blocks(3, 401)
    drawn = MechanismDisplay(mechanism).plot()
    blocks_drawn = np.asarray(drawn.image_.get_array())
    assert blocks_drawn.shape == (401, 401)
    expected = mechanism.matrix.reshape(401, 3, 401, 3).max(axis=(1, 3))
    assert np.array_equal(blocks_drawn, expected)
    shown = assert_legible(drawn.figure_, monkeypatch)
    assert any("of each 3 reports x 3 cells" in text for text in shown)


def test_heat_maps_that_are_too_large():
    with pytest.raises(ValueError, match=r"2,200 reports x 2,200 cells.*mechanism\.form\.blocks"):
        MechanismDisplay(blocks(2, 1100)).plot()
    with pytest.raises(ValueError, match=r"order='u' must be 'cells' or 'symbols'"):
        MechanismDisplay(blocks(2, 2)).plot(order="u")
    assert not plt.get_fignums()


# --- LeakageDisplay ------------------------------------------------------------------------------


def test_odds_are_bayes():
    """Posterior odds over prior odds, by Bayes' theorem."""
    sanitizer = fitted(GRRSanitizer, [[s, u] for s in range(3) for u in range(2)], COUNTS)
    drawn = LeakageDisplay.from_estimator(sanitizer)
    distribution = sanitizer.joint_.probabilities
    joint = np.einsum("ysu,su->ys", sanitizer.mechanism_.matrix.reshape(-1, 3, 2), distribution)
    posterior = joint / joint.sum(axis=1, keepdims=True)
    prior = distribution.sum(axis=1)
    expected = posterior / (1 - posterior) / (prior / (1 - prior))
    assert drawn.odds == pytest.approx(expected)
    assert drawn.probability == pytest.approx(joint.sum(axis=1))
    conditional = joint / prior
    for y, row in enumerate(conditional):
        worst = max(a / b for a, b in itertools.permutations(row, 2))
        assert drawn.worst[y] == pytest.approx(worst)


@pytest.mark.parametrize("cls", [SRRSanitizer, PolyOptSanitizer])
def test_leakage_is_that_of_the_certificate(cls):
    sanitizer = fitted(cls)
    certificate = sanitizer.certificate_
    public = LeakageDisplay.from_estimator(sanitizer)
    worst = LeakageDisplay.from_estimator(sanitizer, distribution="worst")
    expected = sanitizer.mechanism_.leakage(sanitizer.joint_.probabilities)
    assert np.log(public.worst.max()) == pytest.approx(expected)
    assert np.log(worst.worst.max()) == pytest.approx(certificate.eps_attained, abs=1e-9)
    for drawn in (public, worst):
        assert np.abs(np.log(drawn.odds)).max() <= certificate.eps + 1e-12
        bounds = {float(line.get_ydata()[0]) for line in drawn.ax_.lines}
        assert bounds == {certificate.eps, -certificate.eps, 0.0}


def test_leakage_at_other_distributions_can_pass_the_bound():
    sanitizer = fitted(NonRobustSanitizer, time_limit=5)
    distribution = certify(sanitizer.mechanism_, RenyiBall(), sanitizer.joint_).distribution
    drawn = LeakageDisplay.from_estimator(sanitizer, distribution=distribution)
    assert np.log(drawn.worst.max()) > 1.01
    assert "(for the public distribution alone)" in drawn.ax_.get_legend().get_texts()[0].get_text()
    assert drawn.ax_.get_ylabel().endswith("at the given distribution")


def test_points_are_the_odds():
    drawn = LeakageDisplay([[0.2, 0.6], [0.5, 0.1], [0.3, 0.3]], [0.75, 0.25], eps=2.0).plot()
    (points,) = drawn.ax_.collections
    expected = np.log(drawn.odds[drawn.order_, 1])  # the rarer secret
    assert np.asarray(points.get_offsets())[:, 1] == pytest.approx(expected)
    assert np.all(np.diff(drawn.probability[drawn.order_]) <= 0)
    assert np.all(np.diff(points.get_sizes()) <= 0)
    ticks = {t.get_text(): t.get_position()[1] for t in drawn.ax_.get_yticklabels()}
    assert ticks["× 7.39"] == 2.0 and ticks["÷ 7.39"] == -2.0 and ticks["1"] == 0.0


def test_only_proven_bounds_are_called_so():
    by_hand = LeakageDisplay(np.full((2, 2), 0.5), [0.5, 0.5], eps=0.12341).plot()
    label = by_hand.ax_.get_legend().get_texts()[0].get_text()
    assert label == "ε = 0.1235"
    no_bound = LeakageDisplay(np.full((2, 2), 0.5), [0.5, 0.5], eps=np.inf).plot()
    assert len(no_bound.ax_.lines) == 1
    drawn = LeakageDisplay.from_estimator(fitted(SRRSanitizer))
    label = drawn.ax_.get_legend().get_texts()[0].get_text()
    assert label == "proven bound, ε = 1\n(for all distributions)"


def test_reports_that_settle_it_are_drawn_as_such(monkeypatch):
    distribution = [[0.5, 0.0, 0.2], [0.2, 0.7, 0.3], [0.3, 0.3, 0.5], [0.0, 0.0, 0.0]]
    drawn = LeakageDisplay(distribution, [0.3, 0.4, 0.3], eps=1.0).plot()
    assert drawn.odds[0, 1] == 0.0 and np.isinf(drawn.worst[0])
    assert 3 not in drawn.order_  # it never occurs
    edge = drawn.ax_.get_ylim()[0]
    (mark,) = (c for c in drawn.ax_.collections if 90 in getattr(c, "get_sizes", list)())
    assert len(mark.get_offsets()) == 1 and edge < mark.get_offsets()[0, 1] < -1.0
    assert_legible(drawn.figure_, monkeypatch)


def test_secrets_without_mass_are_left_out():
    rows = [[s, u] for s in range(3) for u in range(2)]
    sanitizer = fitted(GRRSanitizer, rows, [9, 9, 9, 9, 0, 0])
    assert LeakageDisplay.from_estimator(sanitizer).secrets == (0, 1)
    with pytest.raises(ValueError, match="only one secret has mass"):
        LeakageDisplay.from_estimator(sanitizer, distribution=[[0.5, 0.5], [0, 0], [0, 0]])


def test_which_secrets_have_a_colour():
    sanitizer = named([f"s{i}" for i in range(9)], [0, 1])

    def names(**options):
        drawn = LeakageDisplay.from_estimator(sanitizer, **options)
        return [text.get_text() for text in drawn.ax_.get_legend().get_texts()]

    assert sum(name.startswith("secret ") for name in names()) == 6
    assert "3 other secrets" in names()
    assert names(secrets=["s4"])[1:] == ["any two secrets", "8 other secrets", "secret s4"]
    with pytest.raises(ValueError, match=r"no secret 'x'; the secrets are 's0', .*, \.\.\."):
        names(secrets=["x"])
    with pytest.raises(ValueError, match="secrets='s1' must be a list"):
        names(secrets="s1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[1.0, 1.0]], [0.5, 0.0]), "must hold 2 positive probabilities"),
        (([[1.0, 1.0]], [1.0]), r"got shape \(1,\)"),
        (([[1.0]], [1.0]), "only one secret"),
        (([1.0], [1.0]), "must be a table of reports by secrets"),
    ],
)
def test_bad_leakage(arguments, words):
    with pytest.raises(ValueError, match=words):
        LeakageDisplay(*arguments, eps=1.0)


def test_bad_names_and_distributions():
    with pytest.raises(ValueError, match="1 symbols and 2 secrets do not name"):
        LeakageDisplay([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5], eps=1.0, symbols="a")
    for distribution, words in (
        ("true", "distribution='true' must be 'public', 'worst' or an array"),
        ([[0.5, 0.5]], "table of 2 secrets x 3 values"),
        (np.full((2, 3), 0.5), "sum 3"),
    ):
        with pytest.raises(ValueError, match=words):
            LeakageDisplay.from_estimator(fitted(SRRSanitizer), distribution=distribution)


# --- UncertaintyDisplay --------------------------------------------------------------------------


THREE = [
    (np.array([0.5, 0.3, 0.2]), 0.4),
    (np.array([0.7, 0.3, 0.0]), 0.2),
    (np.array([1.0, 0.0, 0.0]), 0.5),
]


@pytest.mark.parametrize("alpha", [0.5, 0.7, 1.0, 2.0, 3.0])
@pytest.mark.parametrize(("p", "weight"), THREE)
def test_outlines_are_the_boundary(p, weight, alpha):
    """The oracle's outline against rays from the centre (found by bisection of the divergence)."""
    radius = 0.03
    own = radius_of_secret(weight, alpha, radius)
    outline = region_outline(p, weight, alpha, radius)
    divergences = renyi(p, outline, alpha)
    assert np.all(divergences <= own * (1 + 1e-7))
    angle = np.linspace(0, 2 * np.pi, 600, endpoint=False)
    directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    plane = to_plane(p) + 2.0 * directions
    goal = np.linalg.solve(np.vstack([CORNERS.T, np.ones(3)]), np.vstack([plane.T, np.ones(600)])).T
    step = goal - p
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(step < -1e-12, -p / step, np.inf).min(axis=1)
    edge = np.clip(p + np.minimum(room, 1.0)[:, None] * step, 0.0, None)
    boundary = to_plane(on_the_boundary(p, edge, alpha, own))
    reach = (boundary @ directions.T).max(axis=0)
    assert (to_plane(outline) @ directions.T).max(axis=0) == pytest.approx(reach, abs=2e-4)


@pytest.mark.parametrize("alpha", [0.7, 1.0, 2.0])
def test_bounds_are_the_boxes_of_the_outlines(alpha):
    joint = JointDistribution([[50, 30, 20], [70, 60, 80]])
    drawn = UncertaintyDisplay(joint, RenyiBall(alpha)).plot()
    assert drawn.uncertainty.radius == RenyiBall(alpha).radius_for(310, 6)
    for s, (p, weight) in enumerate(
        zip(drawn.joint.conditionals, drawn.joint.marginal, strict=True)
    ):
        outline = region_outline(p, weight, alpha, drawn.uncertainty.radius)
        own = radius_of_secret(weight, alpha, drawn.uncertainty.radius)
        for u in range(3):
            low, high = (set_probability(p[u], alpha, own, sign) for sign in (-1, 1))
            assert drawn.lower[s, u] == pytest.approx(low, abs=1e-9)
            assert drawn.upper[s, u] == pytest.approx(high, abs=1e-9)
            assert outline[:, u].min() == pytest.approx(low, abs=2e-4)
            assert outline[:, u].max() == pytest.approx(high, abs=2e-4)


def test_box_corners_are_those_of_a_linear_program():
    rng = np.random.default_rng(1)
    for _ in range(12):
        centre, width = rng.dirichlet(np.ones(3)), rng.random((2, 3)) * 0.3
        lower, upper = np.clip(centre - width[0], 0, 1), np.clip(centre + width[1], 0, 1)
        corners = box_outline(lower, upper)
        assert 3 <= len(corners) <= 6
        for q in rng.normal(size=(6, 3)):
            limits = list(zip(lower, upper, strict=True))
            best = -linprog(-q, A_eq=np.ones((1, 3)), b_eq=[1.0], bounds=limits).fun
            assert (corners @ q).max() == pytest.approx(best, abs=1e-9)


def test_outlines_without_a_ball():
    p = np.array([0.2, 0.3, 0.5])
    assert np.array_equal(region_outline(p, 0.5, 2.0, np.inf), np.eye(3))
    assert np.array_equal(region_outline(p, 0.0, 2.0, 0.1), np.eye(3))
    assert np.array_equal(region_outline(p, 0.5, 2.0, 0.0), [p])
    assert np.array_equal(box_outline(p, p), [p])
    assert len(box_outline(np.zeros(3), np.ones(3))) == 3


@pytest.mark.parametrize(
    ("cls", "title"),
    [
        (GRRSanitizer, "All distributions: every conditional is possible"),
        (NonRobustSanitizer, "The public distribution alone"),
        (PolyOptSanitizer, "The distributions whose conditionals of U have log likelihood "),
    ],
)
def test_the_set_is_named(cls, title):
    drawn = UncertaintyDisplay.from_estimator(fitted(cls))
    assert " ".join(drawn.figure_.get_suptitle().split()).startswith(title)
    around = drawn.uncertainty
    all_distributions, one_distribution = around.is_everything, around.is_point
    assert np.all(drawn.upper - drawn.lower == 1) == all_distributions
    assert np.array_equal(drawn.lower, drawn.upper) == one_distribution


def test_bars_are_the_bounds(monkeypatch):
    joint = JointDistribution([[40, 60, 25, 9], [30, 20, 50, 80], [0, 0, 0, 0]], ["a", "b", "c"])
    drawn = UncertaintyDisplay(joint).plot()
    for s, axes in enumerate(drawn.axes_):
        (bars,) = axes.collections
        ends = np.array([segment[:, 0] for segment in bars.get_segments()])
        assert ends == pytest.approx(np.stack([drawn.lower[s], drawn.upper[s]], axis=1))
        if s < 2:
            (points,) = axes.lines
            assert points.get_xdata() == pytest.approx(joint.conditionals[s])
    assert not drawn.axes_[2].lines  # there is no public conditional
    assert "c\n(no public records)" in assert_legible(drawn.figure_, monkeypatch)


def test_small_regions_are_enlarged(monkeypatch):
    joint = JointDistribution(np.array([[50, 30, 20], [60, 30, 40]]) * 100)
    near = UncertaintyDisplay(joint, RenyiBall()).plot()
    far = UncertaintyDisplay(joint, RenyiBall()).plot(zoom=False)
    assert np.ptp(near.ax_.get_xlim()) < 0.5 < 1.0 < np.ptp(far.ax_.get_xlim())
    for drawn in (near, far):
        assert_legible(drawn.figure_, monkeypatch)
        (x0, x1), (y0, y1) = drawn.ax_.get_xlim(), drawn.ax_.get_ylim()
        for p, weight in zip(joint.conditionals, joint.marginal, strict=True):
            x, y = to_plane(region_outline(p, weight, 2.0, drawn.uncertainty.radius)).T
            assert x0 < x.min() and x.max() < x1 and y0 < y.min() and y.max() < y1


def test_axes_and_secrets_of_uncertainty():
    joint = JointDistribution(table(8, 4))
    drawn = UncertaintyDisplay(joint).plot()
    assert len(drawn.axes_) == 6
    assert " ".join(drawn.figure_.get_suptitle().split()).endswith("; 6 of 8 secrets")
    axes = plt.subplots(2)[1]
    drawn = UncertaintyDisplay(joint).plot(axes, secrets=[7, 3])
    assert list(drawn.axes_) == list(axes)
    assert [a.get_title() for a in axes] == ["7", "3"]
    with pytest.raises(ValueError, match="ax holds 2 axes, but 3 are needed"):
        drawn.plot(axes, secrets=[1, 2, 3])
    with pytest.raises(ValueError, match="for three values of U, but there are 4"):
        drawn.plot(kind="triangle")
    with pytest.raises(ValueError, match="kind='box' must be"):
        drawn.plot(kind="box")
    with pytest.raises(ValueError, match="there is no secret 9"):
        drawn.plot(secrets=[9])
    with pytest.raises(ValueError, match=r"write RenyiBall\(\)"):
        UncertaintyDisplay(joint, RenyiBall)
    three = UncertaintyDisplay(JointDistribution(table(2, 3)), AllDistributions()).plot()
    assert len(three.axes_) == 1 and len(three.plot(kind="bars").axes_) == 2
