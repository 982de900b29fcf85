"""Uncertainty sets: the distributions of (S, U) for which the privacy guarantee must hold.

:class:`LikelihoodRatioSet`, :class:`RenyiBall` and :class:`AllDistributions` are the parameter
objects that users choose, in scikit-learn's style. Fitting one to a public table returns a
:class:`FittedSet`, an immutable value that designs and proofs use. The parameter objects are in a
separate module, because designs and proofs do not import scikit-learn.
"""
