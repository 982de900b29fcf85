"""``skrldp inspect``: what a mechanism protects and claims, and what follows from it alone."""

from __future__ import annotations

from typing import Annotated

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
    """Say what a mechanism protects and claims.

    Prints what it was designed for, what its maker claims to have proven, and the bounds that
    follow from the mechanism alone, which are proven here. The exit code is 1 if it has another
    digest than --digest.
    """
    from skrldp._pages import page, text_page
    from skrldp.cli._claims import everywhere, figures_of, lines_of
    from skrldp.cli._figures import as_html, as_json
    from skrldp.cli._mechanism import read_mechanism

    own = read_mechanism(mechanism)
    tell("proving")
    proven = everywhere(own)
    title, lines = f"Mechanism {mechanism}", lines_of(own, proven)
    same = digest is None or own.digest == digest.strip().lower()
    if not same:
        lines.append(("result", "ANOTHER DIGEST than the one given: do not use this mechanism"))
    if html is not None:
        with new_file(html, force=force, inputs=[mechanism]) as file:
            file.write(as_html(title, page(title, lines)).encode())
    done()
    print(as_json(figures_of(own, proven, same)) if json else text_page(title, lines))
    return 0 if same else FAILED
