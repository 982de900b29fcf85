"""The client: load a mechanism's JSON and report records, with NumPy alone.

The client runs on a person's device, or wherever the records are. It needs no scikit-learn, no
data frames and no solver; ``cryptography`` speeds up the randomness, and permanent reports need
it. `docs/client.md` describes the JSON, and what a client can and cannot check. The import is
fast: :func:`load` imports what it needs, NumPy included.

>>> import skrldp
>>> from skrldp import client
>>> mechanism = skrldp.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], ("no", "yes"), ("any",))
>>> mechanism = mechanism.named(None, [("ill", True), ("place", False)])
>>> device = client.load(mechanism.to_json())
>>> device.report({"ill": "yes", "place": "any"}) in (0, 1)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skrldp.client.clients import BlockClient, Client, ReportLimit

__all__ = ["BlockClient", "Client", "ReportLimit", "load"]


def load(
    text: str | bytes,
    *,
    digest: str | None = None,
    permanent_key: bytes | None = None,
    limit: ReportLimit | None = None,
    random_state: Any = None,
) -> Client | BlockClient:
    """Load a mechanism, or a manifest of several, that reports raw records.

    Parameters
    ----------
    text : str or bytes
        What ``mechanism_.to_json()`` of a fitted sanitizer wrote, or ``manifest_.to_json()`` of
        :class:`~skrldp.BlockSanitizer`; bytes are UTF-8.
    digest : str, optional
        The ``digest`` of the mechanism or manifest, which came another way than the text: any other
        is refused. Without it, whatever the text says is loaded.
    permanent_key : bytes, optional
        A secret key of at least 16 bytes, such as ``secrets.token_bytes(32)``. Reports are then
        permanent: the same person with the same record always gives the same report; and of a
        manifest the same block, whatever the record. They are those of :mod:`skrldp.batches` with
        the same key and ids. Without a key every report is drawn again.
        **Whoever has the key can undo the randomisation**; so such a client cannot be pickled: a
        pickle would hold the key.
    limit : ReportLimit, optional
        How many fresh reports about each person are allowed, and where they are counted. The next
        is refused. Without it nothing is counted. Reports of manifests are not counted.
    random_state : None, int, Generator or RandomState, default=None
        None takes entropy from the operating system. Anything else makes reports repeatable and is
        for tests: **it voids the guarantee**, since whoever knows it can remove the noise.

    Returns
    -------
    Client or BlockClient
        One whose reports are numbers; for a manifest, one whose reports are pairs of a block and a
        number.

    Raises
    ------
    ValueError
        If the text does not follow one of the formats exactly, or is another mechanism than
        `digest` says; if the key is too short, or the mechanism's claims do not bound as many
        reports as the limit allows; for two of a key, a limit and a random state, or a manifest and
        a limit.
    TypeError
        If the text, the digest, the key or the limit is of the wrong type.

    Notes
    -----
    Loading checks that the text is a mechanism. It cannot check that the mechanism is as private
    as it claims, nor who made it: see `docs/client.md`.
    """
    from skrldp.client.clients import Client
    from skrldp.mechanism.manifest import Manifest, read_json

    if not (digest is None or isinstance(digest, str)):
        raise TypeError(f"digest must be a str of hexadecimal digits, got {type(digest).__name__}.")
    loaded = read_json(text)
    if digest is not None and digest != loaded.digest:
        raise ValueError(f"this is a different mechanism: its digest is {loaded.digest}.")
    if isinstance(loaded, Manifest):
        if limit is not None:
            raise ValueError(
                "the reports of a manifest are not counted (limit): each person reports one block, "
                "which permanent_key makes permanent."
            )
        from skrldp.client.clients import BlockClient

        return BlockClient(loaded, permanent_key=permanent_key, random_state=random_state)
    return Client(loaded, permanent_key=permanent_key, limit=limit, random_state=random_state)


def __getattr__(name: str) -> Any:
    if name in ("BlockClient", "Client", "ReportLimit"):
        from skrldp.client import clients

        return getattr(clients, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
