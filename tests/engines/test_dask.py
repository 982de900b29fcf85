"""Dask on several processes: any partitioning, computed twice, a worker killed in the middle."""

import os

import pytest

pytest.importorskip("distributed", reason="Dask (extra: dask) is missing")

import cloudpickle
import dask.dataframe as dd
import engine_faults
import pyarrow as pa
from distributed import Client, LocalCluster
from engine_records import KEY, KINDS, holds_key, in_one_process, in_order, reporter, write

from skrldp import batches


class Reported:
    """Report a partition, as on the page: pandas to Arrow, and back."""

    def __init__(self, work):
        self.work = work

    def __call__(self, part):
        table = pa.Table.from_pandas(part, preserve_index=False)
        reports = self.work(iter(table.to_batches(500)))
        return pa.Table.from_batches(reports).to_pandas()


def reported(frame, work):
    meta = frame._meta_nonempty
    ...


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    path = tmp_path_factory.mktemp("secret") / "key"
    path.write_bytes(KEY)
    return batches.KeyFile(path)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    return {kind: write(folder, kind) for kind in KINDS}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.path.dirname(__file__), prepend=os.pathsep)
        with (
            LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                dashboard_address=None,
                local_directory=tmp_path_factory.mktemp("dask"),
            ) as workers,
            Client(workers) as client,
        ):
            yield client
