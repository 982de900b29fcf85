"""The order of the examples in the gallery: first steps, designs, figures, checks, papers."""

from pathlib import Path

ORDER = (
    "plot_first_table",
    "plot_server_and_client",
    "plot_crosstab",
    "plot_wide_table",
    "plot_numeric_answers",
    "plot_no_public_table",
    "plot_grid_search",
    "plot_choosing_beta",
    "plot_survey",
    "plot_weighted_survey",
    "plot_unknown_secret",
    "plot_asking_twice",
    "plot_second_report",
    "plot_distribution_shift",
    "plot_train_on_reports",
    "plot_classifier",
    "plot_wages",
    "plot_regression",
    "plot_audit",
    "plot_isit_section_v",
    "plot_entropy_section_8",
)


def place(filename: str) -> int:
    """The place of an example."""
    return ORDER.index(Path(filename).stem)
