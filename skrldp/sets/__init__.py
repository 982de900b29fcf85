"""Uncertainty sets: for which distributions of (S, U) the privacy must hold.

:class:`LikelihoodRatioSet`, :class:`RenyiBall` and :class:`AllDistributions` are what people
choose: parameter objects as scikit-learn has them. Fitted to a public table they give a
:class:`FittedSet`, a value that designs and proofs take. Designs and proofs do
without scikit-learn, so the parameter objects are in their own module.
"""
