r"""The conditions on every row of a mechanism: requirements, and regions of conditionals.

A *row* of a mechanism is :math:`v = (Q_{y|s,u})_{s,u}`. It is private when, for all distinct
secrets :math:`s_1, s_2` and all conditionals :math:`(R_1, R_2)` of the region,
:math:`R_1 \cdot v_{s_1} \le e^\epsilon R_2 \cdot v_{s_2}`. The regions are nested, each safe for
those before it: ``"joint"`` (exactly what the ball of distributions allows) ⊂ ``"product"`` (each
conditional in its own ball) ⊂ ``"box"`` (bounds on each probability) ⊂ ``"lower"`` (lower bounds,
the paper's PolyOpt) ⊂ all conditionals.

A region's :class:`Layout` maps the entries of a row to secrets. With ``observe="nonsensitive"`` a
mechanism sees U alone: its rows are functions :math:`(Q_{y|u})_u` of U, private under the same
condition with :math:`v_s = Q_y` for every secret.

A *requirement* names pairs of secrets, an ε and a region. Designs, repair, release and proof use a
list of requirements, with one entry for each guarantee beyond the privacy of S over a set of
distributions: privacy over all distributions at a larger ε, against an observer who knows some
columns of U, or of each sensitive column separately.
"""
