"""Build sdist and wheel, install them as users do, in fresh environments, and try them.

`make test-package` runs it. pip builds the wheel from the sdist, in an environment of its own.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SMOKE = ROOT / "tests" / "smoke.py"


def run(*command: object, **options: object) -> str:
    """Run a command away from the checkout; what it says on standard error is shown."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    text = [str(part) for part in command]
    done = subprocess.run(text, check=True, text=True, stdout=subprocess.PIPE, env=clean, **options)
    return done.stdout


def environment(folder: Path) -> tuple[list[object], Path]:
    """Make a virtual environment; return the command for its pip, and its interpreter."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "-qq"], python


def main() -> None:
    """Build, install twice, and try."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
        (sdist,) = folder.glob("skrldp-*.tar.gz")

        pip, python = environment(folder / "whole")
        run(*pip, "wheel", "--no-deps", "-w", folder, sdist, cwd=folder)
        (wheel,) = folder.glob("skrldp-*.whl")
        run(*pip, "install", "--prefer-binary", wheel, cwd=folder)
        run(*pip, "check", cwd=folder)
        mechanism = run(python, "-W", "error", SMOKE, cwd=folder)
        print(f"{wheel.name} from {sdist.name}: installed with its dependencies, and works")
        command = python.with_name("skrldp")
        refused = subprocess.run([command, "--version"], capture_output=True, text=True)
        assert refused.returncode == 2, refused
        assert 'pip install "skrldp[cli]"' in refused.stderr, refused
        run(*pip, "install", "--prefer-binary", f"{wheel}[cli]", cwd=folder)
        assert run(command, "--version", cwd=folder).startswith("skrldp ")
        print("The command line says what it needs, and works with it")

        pip, python = environment(folder / "client")
        run(*pip, "install", "numpy", cwd=folder)
        run(*pip, "install", "--no-deps", wheel, cwd=folder)
        run(python, "-W", "error", SMOKE, "client", cwd=folder, input=mechanism)
        print("A client works with NumPy alone")


if __name__ == "__main__":
    main()
