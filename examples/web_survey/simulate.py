"""Answer the survey as many made-up people, each with their own device, to fill the results.

python simulate.py [--people 5000] [--folder data] [--server http://localhost:8000]

The people are invited first. They use the Python client, whereas browsers use the JavaScript
client. The server cannot distinguish the two.
"""

import argparse
import json
import secrets
import sys
import urllib.error
import urllib.request
from pathlib import Path

from invitations import HERE, new_tokens, open_store
from people import respondents

from skrldp import client


def answer(server, device, person, token):
    """Report one person, as the page does; return the status."""
    block, report = device.report(person)
    named = {"digest": device.digest, "invitation": token, "id": secrets.token_hex(16)}
    request = urllib.request.Request(
        f"{server}/reports",
        data=json.dumps({**named, "block": block, "report": report}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return response.status


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", type=int, default=5000)
    parser.add_argument("--folder", type=Path, default=HERE / "data")
    parser.add_argument("--server", default="http://localhost:8000")
    parser.add_argument("--seed", type=int, default=0, help="of the persons; never of the reports")
    asked = parser.parse_args()
    server = asked.server.rstrip("/")
    try:
        with urllib.request.urlopen(f"{server}/manifest.json") as response:
            device = client.load(response.read())
        tokens = new_tokens(asked.people)
        open_store(asked.folder).invite(tokens)
        persons = respondents(asked.people, asked.seed).to_dict("records")
        for person, token in zip(persons, tokens, strict=True):
            answer(server, device, person, token)
    except urllib.error.URLError as problem:
        sys.exit(f"simulate.py: {server} does not take reports: {problem.reason}")
    print(f"{asked.people:,} reports sent; see {server}/results.html")


if __name__ == "__main__":
    main()
