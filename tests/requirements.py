"""Print what `make` installs: the package in place with extras, and groups of pyproject.toml.

python tests/requirements.py examples-test     a file for pip, which before 25.1 knows no groups
"""

import sys
import tomllib
from pathlib import Path


def main(names: list[str]) -> None:
    here = Path(__file__).resolve().parents[1]
    settings = tomllib.loads((here / "pyproject.toml").read_text(encoding="utf-8"))
    extras, groups = settings["project"]["optional-dependencies"], settings["dependency-groups"]
    if unknown := set(names) - {*extras, *groups}:
        raise SystemExit(f"neither extras nor groups: {', '.join(sorted(unknown))}")
    own = ",".join(name for name in names if name in extras)
    print(f"-e .[{own}]" if own else "-e .")
    for name in names:
        for line in groups.get(name, ()):
            print(line)


if __name__ == "__main__":  # doctest imports every module of the tests
    main(sys.argv[1].split("-"))
