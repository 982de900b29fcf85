"""Settings of the documentation; ``make docs`` builds it.

Nothing is fetched when a page is read: MathJax comes from a wheel, and scikit-learn's, NumPy's and
Python's lists of names are fetched by the build, which does without those it cannot reach.
"""

import importlib.metadata
import importlib.util
import re
import shutil
import sys
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for gallery_order

project = "skrldp"
author = "The skrldp developers"
copyright = "the skrldp developers"
version = release = importlib.metadata.version("skrldp")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
default_role = "code"
smartquotes = False
toc_object_entries_show_parents = "hide"

# -- pages in Markdown ---------------------------------------------------------------------------

myst_enable_extensions = ["amsmath", "attrs_block", "dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
suppress_warnings = ["misc.highlighting_failure"]  # DuckDB's SQL has parameters like $epoch

# -- the reference -------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections give types with shapes and units
numpydoc_show_class_members = False  # the template lists the methods
SITES = {
    "sklearn": "https://scikit-learn.org/stable/",
    "numpy": "https://numpy.org/doc/stable/",
    "python": "https://docs.python.org/3/",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# -- the examples --------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"[/\\]plot_",
    "ignore_pattern": r"(^|[/\\])(?!plot_)[^/\\]*\.py$",
    "within_subsection_order": "gallery_order.place",
    "thumbnail_size": (640, 448),
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("skrldp",),
    "reference_url": {"skrldp": None},
    "download_all_examples": False,
    "remove_config_comments": True,
    "image_srcset": ["2x"],
    "default_thumb_file": str(HERE / "_static" / "estimates.svg"),
    "show_signature": False,
    "write_computation_times": False,
    "plot_gallery": "True",
}

# -- the look ------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "skrldp"
html_static_path = ["_static"]
html_search_scorer = str(HERE / "scorer.js")
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {name: [] for name in ("index", "install", "start", "changelog", "contributing")}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_persistent": [],
    "navbar_end": ["search-button", "theme-switcher"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "navigation_with_keys": False,
}
mathjax3_config = {"chtml": {"mtextInheritFont": True}}


def fetch_inventories(app, config):
    """Fetch the lists of names to link to; what cannot be reached is not linked to.

    sphinx.ext.intersphinx would warn, and warnings are errors.
    """
    folder = HERE / "_build" / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    config.intersphinx_mapping = {}
    for name, site in SITES.items():
        path = folder / f"{name}.inv"
        try:
            with urlopen(f"{site}objects.inv", timeout=5) as answer:
                content = answer.read()
        except (OSError, HTTPException):
            content = b""
        if content.startswith(b"# Sphinx inventory"):
            path.write_bytes(content)
        if path.is_file():
            config.intersphinx_mapping[name] = (site, str(path))
        else:
            print(f"{site} cannot be reached: names of {name} are not links.")


def copy_mathjax(app, error):
    """Put MathJax and its fonts beside the pages."""
    if error or app.builder.format != "html":
        return
    source = mathjax_folder()
    target = Path(app.outdir) / "_static" / "mathjax"
    (target / "output" / "chtml").mkdir(parents=True, exist_ok=True)
    shutil.copy(source / "tex-chtml.js", target)
    fonts = "output/chtml/fonts"
    shutil.copytree(source / fonts, target / fonts, dirs_exist_ok=True)


def mathjax_folder():
    """Where the wheel django-static-mathjax, which needs no Django, put MathJax."""
    (package,) = importlib.util.find_spec("mathjax").submodule_search_locations
    return Path(package) / "static" / "mathjax" / "es5"


mathjax_path = "mathjax/tex-chtml.js"  # below _static


def lead_to_gallery(app, docname, source):
    """Let links to example scripts, which a forge shows, lead to their pages in the gallery."""
    script = r"\(\.\./((?:\.\./)*)examples/(plot_\w+)\.py\)"
    folder = r"\(\.\./((?:\.\./)*)examples/\)"
    source[0] = re.sub(script, r"(\1auto_examples/\2.rst)", source[0])
    source[0] = re.sub(folder, r"(\1auto_examples/index.rst)", source[0])


def keep_to_headers(app, config):
    """Let a README.md below examples/ be one for readers of the code, not a page of the gallery."""
    config.sphinx_gallery_conf["source_suffix"] = {".rst": "restructuredtext"}


def setup(app):
    """Connect what the extensions do not do."""
    app.connect("source-read", lead_to_gallery)
    app.connect("config-inited", fetch_inventories, priority=100)
    app.connect("config-inited", keep_to_headers, priority=100)  # the gallery's defaults: at 10
    app.connect("build-finished", copy_mathjax)
