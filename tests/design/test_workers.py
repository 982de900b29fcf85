"""Work that threads share."""

import time
from threading import Barrier, get_ident

import pytest

from skrldp.design.run import Workers


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
def test_results_are_in_order_and_each_item_is_done_once(n_jobs):
    workers, done = Workers(n_jobs), []
    for count in (0, 1, 2, 7, 50):
        done.clear()
        found = workers.map(lambda i: done.append(i) or (i, -i), range(count))
        assert found == [(i, -i) for i in range(count)]
        assert sorted(done) == list(range(count))
    workers.close()


def test_all_threads_work_at_the_same_time_and_the_one_that_calls_is_one_of_them():
    workers, meeting = Workers(3), Barrier(3)

    def wait(_):
        meeting.wait(timeout=30.0)
        return get_ident()

    found = workers.map(wait, range(3))
    assert len(set(found)) == 3 and get_ident() in found
    workers.close()


@pytest.mark.parametrize("wrong", [0, 4])
@pytest.mark.parametrize("kind", [ZeroDivisionError, IndexError])
def test_an_error_is_raised_and_ends_the_work(wrong, kind):
    workers, done = Workers(2), []

    def fail(i):
        if i == wrong:
            raise kind
        time.sleep(1e-3)
        done.append(i)

    with pytest.raises(kind):
        workers.map(fail, range(1000))
    assert len(done) < 500
    assert workers.map(abs, [-1, -2]) == [1, 2]  # it goes on after that
    workers.close()
