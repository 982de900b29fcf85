"""What each approach to local privacy gives and leaks, on the same tables.

``make leaderboard`` runs all of it; ``benchmarks/leaderboard/__main__.py`` has the options. An
approach is a class in `plain`, `known` or `others` and a line in `registry`; a task is a function
in `tables`.
"""
