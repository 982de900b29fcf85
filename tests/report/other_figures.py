"""Privacy reports with other figures than those that were found."""

from dataclasses import is_dataclass, replace


def with_figures(report, **figures):
    """Replace figures wherever they stand in a report's parts."""
    parts = {name: part for name, part in vars(report).items() if is_dataclass(part)}
    assert figures.keys() <= {name for part in parts.values() for name in vars(part)}
    for name, part in parts.items():
        parts[name] = replace(part, **{n: it for n, it in figures.items() if n in vars(part)})
    return replace(report, **parts)
