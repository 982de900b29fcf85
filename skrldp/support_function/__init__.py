r"""The worst distribution of a Rényi ball for a linear function of one or two conditionals.

The problem is the *support function* of what the ball allows (Entropy Theorem 1, ISIT Theorem 3)

.. math:: \max \sum_{i} R_i \cdot q_i \quad\text{over conditionals } R_i
   \text{ that some distribution of the ball has together},

for one secret or for a pair of them. Lagrangian duality, with the price of the shared budget
eliminated in closed form, leaves one slack :math:`\tau_i \ge 0` for each conditional
(:math:`\lambda_i = \max q_i + \tau_i`, :math:`\theta = (\alpha-1)/\alpha`):

.. math::

    \sum_i \lambda_i
    - A^{-1/\theta}\, N_\sigma\bigl(w_i^{1/\theta} M_\theta(\lambda_i - q_i)\bigr),

where :math:`M_\theta` is the power mean of exponent θ under :math:`\hat P_{U|s_i}`,
:math:`N_\sigma(x) = (\sum x_i^\sigma)^{1/\sigma}` with :math:`\sigma = (\alpha-1)/(2\alpha-1)`,
:math:`w_i = \hat P_{s_i}` and :math:`A = \sum w_i + e^{(\alpha-1)B/\alpha} - 1`. For one secret
this is :math:`\lambda - e^{-B_s} M_\theta(\lambda - q)`. The expression is convex in τ and is an
upper bound at *every* τ, converged or not: that is what makes a certificate rigorous.
``docs/mathematics.md`` has the derivation. This room knows arrays and numbers only, not secrets,
tables or uncertainty sets: a ball is its order and radius here.
"""

from skrldp.support_function._bisect import bisect
from skrldp.support_function._cell_bounds import cell_bounds, conditional_radius, l1_radius
from skrldp.support_function._dual import (
    FLOOR,
    dual,
    log_mean_exp,
    prepare,
    split_budget,
    support_shrink,
)
from skrldp.support_function._value import Support, support
from skrldp.support_function._worst_case import divergence, pull_in, worst_conditionals

__all__ = [
    "FLOOR",
    "Support",
    "bisect",
    "cell_bounds",
    "conditional_radius",
    "divergence",
    "dual",
    "l1_radius",
    "log_mean_exp",
    "prepare",
    "pull_in",
    "split_budget",
    "support",
    "support_shrink",
    "worst_conditionals",
]
