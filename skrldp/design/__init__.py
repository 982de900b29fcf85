"""The designs: one file for each way of choosing a mechanism."""
