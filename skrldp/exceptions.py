"""The errors and warnings of the package."""


class SkrldpError(Exception):
    """Base class of the errors that are not about the input data."""


class InfeasibleError(SkrldpError):
    """No mechanism satisfies the constraints."""


class SolverError(SkrldpError):
    """A solver failed; the message names the problem and a remedy."""


class CertificateError(SkrldpError):
    """A mechanism's privacy could not be proved, so it is not released."""


class ReportLimitError(SkrldpError):
    """A person has used all allowed reports."""


class PrivacyLeakWarning(UserWarning):
    """The result protects less than a user may expect."""
