"""The designs: how a mechanism is chosen.

:mod:`skrldp.design.engine` solves problems: :mod:`skrldp.design.criterion_problem` (information,
or variances of estimates) and :mod:`skrldp.design.distance_problem` (an expected distance). The
other modules are the methods that they choose from; mechanisms by formula are in
:mod:`skrldp.design.closed_form`.
"""
