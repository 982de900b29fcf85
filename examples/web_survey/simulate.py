"""Answer the survey as many made-up persons, each with a device of its own, to fill the results.

python simulate.py [--people 2000] [--server http://localhost:8000]

The persons use the Python client; browsers use the JavaScript one. The server cannot tell.
"""

import argparse
import json
import secrets
import sys
import urllib.error
import urllib.request

import numpy as np
from questions import synthetic_shares

from skrldp import client


def distribution():
    """Return the distribution of the made-up persons: near the public one, but not the same."""
    return synthetic_shares(ages=(0.31, 0.41, 0.28), shift=0.2)


def people(n, seed):
    """Draw n persons."""
    shares = distribution()
    rows = np.random.default_rng(seed).choice(len(shares), n, p=shares["share"])
    return shares.iloc[rows].drop(columns="share").to_dict("records")


def answer(server, device, person):
    """Report one person, as the page does; return the status."""
    sent = {"digest": device.digest, "id": secrets.token_hex(16), "report": device.report(person)}
    request = urllib.request.Request(
        f"{server}/reports",
        data=json.dumps(sent).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return response.status


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--server", default="http://localhost:8000")
    parser.add_argument("--seed", type=int, default=0, help="of the persons; never of the reports")
    asked = parser.parse_args()
    server = asked.server.rstrip("/")
    try:
        with urllib.request.urlopen(f"{server}/mechanism.json") as response:
            device = client.load(response.read())
        for person in people(asked.people, asked.seed):
            answer(server, device, person)
    except urllib.error.URLError as problem:
        sys.exit(f"simulate.py: {server} does not take reports: {problem.reason}")
    print(f"{asked.people:,} reports sent; see {server}/results.html")


if __name__ == "__main__":
    main()
