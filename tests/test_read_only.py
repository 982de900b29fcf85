"""Results cannot be changed, because proofs and reports are about exactly these numbers."""

import copy
import dataclasses
import pickle
from collections.abc import Mapping

import numpy as np
import pytest

from skrldp import (
    AOptimalSanitizer,
    BlockEstimator,
    BlockSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    Manifest,
    Mechanism,
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
    certify,
    client,
    privacy_report,
)
from skrldp.targets import Linear, Mean

CELLS = [[s, u, v] for s in ("no", "yes") for u in (1, 2) for v in (0.5, 1.5)]
ROWS = [
    row for row, n in zip(CELLS, [50, 40, 30, 20, 10, 20, 30, 60], strict=True) for _ in range(n)
]
JOINT = JointDistribution([[7, 10], [26, 57]], ["no", "yes"], ["rare", "often"])
DEEPEST = 5  # attributes of attributes, because some return a new object each time
COPIES = {
    "as made": lambda it: it,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda it: pickle.loads(pickle.dumps(it)),
}


def fit(sanitizer, n_columns=2):
    return sanitizer.fit([row[:n_columns] for row in ROWS])


def named_results():
    """Yield everything that a user has after a fit, with a name."""
    grr = fit(GRRSanitizer(sensitive=0))
    yield "GRR", grr
    blind = PolyOptSanitizer(observe="nonsensitive", uncertainty=RenyiBall(), sensitive=0)
    yield "PolyOpt of U alone", fit(blind)
    yield "AOptimal", fit(AOptimalSanitizer(targets=[Mean(1), Linear(np.eye(2))], sensitive=0))
    yield "RobustMSE", fit(RobustMSESanitizer(sensitive=[0, 1]), 3)
    blocks = fit(BlockSanitizer(base=GRRSanitizer(), sensitive=0), 3)
    yield "blocks", blocks
    yield "manifest", blocks.manifest_
    yield "report of blocks", privacy_report(blocks)
    reports = [[block, y] for block in (0, 1) for y in range(4)]
    yield "estimator of blocks", BlockEstimator(blocks).fit(reports)
    yield "joint", JOINT
    mechanism = Mechanism.from_matrix([[0.4, 0.4, 0.2, 0.2], [0.6, 0.6, 0.8, 0.8]], "ny", "ab")
    yield "mechanism", mechanism
    yield "client", client.load(mechanism.to_json())
    yield "two reports", certify(mechanism.matrix, LikelihoodRatioSet(), JOINT, reports=2)
    yield "report", privacy_report(grr)
    for method in ("unbiased", "em"):
        estimator = FrequencyEstimator(grr, method, encode="symbol")
        yield f"estimator, {method}", estimator.fit(range(4), sample_weight=[40, 10, 20, 30])
        yield f"estimate, {method}", estimator.marginal(1)


def public_values(value, path, seen):
    """Yield the arrays and dicts that public attributes and items lead to, with the way there."""
    if isinstance(value, np.ndarray):
        yield path, value
        if value.dtype != object:
            return
        value = list(value.ravel())
    if id(value) in seen or isinstance(value, str | bytes | int | float | None | type):
        return
    seen[id(value)] = value  # kept alive, so that no other object gets its id
    if isinstance(value, Mapping):
        yield path, value
        for key, item in value.items():
            yield from public_values(item, f"{path}[{key!r}]", seen)
    elif isinstance(value, list | tuple | set | frozenset):
        for index, item in enumerate(value):
            yield from public_values(item, f"{path}[{index}]", seen)
    if not type(value).__module__.startswith("skrldp") and not dataclasses.is_dataclass(value):
        return
    parameters = value.get_params(deep=False) if hasattr(value, "get_params") else ()
    for name in dir(value):
        if name.startswith("_") or name in parameters:  # parameters are the user's own objects
            continue
        try:
            attribute, again = getattr(value, name), getattr(value, name)
        except AttributeError:  # it depends on the kind of set, for example
            continue
        if isinstance(attribute, np.ndarray) and not np.shares_memory(attribute, again):
            continue  # it is computed whenever it is read
        if isinstance(attribute, dict) and attribute is not again:
            continue
        if not callable(attribute) and path.count(".") < DEEPEST:
            yield from public_values(attribute, f"{path}.{name}", seen)


@pytest.fixture(scope="module")
def results():
    everything = dict(named_results())
    for name, result in everything.items():
        list(public_values(result, name, {}))  # what is computed when first read is there
    return everything


CHANGES = [
    lambda mapping: mapping.update(more=1),
    lambda mapping: mapping.__setitem__("more", 1),
    lambda mapping: mapping.clear(),
    lambda mapping: mapping.pop(next(iter(mapping), None)),
    lambda mapping: mapping.setdefault("more", 1),
    lambda mapping: mapping.__delitem__(next(iter(mapping), None)),
    lambda mapping: mapping.popitem(),
    lambda mapping: mapping.__ior__({"more": 1}),
]


@pytest.mark.parametrize("way", COPIES)
def test_no_array_or_dict_can_be_changed(results, way):
    """Nor can certificates of columns, or errors by column, be replaced."""
    dicts = set()
    for name, result in results.items():
        values = list(public_values(COPIES[way](result), name, {}))
        arrays = {path: value for path, value in values if isinstance(value, np.ndarray)}
        assert arrays, name
        assert [path for path, array in arrays.items() if array.flags.writeable] == []
        for path, mapping in ((path, value) for path, value in values if path not in arrays):
            dicts.add(path.rpartition(".")[2])
            for change in CHANGES:
                with pytest.raises(TypeError, match=r"read-only|cannot be changed"):
                    change(mapping)
    assert {"expected_errors", "expected_errors['U']"} <= dicts


def test_results_do_not_change_with_the_callers_arrays():
    distance = np.array([[0.0, 1.0], [1.0, 0.0]])
    sanitizer = fit(RobustMSESanitizer(distance=distance, sensitive=0))
    distance[0, 1] = 5.0
    assert sanitizer.distance_[0, 1] == 1.0
    # The columns of pandas are read-only views of what may be written to.
    mechanism = Mechanism.from_matrix(np.full((2, 4), 0.5), ("no", "yes"), ("a", "b"))
    parts = [mechanism.named(None, [("ill", True), (name, False)]) for name in ("home", "work")]
    weights = Manifest.of(parts, [0.25, 0.75]).weights.copy()
    view = weights.view()
    view.flags.writeable = False
    manifest = Manifest(tuple(parts), view)
    weights[:] = weights[::-1].copy()
    assert manifest.shares.tolist() == [0.25, 0.75]
