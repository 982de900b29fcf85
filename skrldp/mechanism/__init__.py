"""Mechanisms: the randomised maps from records to reports, with exact probabilities.

A mechanism's probabilities are integers over a power of two, so that the matrix that is certified
and the matrix that is sampled are the same. A :class:`Mechanism` names its cells and reports, and
stores its weights in one of three forms: dense (any matrix), by values of U (any mechanism that
observes U alone) and block (the closed forms, whose matrix on thousands of cells would be too
large). Only NumPy is imported here, since clients use this package.
"""
