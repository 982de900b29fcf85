"""Reports as they are drawn: by `transform`, and by a client that was loaded from the JSON."""

import math

import numpy as np
import pandas as pd
from pairs_forms import in_form, of_any_library, records_of, value_of
from pairs_table import FalseClaimError, probabilities, read_record

from skrldp import client

_N = 1500  # draws of each record


def check_draws(case, sanitizer):
    """Reports have the probabilities of the mechanism, those of unknown values too."""
    rng = case.rng
    rows = probabilities(sanitizer.mechanism_)
    device = client.load(sanitizer.mechanism_.to_json())
    frame = _records(case, rng, sanitizer.handle_unknown != "error")
    before = sanitizer.encode
    try:
        sanitizer.encode = "symbol"
        for row, record in enumerate(records_of(frame)):
            cell = read_record(sanitizer.mechanism_, record)
            many = frame.iloc[np.full(_N, row)].reset_index(drop=True)
            drawn = _drawn(lambda many=many: sanitizer.transform(of_any_library(case, many)))
            by_client = _drawn(lambda many=many: device.report_many(records_of(many)))
            if cell is not None:
                need_draws(drawn, rows[:, *cell], "transform")
                need_draws(by_client, rows[:, *cell], "the client")
                continue
            if by_client is not None:
                raise FalseClaimError("a client reported a value without a place")
            if drawn is not None:
                raise FalseClaimError("a value without a place was reported")
    finally:
        sanitizer.encode = before
    if before == "posterior":
        _check_posteriors(sanitizer, in_form(case, frame.iloc[:1], True), rows)


def _records(case, rng, strange):
    """Some records of the table, and one with a value that nobody declared."""
    found = case.table[[*case.sensitive, *case.of_u]].drop_duplicates()
    found = found.iloc[rng.choice(len(found), min(3, len(found)), replace=False)]
    if strange and not case.levels:
        kind = "integers" if case.numbers else case.kind
        own = found.iloc[[0]].astype({case.at("u"): object})
        own[case.at("u")] = pd.Series([value_of(kind, "u", -2)], index=own.index, dtype=object)
        found = pd.DataFrame([*records_of(found), *records_of(own)], columns=found.columns)
    return found.reset_index(drop=True)


def _drawn(report):
    """Reports as numbers; None if they are refused."""
    try:
        return np.asarray(report()).ravel().astype(int)
    except ValueError:
        return None


def need_draws(drawn, wanted, what):
    """Raise an error if reports do not have these probabilities.

    The bound is Bernstein's, for each report: with probability 1 - 1e-12 for all of them.
    """
    if drawn is None:
        raise FalseClaimError(f"{what}: a record that has a place was refused")
    counts, n = np.bincount(drawn, minlength=len(wanted)), len(drawn)
    spread = math.log(2.0 * len(wanted) / 1e-12)
    room = np.sqrt(2 * n * wanted * (1 - wanted) * spread) + spread / 1.5
    room = np.where(wanted > 0, room, 0.0)
    if len(counts) > len(wanted) or (abs(counts - n * wanted) > room).any():
        raise FalseClaimError(f"{what}: reports do not have the probabilities of the mechanism")


def _check_posteriors(sanitizer, record, rows):
    """What is written are probabilities of categories given a report, at the public ones."""
    joint = sanitizer.joint_
    cells = rows * joint.probabilities
    cells = cells[cells.sum(axis=(1, 2)) > 0]
    cells = cells / cells.sum(axis=(1, 2), keepdims=True)
    wanted = [[] for _ in cells]
    for names, axis in ((joint.secrets, 2), (joint.values, 1)):
        split = [name if isinstance(name, tuple) else (name,) for name in names]
        for column in zip(*split, strict=True):
            for value in set(column):
                own = [i for i, other in enumerate(column) if other == value]
                for y, share in enumerate(cells.sum(axis=axis)[:, own].sum(axis=1)):
                    wanted[y].append(share)
    found = np.sort(np.asarray(sanitizer.transform(record), dtype=float).ravel())
    gaps = [abs(np.sort(own) - found).max() for own in wanted if len(own) == len(found)]
    if not gaps or min(gaps) > 1e-9:
        raise FalseClaimError("a posterior is that of no report")
