"""Uncertainty sets with a region, for sanitizers that are quick to fit."""

from sklearn.base import clone

from skrldp import LikelihoodRatioSet


def in_region(region, uncertainty=None):
    """Return a copy of a set, or of the default one, whose region is this; of all distributions,
    whose only region is the simplex, the set itself."""
    around = LikelihoodRatioSet() if uncertainty is None else clone(uncertainty)
    return around.set_params(region=region) if "region" in around.get_params() else around


def lower(parameters):
    """Return the parameters of a sanitizer, whose set has the region "lower" if it is quicker."""
    return parameters | {"uncertainty": in_region("lower", parameters.get("uncertainty"))}
