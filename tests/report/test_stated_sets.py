"""The set of distributions, of either kind, as each place states it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reports_of_fits import fitted, words_of

from skrldp import (
    AllDistributions,
    LikelihoodRatioSet,
    Mechanism,
    RenyiBall,
    SRRSanitizer,
    privacy_report,
)
from skrldp._params import at_most
from skrldp.claims_in_words import claims_table, legend, set_in_short
from skrldp.sanitizers.base import BaseSanitizer
from skrldp.sets.fitted_sets import ConditionalsSet

pytestmark = pytest.mark.usefixtures("few_reports")

ROWS = [[s, u] for s in range(3) for u in range(2)]
COUNTS = [12, 6, 9, 15, 14, 8]

BETA = st.floats(0.001, 0.5)
RADIUS = st.just(0.0) | st.floats(1e-6, 0.1)
BALLS = st.one_of(
    st.builds(RenyiBall, st.floats(0.5, 4.0), beta=BETA, radius=st.just("chi2") | RADIUS),
    st.builds(RenyiBall, st.just(1.0), beta=BETA, radius=st.just("finite-sample")),
)
RATIOS = st.builds(
    LikelihoodRatioSet,
    BETA,
    radius=st.sampled_from(["finite-sample", "asymptotic"]) | RADIUS,
    drift=st.just(0.0) | st.floats(1e-6, 0.1),
)


class OverASet(SRRSanitizer):
    """A mechanism that takes no time to design, certified over the set that it is given."""

    _uncertainty_set = BaseSanitizer._uncertainty_set


@given(RATIOS | BALLS | st.just(AllDistributions()))
@settings(max_examples=12)
def test_every_place_states_the_set(uncertainty):
    sanitizer = fitted(OverASet, ROWS, COUNTS, uncertainty=uncertainty)
    certificate = sanitizer.certificate_
    around = certificate.uncertainty
    assert around == uncertainty.fit_set(sanitizer.joint_)
    assert set_in_short(certificate.claim.around) in repr(certificate)
    assert around.describe().split(",")[0] in certificate._repr_html_().replace("&#x27;", "'")
    report = privacy_report(sanitizer)
    holds = words_of("; ".join(words for _, words in legend(report.claims)))
    if around.is_everything:
        assert not holds and {row[2] for row in claims_table(report.claims)[2]} == {"all"}
    else:
        assert words_of(around.describe()) in holds and holds in words_of(report).replace(
            " assumes ", "; "
        )
    by_rule, asymptotic = around.beta is not None, around.rule in ("chi2", "asymptotic")
    assert report.claims.beta == (0.0 if around.is_everything else around.beta)
    beta = at_most(around.beta or 0.0, ".4g")
    assert (f"with probability about {beta}" in holds) == asymptotic
    assert (f"with probability at most {beta}" in holds) == (by_rule and not asymptotic)
    assert ("many records" in holds) == asymptotic
    limited = not (around.is_everything or around.is_point)
    assert ("probability of missing is unknown" in holds) == (limited and not by_rule)
    of_conditionals = isinstance(around, ConditionalsSet)
    assert ("whatever the probabilities of the secrets" in holds) == (limited and of_conditionals)
    drift = of_conditionals and around.drift > 0
    assert ("(drift)" in holds) == ("by at most the drift since" in holds) == drift
    claimed = Mechanism.from_json(sanitizer.mechanism_.to_json()).claims.main.around
    assert claimed == around.stated(claimed.values_from)


def test_changes_of_the_set_after_fit_are_told():
    sanitizer = fitted(OverASet, ROWS, COUNTS, uncertainty=LikelihoodRatioSet())
    (before,) = privacy_report(sanitizer).warnings
    sanitizer.set_params(uncertainty__drift=0.5)
    first, then = privacy_report(sanitizer).warnings
    assert first.startswith("uncertainty__drift=0.5 was set after fit, which used 0.0")
    assert then == before
