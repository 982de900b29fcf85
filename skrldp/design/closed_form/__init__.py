"""Mechanisms that need no optimisation: GRR, SRR and independent reporting."""

from skrldp.design.closed_form._responses import (
    IndependentReporting,
    SplitSearch,
    about_whole_secrets,
    best_split,
    block_matrix,
    closed_forms,
    divided_reporting,
    grr,
    independent_reporting,
    response_matrix,
    srr,
)
from skrldp.design.closed_form._value_budgets import least_odds, value_budget

__all__ = [
    "IndependentReporting",
    "SplitSearch",
    "about_whole_secrets",
    "best_split",
    "block_matrix",
    "closed_forms",
    "divided_reporting",
    "grr",
    "independent_reporting",
    "least_odds",
    "response_matrix",
    "srr",
    "value_budget",
]
