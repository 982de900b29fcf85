"""Draw reports from a mechanism, exactly and from secure randomness.

A mechanism's probabilities are integers over a power of two, ``weights[y, x] / 2**bits``. Given
uniform random bits, the tables below turn a cell ``x`` into a report ``y`` with *exactly* that
probability: no floating-point number is involved, so the sampled mechanism is the certified one.

* :class:`AliasTable` samples any mechanism given as a dense matrix.
* :class:`BlockTable` samples mechanisms whose weight depends only on whether the report's secret
  and value equal the record's; it needs no matrix.

The bits come from the operating system (:class:`RandomStream`), or, for reports that repeat, from
a secret key and the id of each row (:class:`KeyedStream`, and :class:`Tapes` in general).

Only the standard library and NumPy are imported here, because clients sample with this package.
"""
