"""Reporters of small mechanisms, and the report that each record must get."""

import hashlib
import hmac
import re

import numpy as np
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from skrldp.batches import Reporter
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sampling.random_bits import Tapes

KEY = bytes(range(1, 33))


COLUMNS = [("age", False), ("ill", True), ("size", False)]


SECRETS = ("no", "yes", None)


VALUES = ((1, "S"), (1, "M"), (2, "S"), (2, None), (3.5, "M"))  # not all combinations


def dense():
    matrix = np.random.default_rng(0).dirichlet(np.full(4, 0.7), size=15).T
    return Mechanism.from_matrix(matrix, SECRETS, VALUES).named(None, COLUMNS)


def batch_of(**columns):
    n = len(next(iter(columns.values())))
    given = {"person": range(n), "age": [1] * n, "ill": ["no"] * n, "size": ["S"] * n, **columns}
    return pa.RecordBatch.from_pydict({name: pa.array(own) for name, own in given.items()})


def reporter(mechanism=None, **given):
    mechanism = dense() if mechanism is None else mechanism
    return Reporter(mechanism, **{"id": "person", "key": KEY, **given})


def expected_report(mechanism, cell, person):
    """One report from its tape: CBC encryption of the cell and the id, of which the last counts."""
    domain = b"skrldp keyed report, version 1\0" + bytes.fromhex(mechanism.digest)
    derived = hmac.new(KEY, domain, hashlib.sha256).digest()
    if isinstance(person, str) and re.fullmatch("0|-?[1-9][0-9]*", person):
        person = int(person)
    if isinstance(person, int):
        number = (person % 2**64).to_bytes(8, "big")
        text = (b"i" if person >= 0 else b"n") + cell.to_bytes(7, "big") + number
    else:
        octets = person.encode() if isinstance(person, str) else person
        letter = b"s" if isinstance(person, str) else b"b"
        text = letter + cell.to_bytes(7, "big") + len(octets).to_bytes(8, "big") + octets
        text += bytes(-len(octets) % 16)
    encryptor = Cipher(algorithms.AES256(derived), modes.CBC(bytes(16))).encryptor()
    tape = np.frombuffer(encryptor.update(text)[-16:], dtype=np.uint8)
    return int(mechanism.form.sampler.sample([cell], Tapes(tape[None]))[0])
