"""The site: `make docs` builds it from the pages of this folder, the docstrings and the program itself."""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))  # the extensions in site_tools/
os.environ.update(COLUMNS="88", NO_COLOR="1", MPLBACKEND="agg")

from site_tools import galleries  # noqa: E402

from bayeswise import __version__  # noqa: E402

project = "bayeswise"
copyright = "the bayeswise contributors, Apache-2.0"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "site_tools.galleries",
    "site_tools.pages",
    "site_tools.mathml",
    "site_tools.reference",
    "site_tools.commands",
    "site_tools.offline",
]
exclude_patterns = ["_build", "gallery", "lectures", "site_tools", "Thumbs.db"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4
nitpicky = True
smartquotes = False
toc_object_entries_show_parents = "hide"
sphinx_gallery_conf = galleries.SETTINGS
suppress_warnings = ["config.cache"]
html_theme = "pydata_sphinx_theme"
html_title = "bayeswise"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/favicon.svg"
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "bayeswise"},
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
