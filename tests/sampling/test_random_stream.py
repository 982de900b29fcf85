"""The stream of random bits is AES-256 in counter mode, and integers from it are uniform."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy import stats
from scripted import FALSE_ALARM, Scripted

from skrldp.sampling.random_bits import RandomStream


def take(stream, n, dtype=np.uint8):
    out = np.empty(n, dtype=dtype)
    stream.fill(out)
    return out


def keystream(key, size):
    return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(size))


def test_stream_is_aes_256_in_counter_mode():
    key = hashlib.sha256(b"skrldp.sampling.RandomStream:7").digest()
    assert take(RandomStream(7), 10**6).tobytes() == keystream(key, 10**6)


def test_an_int_gives_the_same_bits_in_every_version():
    assert take(RandomStream(0), 8).tobytes().hex() == "6d34a1f64afe2c93"
    np.testing.assert_array_equal(take(RandomStream(np.int32(5)), 9), take(RandomStream(5), 9))
    assert (take(RandomStream(5), 64) != take(RandomStream(6), 64)).any()


def test_the_operating_system_gives_all_of_the_key(monkeypatch):
    assert (take(RandomStream(), 64) != take(RandomStream(None), 64)).any()
    monkeypatch.setattr("os.urandom", lambda size: bytes(range(size)))
    assert take(RandomStream(), 64).tobytes() == keystream(bytes(range(32)), 64)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_gives_the_key(make):
    """All 32 bytes of it, anew for every stream."""
    generator, twin = make(3), make(3)
    for _ in range(2):
        expected = keystream(twin.bytes(32), 64)
        assert take(RandomStream(generator), 64).tobytes() == expected


@pytest.mark.parametrize("random_state", [-1, 1.5, "seed", b"key", np.random, [1, 2]])
def test_anything_else_cannot_seed(random_state):
    with pytest.raises(ValueError, match=r"random_state=.* must be None"):
        RandomStream(random_state)


def test_the_stream_continues_where_it_stopped():
    sizes = [1, 15, 16, 17, 0, 65_535, 65_537, 200_000]
    pieces = RandomStream(0)
    joined = np.concatenate([take(pieces, n) for n in sizes])
    np.testing.assert_array_equal(joined, take(RandomStream(0), sum(sizes)))


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8"])
def test_numbers_are_little_endian(dtype):
    numbers = take(RandomStream(0), (3, 50), dtype)
    octets = take(RandomStream(0), numbers.nbytes)
    np.testing.assert_array_equal(numbers.ravel(), octets.view(np.dtype(dtype).newbyteorder("<")))


def test_only_arrays_that_can_be_filled_are():
    swapped = np.empty(4, dtype=np.dtype("u4").newbyteorder())
    for out in (np.empty(4), np.empty(4, dtype=np.int32), bytearray(4), swapped):
        with pytest.raises(TypeError, match="native unsigned integers"):
            RandomStream(0).fill(out)
    frozen = np.zeros(4, dtype=np.uint8)
    frozen.flags.writeable = False
    for out in (np.zeros(8, dtype=np.uint8)[::2], np.zeros((3, 4), dtype=np.uint8).T, frozen):
        with pytest.raises(ValueError, match="C-contiguous and writeable"):
            RandomStream(0).fill(out)
    assert not frozen.any()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_process_does_not_repeat_the_bits_of_its_parent():
    """Though both have the number 1, as the first process of each of two containers."""
    script = (
        "import os, numpy as np\n"
        "os.getpid = lambda: 1\n"
        "from skrldp.sampling.random_bits import RandomStream\n"
        "stream, out = RandomStream(), np.empty(4, dtype=np.uint64)\n"
        "stream.fill(out)\n"
        "child = os.fork()\n"
        "stream.fill(out)\n"
        "os.write(1, (out.tobytes().hex() + '\\n').encode())\n"
        "os._exit(0) if not child else os.waitpid(child, 0)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    first, second = run.stdout.split()
    assert len(first) == 64 and first != second


def test_without_cryptography_the_operating_system_gives_the_bits(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    octets = take(RandomStream(), 200_000)
    assert stats.chisquare(np.bincount(octets, minlength=256)).pvalue > FALSE_ALARM
    assert (octets != take(RandomStream(), 200_000)).any()
    with pytest.raises(ImportError, match="pip install cryptography"):
        RandomStream(0)


class ScriptedIntegers(RandomStream):
    def __init__(self, numbers):
        self.scripted = Scripted(uint64=numbers)

    def fill(self, out):
        self.scripted.fill(out)


def test_integers_reject_what_is_too_large():
    # 3 values need 2 bits: 3, 7, ... are rejected, and further bits do not matter.
    stream = ScriptedIntegers(np.arange(15, dtype=np.uint64))
    assert stream.integers(3, 12).tolist() == [0, 1, 2] * 4
    assert stream.scripted.exhausted


def test_integers_of_any_range_and_shape():
    stream = RandomStream(0)
    assert not stream.integers(1, 100).any()
    assert stream.integers(10, 0).shape == (0,) and stream.integers(10, (3, 4)).shape == (3, 4)
    for upper in (2**62 + 1, 2**63 - 1):
        draws = stream.integers(upper, 1000)
        assert draws.min() >= 0 and 2**61 < draws.max() < upper
    for upper, error in ((0, ValueError), (-3, ValueError), (2**63, ValueError), (2.5, TypeError)):
        with pytest.raises(error):
            stream.integers(upper, 3)
