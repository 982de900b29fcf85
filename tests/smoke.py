"""Try an installed skrldp, with the interpreter that it was installed for, away from any checkout.

python smoke.py             everything; prints the JSON of a mechanism
python smoke.py client      what a device does, with NumPy alone; reads that JSON
"""

import importlib
import importlib.metadata
import importlib.util
import sys
from pathlib import Path

MODULES = (
    "auditing", "certificate", "claims", "client", "display", "estimation", "exceptions",
    "information", "joint", "mechanism", "model_selection", "privacy", "report", "sanitizers",
    "sets",
)  # fmt: skip
ROWS = [["no", 0], ["no", 1], ["yes", 0], ["yes", 1]]
COUNTS = [70, 100, 260, 570]


def everything() -> str:
    """Import all names, fit, certify, report and estimate; return a mechanism's JSON."""
    import skrldp

    home = Path(skrldp.__file__).parent
    checkout = Path(__file__).resolve().parents[1]
    assert not home.resolve().is_relative_to(checkout), f"{home} is not what was installed"
    assert (home / "py.typed").is_file(), f"no py.typed in {home}"
    assert skrldp.__version__ == importlib.metadata.version("skrldp")
    for name in skrldp.__all__:
        assert getattr(skrldp, name).__name__ == name
    for name in MODULES:
        importlib.import_module(f"skrldp.{name}")
    for name in ("SRRSanitizer", "PolyOptSanitizer", "RobustMSESanitizer"):
        sanitizer = getattr(skrldp, name)(eps=1.0, sensitive=0).fit(ROWS, sample_weight=COUNTS)
        assert sanitizer.certificate_.eps <= 1.0
        assert len(sanitizer.transform(ROWS)) == len(ROWS)
        assert "proved" in str(skrldp.privacy_report(sanitizer))
    text = (
        skrldp.SRRSanitizer(eps=1.0, sensitive=0)
        .fit(ROWS, sample_weight=COUNTS)
        .mechanism_.to_json()
    )
    assert skrldp.Mechanism.from_json(text).to_json() == text
    reports = skrldp.client.load(text).report_many(ROWS * 100)
    estimate = skrldp.FrequencyEstimator(text).fit(reports)
    assert abs(estimate.frequencies_.sum() - 1.0) < 1e-9
    return text


def client(text: str) -> None:
    """Load a mechanism and report records, and see that nothing but NumPy is there to help."""
    for name in ("cvxpy", "narwhals", "pandas", "scipy", "sklearn"):
        assert importlib.util.find_spec(name) is None, f"{name} is installed"
    import skrldp.client

    device = skrldp.client.load(text)
    assert device.report(tuple(ROWS[0])) in range(len(device.symbols))
    assert device.report_many(ROWS * 100).shape == (400,)
    assert device.eps <= 1.0


if __name__ == "__main__":
    if sys.argv[1:] == ["client"]:
        client(sys.stdin.read())
    else:
        print(everything())
