"""The client: load a mechanism's JSON and report records, with only NumPy.

The client runs on a person's device, or wherever the records are. It needs no scikit-learn, no
data frames and no solver; ``cryptography`` makes drawing faster, and permanent reports need it.
`docs/client.md` describes the JSON, and what a client can and cannot check. The import is fast,
because :func:`load` imports everything it needs, including NumPy.

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
    from skrldp.client.clients import BlockClient, Client
    from skrldp.client.report_limit import ReportLimit

__all__ = ["BlockClient", "Client", "ReportLimit", "load"]


def load(
    text: str | bytes,
    *,
    digest: str | None = None,
    permanent_key: bytes | None = None,
    limit: ReportLimit | None = None,
    random_state: Any = None,
) -> Client | BlockClient:
    """Load a mechanism, or a manifest of several, to report raw records.

    Parameters
    ----------
    text : str or bytes
        The output of ``mechanism_.to_json()`` of a fitted sanitizer, or of ``manifest_.to_json()``
        of :class:`~skrldp.BlockSanitizer`; bytes are UTF-8.
    digest : str, optional
        The ``digest`` of the mechanism or manifest, received by a different channel than the text:
        a text with a different digest is rejected. Without it, any valid text is loaded.
    permanent_key : bytes, optional
        A secret key of at least 16 bytes, such as ``secrets.token_bytes(32)``. Reports are then
        permanent: the same person with the same record always has the same report and, for a
        manifest, the same block whatever the record. They equal those of :mod:`skrldp.batches` with
        the same key and ids. Without a key, every report is drawn anew. **Whoever has the key can
        undo the randomisation**; therefore such a client cannot be pickled, because the pickle
        would contain the key.
    limit : ReportLimit, optional
        Maximum number of fresh reports about each person, and the file that counts them. Further
        reports are rejected. Without it, reports are not counted. Not for manifests.
    random_state : None, int, Generator or RandomState, default=None
        None uses the operating system's entropy. Anything else makes reports repeatable, for tests:
        **it voids the guarantee**, because whoever knows it can remove the noise.

    Returns
    -------
    Client or BlockClient
        A client whose reports are integers; for a manifest, pairs of a block and an integer.

    Raises
    ------
    ValueError
        If the text does not follow one of the formats exactly, or does not match `digest`; if the
        key is too short, or the mechanism's claims do not bound as many reports as the limit
        allows; if more than one of key, limit and random state is given, or a limit for a manifest.
    TypeError
        If the text, the digest, the key or the limit is of the wrong type.

    Notes
    -----
    Loading checks that the text is a mechanism. It cannot check that the mechanism is as private as
    it claims, nor who made it; see `docs/client.md`.
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
                "limit is not available for manifests. Pass permanent_key instead, so that each "
                "person always reports the same block."
            )
        from skrldp.client.clients import BlockClient

        return BlockClient(loaded, permanent_key=permanent_key, random_state=random_state)
    return Client(loaded, permanent_key=permanent_key, limit=limit, random_state=random_state)


def __getattr__(name: str) -> Any:
    if name in ("BlockClient", "Client", "ReportLimit"):
        from skrldp.client import clients

        return getattr(clients, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
