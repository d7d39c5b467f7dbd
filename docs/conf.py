"""How Sphinx makes these pages: ``python -m sphinx -W docs docs/_build``, without a network."""

import re
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

from sphinx.pycode import ModuleAnalyzer
from sphinx_gallery.sorting import FunctionSortKey

import sklearn_sha

project = "sklearn_sha"
author = "the sklearn_sha developers"
version = release = sklearn_sha.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# The notebooks of the examples are executed here, and shown with what they print.
here = Path(__file__).parent
copytree(
    here.parent / "examples",
    here / "notebooks",
    ignore=ignore_patterns("*.py", "*.rst"),
    dirs_exist_ok=True,
)
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True

templates_path = ["_templates"]
# Those of the gallery are for downloads.
exclude_patterns = ["_build", "jupyter_execute", "auto_examples/*.ipynb"]
toc_object_entries_show_parents = "hide"
smartquotes = False  # quoted strings are code, such as "auto" in docstrings
default_role = "literal"  # what numpydoc's single backticks are in these docstrings

autodoc_typehints = "none"  # docstrings have the types
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"sklearn_sha {version}"
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_sidebars = {"*": []}  # pages at the top have no section to show
html_context = {"default_mode": "auto"}
html_theme_options = {"show_prev_next": False, "show_toc_level": 3}

copybutton_prompt_text = ">>> |... "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

# From what everybody needs to what few do.
gallery_order = (
    "quickstart.py",
    "pipeline_text.py",
    "warm_start_boosting.py",
    "without_choosing_a_budget.py",
    "hyperband.py",
    "network_with_skorch.py",
    "replay_learning_curves.py",
    "where_halving_goes_wrong.py",
)
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "within_subsection_order": FunctionSortKey(gallery_order.index),
    "default_thumb_file": str(here / "images" / "halving.svg"),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "write_computation_times": False,  # its page needs a network
}


def adapt_page(app, name, source):
    """Link pages of examples instead of their files, and end doctests without an empty line."""
    example = r"\]\(\.\./((?:\.\./)*)examples/(\w+)\.py\)"
    text = re.sub(example, r"](\1auto_examples/\2.rst)", source[0])
    source[0] = text.replace("\n\n```\n", "\n```\n")


def describe_alias(app, what, name, value, options, lines):
    """Give a type its docstring, which is in the module that defines it."""
    package, _, alias = name.rpartition(".")
    if what == "data":
        for module in sorted(module for module in sys.modules if module.startswith(f"{package}.")):
            found = ModuleAnalyzer.for_module(module).find_attr_docs()
            lines[:] = found.get(("", alias), lines)


def wrap_figures(app, page, template, context, doctree):
    """Have figures of examples scroll on narrow pages, as those in `wide-figure` do."""
    figure = r"<img [^>]*sphx-glr-single-img[^>]*>"
    body = context.get("body", "")
    context["body"] = re.sub(figure, r'<div class="wide-figure">\g<0></div>', body)


def setup(app):
    """Register them."""
    app.connect("html-page-context", wrap_figures)
    app.connect("source-read", adapt_page)
    app.connect("autodoc-process-docstring", describe_alias)
