"""``skrldp inspect``: what a mechanism protects and claims, and what follows from it alone."""

from __future__ import annotations

from typing import Annotated, Any

from skrldp.cli import _options as o
from skrldp.cli._errors import FAILED
from skrldp.cli._outputs import new_file
from skrldp.cli._progress import done, tell

__all__ = ["inspect"]


def inspect(
    mechanism: o.MechanismFile,
    *,
    digest: Annotated[
        str | None,
        o.option("--digest HEX", "The digest that the mechanism should have."),
    ] = None,
    html: o.Html = None,
    json: o.Json = False,
    force: o.Force = False,
) -> int:
    """Say what a mechanism, or a manifest of several, protects and claims.

    Prints what it was designed for, what its maker claims to have proven, and the bounds that
    follow from the mechanism alone, which are proven here. The exit code is 1 if it has another
    digest than --digest.
    """
    from skrldp._pages import as_json, document, page, text_page
    from skrldp.cli import _claims, _manifests
    from skrldp.cli._mechanism import read_either
    from skrldp.mechanism import Manifest

    own = read_either(mechanism)
    tell("proving")
    is_one = not isinstance(own, Manifest)
    claims: Any = _claims if is_one else _manifests
    title = f"{'Mechanism' if is_one else 'Manifest'} {mechanism}"
    proven = claims.everywhere(own)
    lines = claims.lines_of(own, proven)
    same = digest is None or own.digest == digest.strip().lower()
    if not same:
        lines.append(("result", "ANOTHER DIGEST than the one given: do not use this mechanism"))
    if html is not None:
        with new_file(html, force=force, inputs=[mechanism]) as file:
            file.write(document(title, page(title, lines)).encode())
    done()
    print(as_json(claims.figures_of(own, proven, same)) if json else text_page(title, lines))
    return 0 if same else FAILED
