"""Blocks of columns: each for itself, whole records by products of reports, and the manifest."""

import json
import math
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
from pairs_draws import need_draws
from pairs_forms import of_any_library, records_of
from pairs_proofs import check_certify, check_proofs
from pairs_report import row_holds
from pairs_stated import inspected, need_figures, set_in_json
from pairs_table import (
    FalseClaimError,
    count_records,
    groups_of,
    need,
    probabilities,
    set_of,
    u_columns,
    weighted,
)
from pairs_worst import log_ratio, worst

from skrldp import Manifest, client

_N = 3000  # draws of a record


def check_blocks(case, sanitizer, report, node=None):
    """What is stated of blocks, by the report, the certificate and the manifest."""
    manifest, truth = sanitizer.manifest_, _of_blocks(case, sanitizer, report, node)
    one, everywhere = truth["one"], truth["eps_worst_case"]
    need(report.claims.eps, one, "all blocks")
    need(sanitizer.certificate_.eps, one, "all blocks, certificate")
    main = "all" if report.claims.main.around.is_everything else "A"
    row_holds(report, ("nothing", "1", main), one, "the row of what is proven")
    need(report.claims.eps_worst_case, everywhere, "eps_worst_case of blocks")
    need(report.claims.eps_given_u, truth["eps_given_u"], "to an observer who knows U, of blocks")
    known = report.claims.known
    if known:
        need(known.eps, truth["known"], "known, of blocks")
    if case.parameters.get("eps_worst_case") is not None:
        need(
            case.parameters["eps_worst_case"], everywhere, "the eps_worst_case asked for, of blocks"
        )
    need(case.parameters["eps"], one, "asked, of blocks")
    for k in (2, 3, 10):
        different = one + (k - 1) * everywhere
        need(report.claims.find(reports=k).eps, different, f"{k} reports of blocks")
        need(manifest.claims.bound_of(k), different, f"{k} reports of blocks, manifest")
        if report.claims.eps_worst_case <= report.claims.eps:
            need(k * report.claims.eps, different, f"{k} times the proven eps")
        row_holds(report, ("nothing", f"{k}", main), different, f"the row of {k} reports")
    _check_manifest(case, sanitizer, one, everywhere)
    if not case.whole:
        _check_whole_records(case, sanitizer, report)
    _check_draws(case, sanitizer, node)


# --- each block


def _of_blocks(case, sanitizer, report, node):
    """Check each block; return the greatest of what their mechanisms leak."""
    found = dict.fromkeys(("one", "eps_worst_case", "eps_given_u", "known"), 0.0)
    for block, own in zip(sanitizer.blocks_, sanitizer.sanitizers_, strict=True):
        rows = probabilities(own.mechanism_)
        around = set_of(own.certificate_.uncertainty)
        groups = weighted(groups_of(own, rows), around)
        leaks = worst(groups, around, case.rng)
        truth = max(leaks.values(), default=0.0)
        need(own.certificate_.eps, truth, f"block {block}")
        case.truths = {(): (groups, around, leaks)}
        found["one"] = max(found["one"], truth)
        if report.claims.known:
            names = u_columns(own.mechanism_)
            # columns of a block's sanitizer are named as in the table, or by their places
            places = [i for i, name in enumerate(block) if name in report.claims.known.known]
            assert len(names) == len(block)
            proof = own.certificate_.claims.known
            inner = set_in_json(proof.around.to_json())
            within = weighted(groups_of(own, rows, places), inner)
            leaks = worst(within, inner, case.rng)
            truth = max(leaks.values(), default=0.0)
            case.truths[tuple(places)] = within, inner, leaks
            found["known"] = max(found["known"], truth)
            need(proof.eps, truth, f"block {block}, known")
        fields = json.loads(own.mechanism_.to_json())
        need_figures(case, own, rows, fields["claims"], fields["columns"])
        for name in ("eps_worst_case", "eps_given_u"):
            found[name] = max(found[name], case.truths[name])
        check_proofs(case, own, node)
        if case.rng.random() < 0.4:
            check_certify(case, own)
        beta = own.certificate_.uncertainty.beta
        if beta is not None and beta > sanitizer.beta / len(sanitizer.blocks_) * (1 + 1e-12):
            raise FalseClaimError(f"block {block} has beta {beta}")
    return found


# --- the manifest


def _check_manifest(case, sanitizer, one, everywhere):
    """Its JSON has the mechanisms of the blocks, over the table's records, and is read again."""
    manifest = sanitizer.manifest_
    text = manifest.to_json()
    again, device = Manifest.from_json(text), client.load(text)
    if not again.to_json() == device.manifest.to_json() == text:
        raise FalseClaimError("the manifest that is read is written otherwise")
    if not again.digest == device.digest == manifest.digest:
        raise FalseClaimError("the manifest that is read has another digest")
    need(device.manifest.eps, one, "the manifest that is read")
    for fields, own in zip(json.loads(text)["mechanisms"], sanitizer.sanitizers_, strict=True):
        alone = json.loads(own.mechanism_.to_json(public=False))  # of all blocks at the end
        for one_of, other in zip(_sets(fields), _sets(alone), strict=True):
            beta, least = (some.pop("beta", None) or 0.0 for some in (one_of, other))
            if beta < least * (1 - 1e-12):
                raise FalseClaimError(f"a block's set states beta={beta} in the manifest")
        for name in {*fields, *alone} - {"columns", "values", "other", "public"}:
            if fields.get(name) != alone.get(name):
                raise FalseClaimError(f"a block's {name} is not that of its sanitizer")
        weight = np.ones(len(case.table)) if case.weights is None else case.weights
        mechanism = _read(fields, own)
        counts = count_records(_cut(case), mechanism, weight)
        if (own.joint_.counts != counts).any():
            raise FalseClaimError("the counts of a block are not those of the table")
    found = inspected(text)
    for claim in found["claimed"]["claims"]:
        k = claim.get("reports", 1)
        if claim["known"] == [] and claim["around"] != "all":
            most = one if k == 1 else one + (k - 1) * everywhere
            need(claim["eps"], most, f"inspect, {k} reports of the manifest")


def _sets(fields):
    return [one["around"] for one in fields["claims"] if one["around"] != "all"]


def _read(fields, own):
    """The alphabet of a block in the manifest, whose columns are named as in the table."""
    return SimpleNamespace(
        columns=fields["columns"],
        secrets=own.mechanism_.secrets,
        values=own.mechanism_.values,
        others=own.mechanism_.others,
    )


def _cut(case):
    """The public records whose numbers are cut at the edges, for the checks."""
    table = case.table.copy()
    for name, edges in case.cut.items():
        labels = [f"[{low}, {high})" for low, high in pairwise(edges)]
        place = np.searchsorted(edges, table[name], side="right") - 1
        table[name] = [labels[i] if 0 <= i < len(labels) else "outside" for i in place]
    return table


# --- whole records


def _check_whole_records(case, sanitizer, report):
    """Posterior odds over whole records: reports of blocks about one record together.

    The record's distribution is any whose margins of every block are in the block's set.
    """
    cells, blocks = _cells(case, sanitizer)
    rng, secrets = case.rng, sanitizer.manifest_.secrets
    for s, t in product(range(len(secrets)), repeat=2):
        if s == t:
            continue
        members = [_public(cells, blocks, i) for i in (s, t)]
        if any(own is None for own in members):
            continue
        for k in (1, 2):
            bound = report.claims.eps if k == 1 else report.claims.find(reports=k).eps
            if not math.isfinite(bound):
                continue
            for _ in range(4):
                some = [blocks[i] for i in rng.integers(0, len(blocks), k)]
                y = [int(rng.integers(len(one["rows"]))) for one in some]
                ends = [
                    np.prod(
                        [one["rows"][j, i][one["cell"]] for one, j in zip(some, y, strict=True)],
                        axis=0,
                    )
                    for i in (s, t)
                ]
                far = [np.eye(len(cells))[ends[0].argmax()], np.eye(len(cells))[ends[1].argmin()]]
                if rng.random() < 0.5:
                    far = [rng.dirichlet(np.full(len(cells), 0.3)) for _ in far]
                first, second = _inside(blocks, (s, t), members, far)
                truth = log_ratio(ends[0] @ first, ends[1] @ second)
                need(bound, truth, f"{k} reports of blocks about a whole record")


def _cells(case, sanitizer):
    """Whole records of U by the blocks' alphabets; for each block the cell of each record."""
    manifest = sanitizer.manifest_
    names = list(dict.fromkeys(name for block in manifest.blocks for name in block))
    cells = list(product(*(manifest.categories[name] for name in names)))
    place = {name: i for i, name in enumerate(names)}
    found = []
    for block, own in zip(manifest.blocks, sanitizer.sanitizers_, strict=True):
        values = [v if isinstance(v, tuple) else (v,) for v in own.mechanism_.values]
        code = {value: i for i, value in enumerate(values)}
        rows = probabilities(own.mechanism_)
        around = set_of(own.certificate_.uncertainty)
        assert around == set_in_json(json.loads(own.mechanism_.to_json())["claims"][0]["around"])
        found.append(
            {
                "rows": rows,
                "cell": np.array([code[tuple(c[place[n]] for n in block)] for c in cells]),
                "joint": own.joint_,
                "around": around,
                "groups": weighted(groups_of(own, rows), around),
                "names": [place[name] for name in block],
            }
        )
    return cells, found


def _public(cells, blocks, s):
    """A distribution of whole records with the blocks' public margins; None if none was found.

    It is fitted by iterative proportions, as the blocks' margins are those of one table.
    """
    law = np.full(len(cells), 1.0 / len(cells))
    for _ in range(200):
        for one in blocks:
            own = one["joint"].probabilities[s]
            if own.sum() <= 0:
                return None
            margin = np.bincount(one["cell"], law, minlength=len(own))
            factor = np.where(margin > 0, own / own.sum() / np.where(margin > 0, margin, 1.0), 0.0)
            law = law * factor[one["cell"]]
    law = law / law.sum()
    for one in blocks:
        own = one["joint"].probabilities[s]
        margin = np.bincount(one["cell"], law, minlength=len(own))
        if abs(margin - own / own.sum()).max() > 1e-12:
            return None
    return law


def _inside(blocks, pair, members, far):
    """Go from public distributions of whole records towards others, as far as all sets hold."""

    def at(share):
        return [(1 - share) * p + share * e for p, e in zip(members, far, strict=True)]

    def holds(laws):
        for one in blocks:
            size = one["joint"].probabilities.shape[1]
            found = {
                s: np.bincount(one["cell"], law, minlength=size)
                for s, law in zip(pair, laws, strict=True)
            }
            if not one["around"].holds(one["groups"], found):
                return False
        return True

    low, high = 0.0, 1.0
    if any(one["around"].caps(one["groups"].weights, *pair)[2] == 0.0 for one in blocks):
        return members  # the public distributions alone, and rounding accepts others nearby
    if holds(at(1.0)):
        return at(1.0)
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(at(middle)) else (low, middle)
    return at(low)


# --- reports


def _check_draws(case, sanitizer, node):
    """Blocks and reports are drawn as the manifest says, by `transform` and by the client."""
    manifest, rng = sanitizer.manifest_, case.rng
    table = case.table[[*case.sensitive, *case.of_u]].drop_duplicates()
    table = table.iloc[rng.choice(len(table), min(2, len(table)), replace=False)]
    table = table.reset_index(drop=True)
    if node is not None:
        node.client(manifest.to_json(), records_of(table))
    cut = _cut(case)
    device = client.load(manifest.to_json())
    sizes = [len(own.mechanism_.symbols) for own in sanitizer.sanitizers_]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    for row, record in enumerate(records_of(table)):
        wanted = _wanted(case, cut, sanitizer, record)
        if wanted is None:
            continue
        many = table.iloc[np.full(_N, row)].reset_index(drop=True)
        drawn = np.asarray(sanitizer.transform(of_any_library(case, many))).astype(int)
        need_draws(ends[drawn[:, 0]] + drawn[:, 1], wanted, "transform of blocks")
        drawn = np.stack(device.report_many(records_of(many)), axis=-1).reshape(-1, 2).astype(int)
        need_draws(ends[drawn[:, 0]] + drawn[:, 1], wanted, "the client of blocks")


def _wanted(case, cut, sanitizer, record):
    """Probabilities of blocks and reports about a record; None if it is refused."""
    same = (case.table[list(record)] == list(record.values())).all(axis=1)
    own = cut[same.to_numpy()].iloc[:1]
    if own.empty:
        return None
    found = []
    weights = json.loads(sanitizer.manifest_.to_json())["weights"]
    fields = json.loads(sanitizer.manifest_.to_json())["mechanisms"]
    for weight, one, of_block in zip(weights, fields, sanitizer.sanitizers_, strict=True):
        cell = count_records(own, _read(one, of_block), [1.0])
        if not cell.any():
            return None
        s, u = np.argwhere(cell)[0]
        found.append(weight / sum(weights) * probabilities(of_block.mechanism_)[:, s, u])
    return np.concatenate(found)
