"""Dask on two processes: any partitions, computed twice, a worker killed in the middle."""

import os
import pickle
import traceback

import pytest

pytest.importorskip("distributed", reason="Dask is missing: make test-engines installs it")

import cloudpickle
import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
from distributed import Client, LocalCluster
from engine_faults import Troubled, die
from engine_records import KINDS, holds_key, in_one_process, in_order, key_file, reporter, write
from lazy_frames import check_engine

from skrldp import batches


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    return key_file(tmp_path_factory.mktemp("secret"))


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    return {kind: dd.read_parquet(write(folder, kind)) for kind in KINDS}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("dask")


@pytest.fixture(scope="module")
def client(place):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.path.dirname(__file__), prepend=os.pathsep)
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        with LocalCluster(**options, local_directory=place) as cluster, Client(cluster) as client:
            yield client


# Narwhals says so of every frame of Dask, and names a package that cannot be installed yet.
pytestmark = pytest.mark.filterwarnings("ignore:Dask support is moving:FutureWarning")


class Reported:
    """Report a partition, as `docs/guide/engines.md` shows: pandas to Arrow and back."""

    def __init__(self, work):
        self.work = work

    def __call__(self, part):
        table = pa.Table.from_pandas(part, preserve_index=False)
        reports = self.work(table.to_batches(500))
        return pa.Table.from_batches(reports, schema(table.schema)).to_pandas()


def schema(of_records):
    return reporter().output_schema(of_records)


def reported(frame, work):
    empty = schema(pa.Schema.from_pandas(frame.head(0), preserve_index=False)).empty_table()
    return frame.map_partitions(Reported(work), meta=empty.to_pandas())


def brought(frame):
    """Compute a frame of reports, and return them as a list in order."""
    return in_order(pa.Table.from_pandas(frame.compute(), preserve_index=False))


@pytest.mark.parametrize("kind", KINDS)
def test_any_partitions_in_any_order(client, frames, key, kind):
    """Each of the frames is computed by itself, so the same rows are reported again and again."""
    frame, work = frames[kind], reporter(key)
    for other in (
        *(frame.shuffle("note", npartitions=partitions) for partitions in (1, 3, 7)),
        frame.sort_values("note"),
    ):
        assert brought(reported(other, work)) == in_one_process(kind)


def test_a_worker_killed_in_the_middle(client, frames, key, tmp_path):
    work = Troubled(reporter(key), tmp_path, die)
    frame = reported(frames["integer"].repartition(npartitions=3), work)
    assert brought(frame) == in_one_process("integer")
    assert work.happened()
    assert len(work.starts()) >= 4


def test_the_key_is_in_no_graph_and_no_file(client, frames, key, place):
    frame = reported(frames["integer"], reporter(key))
    graph = frame.dask
    assert brought(frame) == in_one_process("integer")
    for data in (cloudpickle.dumps(graph), pickle.dumps(frame)):
        assert b"KeyFile" in data
        assert not holds_key(data)
    assert not holds_key(repr((dict(graph), frame, *dict(graph).values())).encode())
    logs = str((client.get_worker_logs(), client.get_scheduler_logs())).encode()
    assert not holds_key(logs)
    files = [path for path in place.rglob("*") if path.is_file()]
    assert not [path for path in files if holds_key(path.read_bytes())]


def test_a_key_of_bytes_stays_here(client, frames):
    """Dask pickles a function to name its task, and says of any that fails that it has no name."""
    with pytest.raises(Exception, match=r"pickled|deterministically") as caught:
        reported(frames["integer"], reporter()).compute()
    assert not holds_key("".join(traceback.format_exception(caught.value)).encode())


def test_ids_are_checked_over_all_partitions(client, frames):
    batches.check_ids(frames["string"], "person")
    with pytest.raises(ValueError, match=r"in more than one row: 'person \d+ ß' \(2 rows\)"):
        batches.check_ids(dd.concat([frames["string"], frames["string"].partitions[0]]), "person")


AT_HAND = {
    "numpy": lambda frame: frame.to_pandas(),
    "arrow": lambda frame: frame.to_arrow().to_pandas(types_mapper=pd.ArrowDtype),
}


# One partition with Arrow's types: of several, Dask groups no column that has both NaN and
# null ("Cannot yet unify dictionaries with nulls").
@pytest.mark.parametrize(("types", "npartitions"), [("numpy", 3), ("arrow", 1)])
def test_fits_and_estimates_are_those_of_the_rows_at_hand(client, types, npartitions):
    at_hand = AT_HAND[types]
    check_engine(lambda frame: dd.from_pandas(at_hand(frame), npartitions), at_hand)
