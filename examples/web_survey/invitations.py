"""Invitations: a random token for each person, which is valid for one report.

python invitations.py NUMBER [--folder data] [--server http://localhost:8000]

It prints a link for each person to be invited. The token follows the #, so that browsers do not
send it when they load the page. The server stores a hash of each token.
"""

import argparse
import secrets
import sys
from pathlib import Path

from store import Store

from skrldp import Manifest

HERE = Path(__file__).parent


def new_tokens(n):
    """Draw n tokens of 16 bytes, in hexadecimal."""
    return [secrets.token_hex(16) for _ in range(n)]


def open_store(folder):
    """Open the database of a folder that design.py wrote."""
    manifest = Manifest.from_json((folder / "manifest.json").read_text(encoding="utf-8"))
    return Store(folder / "reports.sqlite", manifest.digest)


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("number", type=int)
    parser.add_argument("--folder", type=Path, default=HERE / "data")
    parser.add_argument("--server", default="http://localhost:8000")
    asked = parser.parse_args()
    tokens = new_tokens(asked.number)
    try:
        open_store(asked.folder).invite(tokens)
    except (FileNotFoundError, ValueError) as problem:
        sys.exit(f"invitations.py: {problem}")
    for token in tokens:
        print(f"{asked.server.rstrip('/')}/#{token}")


if __name__ == "__main__":
    main()
