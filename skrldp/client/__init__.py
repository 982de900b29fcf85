"""The client: load a mechanism's JSON and report records, with NumPy alone.

What runs on a person's device, or wherever records are before they are private. It needs no
scikit-learn, no data frames and no solver; ``cryptography``, where it is installed, speeds up the
randomness. `docs/client.md` describes the JSON, and what a client can and cannot check.

>>> import skrldp
>>> from skrldp import client
>>> mechanism = skrldp.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], ("no", "yes"), ("any",))
>>> mechanism = mechanism.named(None, [("ill", True), ("place", False)])
>>> device = client.load(mechanism.to_json())
>>> device.report({"ill": "yes", "place": "any"}) in (0, 1)
True
"""

from skrldp.client._client import Client, load

__all__ = ["Client", "load"]
