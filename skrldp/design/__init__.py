"""Designs: the optimisation of mechanisms.

:mod:`skrldp.design.engine` solves problems: :mod:`skrldp.design.criterion_problem` (information,
or variances of estimates) and :mod:`skrldp.design.distance_problem` (an expected distance). The
other modules are their methods; closed-form mechanisms are in :mod:`skrldp.design.closed_form`.
"""
