"""What a fit has found cannot be written over: proofs and reports are about those very numbers."""

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
    IRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    Manifest,
    Mechanism,
    NonRobustSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
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
DEEPEST = 5  # attributes of attributes: some give another object each time
COPIES = {
    "as made": lambda it: it,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda it: pickle.loads(pickle.dumps(it)),
}


def fit(sanitizer, n_columns=2):
    return sanitizer.fit([row[:n_columns] for row in ROWS])


def held():
    """Everything that a user holds after a fit, by a name."""
    blocks = fit(GRRSanitizer(sensitive=0))
    yield "GRR", blocks
    yield "IR", fit(IRSanitizer(sensitive=0))
    yield "PolyOpt", fit(PolyOptSanitizer(sensitive=0))
    yield (
        "blind PolyOpt",
        fit(PolyOptSanitizer(observe="nonsensitive", uncertainty=RenyiBall(), sensitive=0)),
    )
    yield "AOptimal", fit(AOptimalSanitizer(targets=[Mean(1), Linear(np.eye(2))], sensitive=0))
    yield "RobustMSE", fit(RobustMSESanitizer(sensitive=[0, 1]), 3)
    with pytest.warns(PrivacyLeakWarning):
        yield "NonRobust", fit(NonRobustSanitizer(sensitive=0))
    wide = fit(BlockSanitizer(base=GRRSanitizer(), sensitive=0), 3)
    yield "wide", wide
    yield "manifest", wide.manifest_
    yield "wide report", privacy_report(wide)
    yield (
        "wide estimator",
        BlockEstimator(wide).fit([[block, y] for block in (0, 1) for y in range(4)]),
    )
    yield "joint", JOINT
    mechanism = Mechanism.from_matrix([[0.4, 0.4, 0.2, 0.2], [0.6, 0.6, 0.8, 0.8]], "ny", "ab")
    yield "mechanism", mechanism
    yield "client", client.load(mechanism.to_json())
    yield "two reports", certify(mechanism.matrix, LikelihoodRatioSet(), JOINT, reports=2)
    yield "report", privacy_report(blocks)
    for method in ("unbiased", "em"):
        estimator = FrequencyEstimator(blocks, method, encode="symbol")
        yield f"estimator, {method}", estimator.fit(range(4), sample_weight=[40, 10, 20, 30])
        yield f"estimate, {method}", estimator.marginal(1)


def public_arrays(value, path, seen):
    """Yield every array that public attributes, items and members lead to, with the way there."""
    for place, found in public_values(value, path, seen):
        if isinstance(found, np.ndarray):
            yield place, found


def public_values(value, path, seen):
    """Yield every array and every dict likewise."""
    if isinstance(value, np.ndarray):
        yield path, value
        if value.dtype != object:
            return
        value = list(value.ravel())
    if id(value) in seen or isinstance(value, str | bytes | int | float | None | type):
        return
    seen[id(value)] = value  # kept alive, so that no other object gets its number
    if isinstance(value, Mapping):
        yield path, value
        for key, item in value.items():
            yield from public_values(item, f"{path}[{key!r}]", seen)
    elif isinstance(value, list | tuple | set | frozenset):
        for place, item in enumerate(value):
            yield from public_values(item, f"{path}[{place}]", seen)
    if not type(value).__module__.startswith("skrldp") and not dataclasses.is_dataclass(value):
        return
    parameters = value.get_params(deep=False) if hasattr(value, "get_params") else ()
    for name in dir(value):
        if name.startswith("_") or name in parameters:  # parameters are the user's own objects
            continue
        try:
            found = getattr(value, name)
        except AttributeError:  # it depends on the kind of set, say
            continue
        if isinstance(found, np.ndarray) and not np.shares_memory(found, getattr(value, name)):
            continue  # it is computed anew whenever it is read
        if isinstance(found, dict) and found is not getattr(value, name):
            continue
        if not callable(found) and path.count(".") < DEEPEST:
            yield from public_values(found, f"{path}.{name}", seen)


@pytest.fixture(scope="module")
def fitted():
    found = dict(held())
    for name, value in found.items():
        for _ in public_arrays(value, name, {}):  # what is computed when first read is there
            pass
    return found


@pytest.mark.parametrize("way", COPIES)
def test_no_array_can_be_written_to(fitted, way):
    for name, value in fitted.items():
        found = list(public_arrays(COPIES[way](value), name, {}))
        assert found, name
        assert [path for path, array in found if array.flags.writeable] == []


@pytest.mark.parametrize("way", COPIES)
def test_no_dict_can_be_written_to(fitted, way):
    """Nor can certificates of columns, or errors by column, be replaced by other ones."""
    seen = set()
    for name, value in fitted.items():
        for path, found in public_values(COPIES[way](value), name, {}):
            if isinstance(found, Mapping):
                seen.add(path.rpartition(".")[2])
                for change in (
                    lambda own: own.update(more=1),
                    lambda own: own.__setitem__("more", 1),
                    lambda own: own.clear(),
                    lambda own: own.pop(next(iter(own), None)),
                    lambda own: own.setdefault("more", 1),
                    lambda own: own.__delitem__(next(iter(own), None)),
                    lambda own: own.popitem(),
                    lambda own: own.__ior__({"more": 1}),
                ):
                    with pytest.raises(TypeError, match=r"read-only|cannot be changed"):
                        change(found)
    assert {"expected_errors", "expected_errors['U']"} <= seen


def test_the_callers_array_stays_the_callers():
    distance = np.array([[0.0, 1.0], [1.0, 0.0]])
    sanitizer = fit(RobustMSESanitizer(distance=distance, sensitive=0))
    distance[0, 1] = 5.0
    assert sanitizer.distance_[0, 1] == 1.0


def test_what_an_array_is_a_view_of_may_be_written_to():
    """As the columns of pandas, whose arrays are read-only views."""
    one = Mechanism.from_matrix(np.full((2, 4), 0.5), ("no", "yes"), ("a", "b"))
    parts = [one.named(None, [("ill", True), (name, False)]) for name in ("home", "work")]
    weights = Manifest.of(parts, [0.25, 0.75]).weights.copy()
    view = weights.view()
    view.flags.writeable = False
    manifest = Manifest(tuple(parts), view)
    weights[:] = weights[::-1].copy()
    assert manifest.shares.tolist() == [0.25, 0.75]
