"""A mechanism's JSON: what it says, read strictly and written in one way only.

NumPy alone is imported, because clients read with this. `docs/client.md` describes every field.
"""

from skrldp.document._document import Document, digest, read, write

__all__ = ["Document", "digest", "read", "write"]
