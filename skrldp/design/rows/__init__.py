"""Single rows of a mechanism: the cone of private ones, its vertices, and columns of a program."""

from skrldp.design.rows._columns import generate_columns, searches_exact_cone
from skrldp.design.rows._facets import is_polyhedral
from skrldp.design.rows._vertices import enumerate_vertices

__all__ = ["enumerate_vertices", "generate_columns", "is_polyhedral", "searches_exact_cone"]
