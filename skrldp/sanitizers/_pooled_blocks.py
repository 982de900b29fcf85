"""What the reports of blocks tell together, at the distribution of a table."""

import math
from collections.abc import Sequence

import numpy as np

from skrldp._typing import Floats
from skrldp.alphabet import group_cells
from skrldp.joint import JointDistribution
from skrldp.mechanism import Manifest
from skrldp.pooling import CommonMargins, Pool, information_of

__all__ = ["errors_of", "margins_of", "models", "smoothed_cells"]


def margins_of(manifest: Manifest) -> CommonMargins:
    """Find the parameters that the margins of a manifest's blocks have in common."""
    sizes = [len(own) for own in manifest.categories.values()]
    return CommonMargins.of(len(manifest.secrets), sizes, manifest.places)


def smoothed_cells(manifest: Manifest, joints: Sequence[JointDistribution]) -> list[Floats]:
    """Return positive distributions of the blocks' cells near those of public records, (a,)."""
    return [
        manifest.in_order(number, joint.smoothed().ravel()) for number, joint in enumerate(joints)
    ]


def models(
    manifest: Manifest,
    joints: Sequence[JointDistribution],
) -> tuple[CommonMargins, list[tuple[int, Floats]], list[Floats]]:
    """Return the blocks' margins, what is to be estimated, and a report's information.

    That is, for each block, the shares of its values of U.
    """
    margins = margins_of(manifest)
    functions, information = [], []
    parts = zip(smoothed_cells(manifest, joints), margins.blocks, strict=True)
    for number, (cells, model) in enumerate(parts):
        matrix = manifest.in_order(number, manifest.mechanisms[number].matrix)
        information.append(information_of(model, matrix, cells).matrix)
        shares = group_cells(manifest.mechanisms[number], None, "nonsensitive").indicators
        functions.append((number, manifest.in_order(number, shares)))
    return margins, functions, information


def errors_of(
    margins: CommonMargins,
    information: Sequence[Floats],
    functions: Sequence[tuple[int, Floats]],
    shares: Floats,
) -> Floats:
    """Root of the summed variances of each function's shares, for one report."""
    scaled = tuple(r * matrix for r, matrix in zip(shares, information, strict=True))
    pool = Pool(margins, scaled, tuple(np.zeros(len(matrix)) for matrix in information))
    found = []
    for one in functions:
        pooled = pool.evaluate([one])
        is_known = bool(pooled.determined.all())
        found.append(math.sqrt(np.trace(pooled.covariance)) if is_known else math.inf)
    return np.array(found)
