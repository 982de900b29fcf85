"""Single rows of a mechanism: the cone of private ones, its vertices, and columns of a program."""

from skrldp.design.rows._choose_cone import Cones
from skrldp.design.rows._column_generation import generate_columns
from skrldp.design.rows._facets import is_polyhedral
from skrldp.design.rows._path_ascent import ascend_along_paths
from skrldp.design.rows._vertex_enumeration import enumerate_vertices

__all__ = ["Cones", "ascend_along_paths", "enumerate_vertices", "generate_columns", "is_polyhedral"]
