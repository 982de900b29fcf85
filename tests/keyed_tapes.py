"""The random bytes of keyed reports, by their description: a CBC-MAC of a cell and an id."""

import hashlib
import hmac
import re

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from skrldp.sampling.random_bits import Tapes

KEY = bytes(range(32))
DIGEST = hashlib.sha256(b"some mechanism").hexdigest()


def same_id(person):
    """The integer that a text is an id of, or the id as it is."""
    if isinstance(person, str) and re.fullmatch("0|-?[1-9][0-9]*", person):
        return int(person) if -(2**63) <= int(person) < 2**64 else person
    return person


def written(cell, person):
    """A cell and an id in blocks of 16 bytes, from the description alone."""
    person = same_id(person)
    if isinstance(person, int):
        letter = b"i" if person >= 0 else b"n"
        return letter + cell.to_bytes(7, "big") + (person % 2**64).to_bytes(8, "big")
    octets = person.encode() if isinstance(person, str) else person
    letter = b"s" if isinstance(person, str) else b"b"
    first = letter + cell.to_bytes(7, "big") + len(octets).to_bytes(8, "big")
    return first + octets + bytes(-len(octets) % 16)


def tape(cell, person, key=KEY, digest=DIGEST, epoch=0):
    """The tape of one row: a library's CBC encryption, of which the last block counts."""
    domain = b"skrldp keyed report, version 1\0" + bytes.fromhex(digest)
    domain += epoch.to_bytes(8, "big") if epoch else b""
    derived = hmac.new(key, domain, hashlib.sha256).digest()
    encryptor = Cipher(algorithms.AES256(derived), modes.CBC(bytes(16))).encryptor()
    return encryptor.update(written(cell, person))[-16:]


def report_of_tape(mechanism, cell, person, key=KEY, epoch=0):
    """The report about a person in a cell, drawn from the described bytes."""
    octets = np.frombuffer(tape(cell, person, key, mechanism.digest, epoch), dtype=np.uint8)
    return int(mechanism.form.sampler.sample([cell], Tapes(octets[None]))[0])
