"""What can go wrong, by name."""

__all__ = [
    "CertificateError",
    "InfeasibleError",
    "PrivacyLeakWarning",
    "SkrldpError",
    "SolverError",
]


class SkrldpError(Exception):
    """Base class of the errors that are not about the input data."""


class InfeasibleError(SkrldpError):
    """No mechanism satisfies what was asked."""


class SolverError(SkrldpError):
    """A solver failed; the message names the problem and what to try."""


class CertificateError(SkrldpError):
    """A mechanism's privacy could not be proven, so it is not released."""


class PrivacyLeakWarning(UserWarning):
    """What was asked is done, but it protects less than a user may think."""
