"""Sanitizers: scikit-learn transformers that replace each record by a private report."""
