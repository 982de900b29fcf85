"""Values of U that are learned from whole clusters of a survey, which are not counted."""

import numpy as np
import pandas as pd
import pytest

from skrldp import IRSanitizer, LikelihoodRatioSet, SurveyDesign
from skrldp.surveys import SurveyRecords, clusters_aside

DESIGN = SurveyDesign(weights="weight", strata="region", clusters="place")
OPTIONS = {"alphabet_fraction": 0.25, "handle_unknown": "infrequent_if_exist"}


def survey(seed=0):
    rng, place = np.random.default_rng(seed), np.repeat(np.arange(80), 15)
    return pd.DataFrame(
        {
            "weight": rng.choice([1.0, 2.5], place.size),
            "ill": rng.choice(["no", "yes"], place.size),
            "job": rng.choice(
                [*"abcd", *map(str, range(100))], place.size, p=[0.2] * 4 + [0.002] * 100
            ),
            "region": np.minimum(place // 30, 2),
            "place": place,
        }
    )


def fit(table, **options):
    asymptotic = LikelihoodRatioSet(radius="asymptotic")
    options = {"survey": DESIGN, "categories": {"ill": ["no", "yes"]}} | OPTIONS | options
    return IRSanitizer(1.0, sensitive="ill", uncertainty=asymptotic, **options).fit(table)


def test_values_come_from_clusters_that_are_not_counted():
    """No warning of learned values, which would be an error here."""
    table = survey()
    found = fit(table)
    assert found.joint_.alphabet == "split"
    aside = clusters_of(table) - counted(found, table)
    assert len(aside) == round(0.25 * 30) * 2 + round(0.25 * 20)
    learned = set(table["job"][table["place"].isin(aside)])
    assert {str(v) for v in found.joint_.values if v != "infrequent"} >= learned - {"other"}
    rest = table[~table["place"].isin(aside)]
    assert found.joint_.n == len(rest) == found.survey_.n_records
    assert (found.survey_.n_rows, found.survey_.n_clusters) == (1_200, 59)
    assert found.survey_.degrees == 59 - 3
    mixed = fit(table.sample(frac=1.0, random_state=1))
    assert np.array_equal(mixed.joint_.counts, found.joint_.counts)  # whatever the rows' order


def clusters_of(table):
    return set(table["place"])


def counted(found, table):
    """The clusters that are counted: those of the records that were not set aside."""
    from skrldp.table import row_contents

    records = DESIGN.read(table.get)
    aside, _ = clusters_aside(records, 0.25, row_contents(table))
    assert all(len(set(aside[table["place"] == place])) == 1 for place in clusters_of(table))
    return set(table["place"][~aside])


def test_weights_make_up_for_the_clusters_of_their_stratum():
    strata = np.repeat([0, 0, 0, 0, 1, 1, 1, 2, 2], 5)
    records = SurveyRecords(np.ones(45), strata, np.arange(45) // 5)
    content = [b"%d" % number for number in range(45)]
    aside, factors = clusters_aside(records, 0.5, content)
    per_cluster = aside.reshape(9, 5).mean(axis=1)
    assert set(per_cluster) <= {0.0, 1.0}
    # Two clusters are left in each stratum, at the least.
    assert [per_cluster[:4].sum(), per_cluster[4:7].sum(), per_cluster[7:].sum()] == [2, 1, 0]
    np.testing.assert_allclose(factors[::5], [2, 2, 2, 2, 1.5, 1.5, 1.5, 1, 1])
    left = records.kept(~aside, factors)
    assert left.n_clusters == 6 and left.degrees == 3
    np.testing.assert_allclose(np.bincount(left.strata, left.weights), [20, 15, 10])


def test_every_cluster_is_set_aside_as_often():
    """400 tables of 8 clusters, a quarter aside: each 100 times, but for 1e-6 (binomial)."""
    records = SurveyRecords(np.ones(16), np.zeros(16, int), np.arange(16) // 2)
    times = np.zeros(8)
    for table in range(400):
        content = [b"%d %d" % (table, row) for row in range(16)]
        times += clusters_aside(records, 0.25, content)[0][::2]
    assert times.sum() == 800
    assert abs(times - 100).max() < 5.5 * np.sqrt(400 * 0.25 * 0.75)


@pytest.mark.parametrize(("strata", "left"), [(None, 900), ("region", 338 * 2 + 225)])
def test_records_without_clusters_are_set_aside_one_by_one(strata, left):
    found = fit(survey().drop(columns="place"), survey=SurveyDesign("weight", strata=strata))
    assert found.joint_.alphabet == "split"
    assert found.joint_.n == left


def test_declared_values_need_no_clusters_aside():
    values = {"ill": ["no", "yes"], "job": sorted(set(survey()["job"]))}
    found = fit(survey(), categories=values)
    assert found.joint_.n == 1_200 and found.survey_.n_clusters == 80
