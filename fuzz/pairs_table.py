"""What checks of crossed options share: the mechanism, the table, and what observers compare."""

import json
import math
from itertools import combinations_with_replacement, product

import numpy as np
from pairs_forms import records_of
from pairs_worst import Ball, Conditionals, Groups

CLOSE = 1e-9  # nats, by which a stated bound may be below what is found
_MULTISETS = 60  # of reports; of more, so many are drawn


class FalseClaimError(AssertionError):
    """What is stated is not true."""


def need(stated, truth, what):
    """Raise an error if a stated bound is below the truth."""
    if not stated >= truth - CLOSE:
        raise FalseClaimError(f"{what}: {stated} is stated, {truth} is attained")


# --- the mechanism, and the public distribution


def probabilities(mechanism):
    """Probabilities of reports, (b, a1, a2), from the integers that clients read."""
    text = json.loads(mechanism.to_json())
    a1, a2 = len(text["secrets"]), len(text["values"])
    unit = 2.0 ** text["denominator_bits"]
    if "blocks" in text:
        same, secret, value, other = text["blocks"]
        cells = list(product(range(a1), range(a2)))
        table = [
            [
                (same if t == s and w == u else secret if t == s else value if w == u else other)
                for s, u in cells
            ]
            for t, w in cells
        ]
    else:
        table = text["weights"]
    found = np.array(table, dtype=float) / unit
    if text.get("observe") == "nonsensitive":
        found = np.tile(found, (1, a1))
    sums = np.array(table, dtype=object).sum(axis=0)
    if not (sums == 2 ** text["denominator_bits"]).all():
        raise FalseClaimError("the weights are no distribution")
    return found.reshape(-1, a1, a2)


def read_record(mechanism, record):
    """The cell that a record is reported as; None if it is refused."""
    secret = tuple(record[name] for name, flag in mechanism.columns if flag)
    secret = secret if len(secret) > 1 else secret[0]
    u = read_value(mechanism, record)
    if u is None or secret not in mechanism.secrets:
        return None
    return mechanism.secrets.index(secret), u


def read_value(mechanism, record):
    """The value of U that a record is reported as; None if that is refused."""
    columns = [name for name, flag in mechanism.columns if not flag]
    values = [(value,) if len(columns) == 1 else value for value in mechanism.values]
    others = mechanism.others or (None,) * len(columns)
    own = []
    for place, name in enumerate(columns):
        known = {value[place] for value in values}
        raw = record[name]
        if raw in known:
            own.append(raw)
        elif others[place] is True or (others[place] and raw in others[place]):
            own.append("other")
        else:
            return None
    if tuple(own) in values:
        return values.index(tuple(own))
    if all(entry is True for entry in others) and ("other",) * len(own) in values:
        return values.index(("other",) * len(own))
    return None


def count_records(table, mechanism, weight):
    """Count public records of each cell, or add up their weights."""
    found = np.zeros((len(mechanism.secrets), len(mechanism.values)))
    for record, w in zip(records_of(table), weight, strict=True):
        cell = read_record(mechanism, record)
        if cell is not None:
            found[cell] += w
    return found


def check_counts(case, sanitizer):
    """The public distribution is that of the table, or of a part for an exact set of a survey."""
    joint, mechanism = sanitizer.joint_, sanitizer.mechanism_
    records = np.ones(len(case.table)) if case.weights is None else case.weights
    counts = count_records(case.table, mechanism, records)
    part = case.survey.startswith("exact")
    if part and (joint.counts > counts).any():
        raise FalseClaimError("more records are counted than there are")
    if not part and not np.array_equal(joint.counts, counts):
        raise FalseClaimError("the counts are not those of the table")
    if case.survey and not part:
        totals = count_records(case.table, mechanism, case.table[case.at("w")].to_numpy())
        if not np.allclose(joint.probabilities, totals / totals.sum(), rtol=1e-9, atol=1e-12):
            raise FalseClaimError("the public distribution is not the weighted one")


# --- what an observer compares


def set_of(around):
    """Write a stated set by its figures."""
    if hasattr(around, "single"):
        if math.isinf(around.single):
            return Ball(1.0, math.inf)
        return Conditionals(around.single, around.pair, around.drift)
    return Ball(around.alpha, around.radius)


def groups_of(sanitizer, rows, known=()):
    """Groups of cells that are compared: by secrets, and known values."""
    joint, mechanism = sanitizer.joint_, sanitizer.mechanism_
    of_u = mechanism.observe == "nonsensitive"
    values = [v if isinstance(v, tuple) else (v,) for v in joint.values]
    secrets = [s if isinstance(s, tuple) else (s,) for s in joint.secrets]
    cells = {}
    for (s, name), (u, value) in product(enumerate(secrets), enumerate(values)):
        key = name, tuple(value[p] for p in known)
        cells.setdefault(key, []).append((s, u))
    found = Groups([], [], np.zeros(len(cells)), list(cells), [])
    for g, own in enumerate(cells.values()):
        entries = list(dict.fromkeys(u if of_u else (s, u) for s, u in own))
        public, records = np.zeros(len(entries)), 0
        for s, u in own:
            public[entries.index(u if of_u else (s, u))] += joint.probabilities[s, u]
            records += joint.counts[s, u]
        pick = [(0, e) if of_u else e for e in entries]
        found.rows.append(np.stack([rows[:, s, u] for s, u in pick], axis=1))
        found.weights[g] = records / joint.n  # of a ball: see `_weighted`
        total = public.sum()
        found.public.append(public / total if total > 0 else np.full(len(public), 1 / len(public)))
    keys = list(cells)
    found.pairs = [
        (g, h)
        for g, h in product(range(len(keys)), repeat=2)
        if keys[g][0] != keys[h][0] and keys[g][1] == keys[h][1]
    ]
    found.masses = np.array(
        [sum(joint.probabilities[s, u] for s, u in own) for own in cells.values()]
    )
    return found


def weighted(groups, around):
    """Give groups the weights of a set: shares of records, or probabilities for a ball."""
    if isinstance(around, Ball):
        groups.weights = groups.masses
    return groups


def multisets(b, k, rng):
    """Multisets of k of b reports: all of them, or some."""
    if math.comb(b + k - 1, k) <= _MULTISETS:
        return np.array(list(combinations_with_replacement(range(b), k)))
    some = rng.integers(0, b, (_MULTISETS // 2, k))
    return np.concatenate([np.repeat(np.arange(b), k).reshape(b, k), some])


def u_columns(mechanism):
    return [name for name, flag in mechanism.columns if not flag]
