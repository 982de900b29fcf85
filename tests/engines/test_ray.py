"""Ray on two processes: blocks of any size, and a worker that is killed in the middle."""

import os

import pytest

pytest.importorskip("ray", reason="Ray is missing: make test-engines installs it")

import pyarrow as pa
import ray
from engine_faults import die, first_to_come
from engine_records import KINDS, holds_key, in_one_process, in_order, key_file, reporter, write

pytestmark = [
    # Ray's, about settings of its own and sockets that it leaves to the garbage collector.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    return key_file(tmp_path_factory.mktemp("secret"))


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.path.dirname(__file__), prepend=os.pathsep)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield
        ray.shutdown()


class DiesOnce:
    """A reporter whose process dies in the middle of its first task."""

    def __init__(self, work, folder):
        self.work, self.folder = work, str(folder)

    def __call__(self, table):
        reports = self.work(table)
        if first_to_come(self.folder, "trouble"):
            die()
        return reports


def brought(dataset, work, rows):
    reports = dataset.map_batches(work, batch_format="pyarrow", batch_size=rows)
    return in_order(pa.concat_tables(ray.get(reports.to_arrow_refs())))


@pytest.mark.parametrize("kind", KINDS)
def test_batches_of_any_size_in_any_order(key, tmp_path, kind):
    dataset, work = ray.data.read_parquet(str(write(tmp_path, kind))), reporter(key)
    assert brought(dataset, work, 777) == in_one_process(kind)
    assert brought(dataset.sort("note"), work, 7_777) == in_one_process(kind)


def test_a_worker_killed_in_the_middle(key, tmp_path):
    dataset = ray.data.read_parquet(str(write(tmp_path)))
    assert brought(dataset, DiesOnce(reporter(key), tmp_path), 2_000) == in_one_process("integer")
    assert (tmp_path / "trouble").exists()


def test_a_key_of_bytes_stays_here(tmp_path):
    dataset = ray.data.read_parquet(str(write(tmp_path)))
    with pytest.raises(Exception, match=r"pickle|serializ") as caught:
        brought(dataset, reporter(), 2_000)
    assert not holds_key(str(caught.value).encode())
