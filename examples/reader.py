"""Report a record with only Python's standard library, to show that any device can do it.

python reader.py '{"ill": "yes", "age": 3}' < mechanism.json     prints the report, a whole number
"""

import json
import secrets
import sys


def load(text):
    """Check the fields that sampling relies on; `skrldp.client.load` checks the others as well."""
    doc = json.loads(text)
    if doc["format"] != "skrldp-mechanism" or doc["version"] != 5:
        raise ValueError("not a mechanism of version 5")
    u_alone = doc.get("observe") == "nonsensitive"  # weights has a column for each value of U
    n_secrets, n_values = len(doc["secrets"]), len(doc["values"])
    total, whole = 2 ** doc["denominator_bits"], [doc["denominator_bits"]]
    if "blocks" in doc:
        counts = 1, n_values - 1, n_secrets - 1, (n_secrets - 1) * (n_values - 1)
        whole += doc["blocks"]
        sums = [sum(w * n for w, n in zip(doc["blocks"], counts, strict=True))]
    else:
        whole += [w for row in doc["weights"] for w in row]
        sums = [sum(column) for column in zip(*doc["weights"], strict=True)]
        if len(sums) != n_values * (1 if u_alone else n_secrets):
            raise ValueError("the weights do not fit the alphabets")
    if any(type(w) is not int or w < 0 for w in whole) or set(sums) != {total}:
        raise ValueError("the weights are no distribution")
    return doc


def place(doc, alphabet, sensitive, record):
    """Return the index of a record's values in an alphabet."""
    member = [record[name] for name, flag in doc["columns"] if flag is sensitive]
    return doc[alphabet].index(member if len(member) > 1 else member[0])  # or a ValueError


def column(doc, record):
    """Return the integer weights of all reports, for one record."""
    u, n_values = place(doc, "values", False, record), len(doc["values"])
    if doc.get("observe") == "nonsensitive":
        return [row[u] for row in doc["weights"]]
    s = place(doc, "secrets", True, record)
    if "weights" in doc:
        return [row[s * n_values + u] for row in doc["weights"]]
    cells = ((t, v) for t in range(len(doc["secrets"])) for v in range(n_values))
    return [doc["blocks"][2 * (t != s) + (v != u)] for t, v in cells]


def report(doc, record, draw=secrets.randbelow):
    """Draw a report with exactly the probabilities of the mechanism."""
    rest = draw(2 ** doc["denominator_bits"])
    for y, weight in enumerate(column(doc, record)):
        if (rest := rest - weight) < 0:
            return y


if __name__ == "__main__":
    print(report(load(sys.stdin.buffer.read()), json.loads(sys.argv[1])))
