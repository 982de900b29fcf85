"""What the tests of audits share."""

from skrldp import (
    JointDistribution,
)

DISTRIBUTION = JointDistribution(
    [[30, 10, 20], [10, 30, 20]], ["no", "yes"], ["low", "mid", "high"]
)


def names(found):
    return {check.name for check in found.findings}


def message(found, name):
    return next(check.message for check in found.checks if check.name == name)
