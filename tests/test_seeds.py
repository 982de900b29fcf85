"""What may be given as `random_state`: nothing (secure), a whole number or a generator (tests)."""

import numpy as np
import pytest

from skrldp import GRRSanitizer, JointDistribution, audit, client
from skrldp.sampling.streams import RandomStream

ROWS = [["no", "a"], ["yes", "b"], ["no", "b"], ["yes", "a"]]
JOINT = JointDistribution([[3, 2], [1, 4]])


def reseeded(random_state):
    sanitizer = GRRSanitizer(sensitive=0).fit(ROWS)
    return sanitizer.set_params(random_state=random_state)


FITTED = GRRSanitizer(sensitive=0).fit(ROWS)
USES = {
    "stream": RandomStream,
    "mechanism": lambda seed: FITTED.mechanism_.sample([0, 1], seed),
    "client": lambda seed: client.load(FITTED.mechanism_.to_json(), random_state=seed),
    "fit": lambda seed: GRRSanitizer(random_state=seed, sensitive=0).fit(ROWS),
    "transform": lambda seed: reseeded(seed).transform(ROWS),
    "audit": lambda seed: audit(GRRSanitizer(sensitive=0).fit(ROWS), n=500, random_state=seed),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("seed", [False, True, np.False_, np.True_], ids=repr)
def test_a_truth_value_is_no_seed(use, seed):
    """``random_state=False`` reads like "none", and would be the seed 0."""
    with pytest.raises(ValueError, match=rf"random_state={seed!r}.*None"):
        USES[use](seed)


@pytest.mark.parametrize("use", USES)
def test_what_is_a_seed(use):
    for seed in (None, 0, np.int64(7), 2**200, np.random.default_rng(0)):
        USES[use](seed)
