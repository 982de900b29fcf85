"""The key: one for all processes and all days, read from a place of its own and shown nowhere."""

import base64
import copy
import hmac
import os
import pickle
import traceback

import numpy as np
import pytest
from reporters import KEY, batch_of, reporter
from small_mechanisms import dense

from skrldp import batches
from skrldp.batches import KeyFile, KeyVariable

VARIABLE = "SKRLDP_TEST_KEY"


def key():
    """A function that workers can import."""
    return KEY


def no_key():
    return KEY.hex()


def write(path, text, mode=0o600):
    path.touch()
    path.chmod(0o600)
    path.write_text(text)
    path.chmod(mode)
    return KeyFile(path)


def test_the_check_is_made_with_the_reporter_and_goes_with_it(tmp_path, monkeypatch):
    """The key is rewritten between two runs of one plan: nobody is reported a second time."""
    file = write(tmp_path / "key", KEY.hex())
    monkeypatch.setenv(VARIABLE, KEY.hex())
    plans = {}
    for source in (file, KeyVariable(VARIABLE)):
        made = reporter(key=source)
        expected = hmac.digest(KEY, b"skrldp key check, version 1", "sha256").hex()[:16]
        assert made.key_check == batches.key_check(KEY) == expected
        plans[source] = pickle.dumps(made)
        again = pickle.dumps(pickle.loads(plans[source]))
        assert next(pickle.loads(again)(iter([batch_of(person=range(200))]))).num_rows == 200
    write(tmp_path / "key", KEY[::-1].hex())
    monkeypatch.setenv(VARIABLE, KEY[::-1].hex())
    for plan in plans.values():
        with pytest.raises(ValueError, match="does not match key_check=") as caught:
            next(pickle.loads(plan)(iter([batch_of(person=range(200))])))
        assert KEY[::-1].hex() not in str(caught.value)


def test_where_the_key_is_not_the_check_is_required(tmp_path, monkeypatch):
    """As where a driver has no key, and its workers have."""
    monkeypatch.delenv(VARIABLE, raising=False)
    for source in (KeyVariable(VARIABLE), KeyFile(tmp_path / "absent")):
        with pytest.raises(ValueError, match=r"(is not set|cannot be read).* pass key_check="):
            reporter(key=source)
        made = reporter(key=source, key_check=batches.key_check(KEY))
        assert made.key_check == batches.key_check(KEY)
        with pytest.raises(ValueError, match=r"is not set|cannot be read"):
            next(made(iter([batch_of(person=range(200))])))
    monkeypatch.setenv(VARIABLE, KEY.hex())
    sent = pickle.dumps(reporter(key=KeyVariable(VARIABLE), key_check=batches.key_check(KEY)))
    assert next(pickle.loads(sent)(iter([batch_of(person=range(200))]))).num_rows == 200


@pytest.mark.skipif(os.name != "posix", reason="files have no such modes")
@pytest.mark.parametrize("mode", [0o604, 0o602, 0o620])
def test_a_key_file_of_others_is_refused(tmp_path, mode):
    file = write(tmp_path / "key", KEY.hex(), mode)
    with pytest.raises(ValueError, match=r"'.*key' can be (read|written|rewritten).*chmod 600"):
        file.read()
    with pytest.raises(ValueError, match="chmod 600"):
        reporter(key=file)
    for own in (0o400, 0o600, 0o640):
        assert write(tmp_path / "key", KEY.hex(), own).read() == KEY


RNG = np.random.default_rng(4)
KEYS = [RNG.bytes(size) for size in (16, 24, 32, 64)]
TEXTS = [
    text
    for key in KEYS
    for plain in (base64.b64encode(key).decode(), base64.urlsafe_b64encode(key).decode())
    for text in (plain, plain.rstrip("="), f" {plain}\n")
] + [
    text
    for key in KEYS
    for text in (key.hex(), key.hex().upper(), f"0x{key.hex()}", f"0X{key.hex()}", key.hex(":"))
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_key_is_no_reference(text):
    """References are shown and stored, so what looks like a key is refused, and not shown.

    A random key in base64 has no small letters, or no capitals, with a probability below 1e-4.
    """
    for source in (KeyFile, KeyVariable):
        with pytest.raises(TypeError):
            source(text.encode())
        with pytest.raises(ValueError, match="not a key: store the key there") as caught:
            source(text)
        assert text.strip()[:8] not in str(caught.value)


@pytest.mark.parametrize("before", ["k", "KEY_", "x0_"])
def test_a_key_within_a_name_is_no_reference(before):
    for text in (KEYS[0].hex(), KEYS[0].hex().upper(), base64.b32encode(KEYS[0]).decode()):
        name = before + text.rstrip("=")
        with pytest.raises(ValueError, match="not a key: store the key there") as caught:
            KeyVariable(name)
        assert name[:8] not in str(caught.value)


def test_names_and_paths_are_references():
    for name in ("REPORTS_KEY", "SKRLDP_KEY_OF_THE_REPORTS_OF_2026", "key", "skrldpKey", "_K1"):
        assert KeyVariable(name).name == name
    for path in ("/run/secrets/reports.key", "a/b", "key", "Data/Projects/Survey/reports.key"):
        assert KeyFile(path).path == path
        assert repr(KeyFile(path)) == f"KeyFile(path={path!r})"
    for wrong in ("", "REPORTS KEY", "1KEY", "REPORTS=KEY", "a/b", "reports-key"):
        with pytest.raises(ValueError, match="letters, digits and underscores") as caught:
            KeyVariable(wrong)
        assert not wrong or repr(wrong) not in str(caught.value)


def test_keys_are_read_where_they_are_used(tmp_path, monkeypatch):
    batch = batch_of(person=[1, 2, 3])
    expected = reporter().report_batch(batch)
    path = tmp_path / "reports.key"
    check = {"key_check": batches.key_check(KEY)}
    by_file = reporter(key=KeyFile(path), **check)
    by_name = reporter(key=KeyVariable(VARIABLE), **check)
    by_function = reporter(key=key)
    path.touch(0o600)
    for text, message in (
        ("ab" * 15, "at least 16 bytes .*got 15"),
        ("", "got 0"),
        ("abc" * 11, "even number of hexadecimal digits"),
        ("g" * 32, "hexadecimal"),
    ):
        path.write_text(text)
        monkeypatch.setenv(VARIABLE, text)
        for one in (by_file, by_name):
            with pytest.raises(ValueError, match=message):
                one.report_batch(batch)
    with pytest.raises(TypeError, match="must provide a key of type bytes, got str"):
        reporter(key=no_key).report_batch(batch)
    path.write_text(KEY.hex() + "\n")
    monkeypatch.setenv(VARIABLE, KEY.hex())
    for one in (by_file, by_name, by_function, pickle.loads(pickle.dumps(by_function))):
        assert one.report_batch(batch).equals(expected)
    path.unlink()
    assert by_file.report_batch(batch).equals(expected)  # it was read once


def forms_of(held):
    return [held, held.hex().encode(), held.hex().upper().encode(), repr(held).encode()]


def test_the_key_is_in_no_pickle_repr_or_error(tmp_path, monkeypatch):
    path = tmp_path / "reports.key"
    path.touch(0o600)
    path.write_text(KEY.hex())
    monkeypatch.setenv(VARIABLE, KEY.hex())
    batch, bad = batch_of(person=[1, 2]), batch_of(person=[1, 2], size=["S", "XXL"])
    derived = hmac.digest(
        KEY, b"skrldp keyed report, version 1\0" + bytes.fromhex(dense().digest), "sha256"
    )
    secrets = forms_of(KEY) + forms_of(derived)
    for source in (KeyFile(path), KeyVariable(VARIABLE), key):
        one = reporter(key=source)
        one.report_batch(batch)  # it has the key now
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            pickled = pickle.dumps(one, protocol)
            assert not any(held in pickled for held in secrets)
    for loaded in (reporter(), one):
        loaded.report_batch(batch)
        shown = [repr(loaded), repr(vars(loaded)), str(loaded)]
        for wrong in (bad, "x", batch.select(["person"])):
            try:
                loaded.report_batch(wrong)
            except (ValueError, TypeError) as error:
                shown += traceback.format_exception(error)
        assert not any(held in "".join(shown).encode() for held in secrets)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="cannot be pickled or sent to workers"):
            pickle.dumps(reporter(), protocol)
    twin = copy.deepcopy(reporter())  # which stays in memory
    assert twin.report_batch(batch).equals(reporter().report_batch(batch))
