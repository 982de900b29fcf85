"""Designs with a linear or robust cost: a central path, and cuts where that does not suffice."""

from skrldp.design.least_cost._minimise import minimise

__all__ = ["minimise"]
