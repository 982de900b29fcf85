"""Mechanisms as linear maps from distributions of records to distributions of reports."""

from skrldp.estimation.channels._channels import (
    MOST_DENSE,
    BlockChannel,
    Channel,
    DenseChannel,
    Weights,
    central_moments,
    channel_of,
    covariance,
)
from skrldp.estimation.channels._four_numbers import FourNumbers

__all__ = [
    "MOST_DENSE",
    "BlockChannel",
    "Channel",
    "DenseChannel",
    "FourNumbers",
    "Weights",
    "central_moments",
    "channel_of",
    "covariance",
]
