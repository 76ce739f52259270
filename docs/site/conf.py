"""Sphinx's settings for the site. The sources are staged by build.py, which hands them over with the version.

Nothing is fetched from elsewhere, neither by the build nor by a reader's browser: formulas are MathML, the search index is part
of the site, made by search.py after Sphinx."""

import html
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "Bitale"
author = "the authors of Bitale"
copyright = author
version = release = os.environ["BITALE_SITE_VERSION"]
language = "en"

extensions = ["myst_parser", "sphinx_design", "sphinx_copybutton", "mathml"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
templates_path = ["templates"]
highlight_language = "none"
pygments_style = "default"
nitpicky = True
add_module_names = False
toc_object_entries = False
maximum_signature_line_length = 88

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"Bitale {release}"
html_static_path = ["static"]
html_extra_path = [each for each in (os.environ["BITALE_SITE_EXTRA"],) if each]
html_css_files = ["site.css"]
html_js_files = ["search.js"]
html_favicon = "static/favicon.svg"
html_additional_pages = {"404": "404.html"}
html_math_renderer = "mathml"
# Where the address of all versions is given, pages name their canonical address, and can switch to other versions.
_address = os.environ.get("BITALE_SITE_URL", "").rstrip("/")
html_baseurl = f"{_address}/{release}/" if _address else ""
html_show_sourcelink = False
html_copy_source = False
html_domain_indices = False
html_sidebars = {
    "index": [],
    "changelog": [],
    "reference/api/*": ["names_of_subject.html"],
    "source/**": [],
}
html_context = {"default_mode": "auto", "html_address": html_baseurl}
html_theme_options = {
    "logo": {"text": "Bitale"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_persistent": ["site-search"],
    "navbar_end": ["theme-switcher"],
    "disable_search": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_prev_next": False,
    "collapse_navigation": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "default",
    "pygments_dark_style": "monokai",
}
if _address:
    html_theme_options |= {
        "navbar_end": ["version-switcher", "theme-switcher"],
        "switcher": {"json_url": f"{_address}/switcher.json", "version_match": release},
        "check_switcher": False,
    }


# The address of the repository, where a person has set it.
_repository = re.search(
    r'^repository = "(.+)"$', (Path(__file__).parents[2] / "pyproject.toml").read_text(), re.M
)
if _repository:
    html_theme_options["icon_links"] = [
        {"name": "Source", "url": _repository[1], "icon": "fa-solid fa-code-branch"},
        {"name": "Issues", "url": f"{_repository[1]}/issues", "icon": "fa-solid fa-bug"},
    ]
    html_theme_options["navbar_end"] = [*html_theme_options["navbar_end"], "navbar-icon-links"]


def add_names_of_subject(app, pagename, templatename, context, doctree):
    """The sidebar of a page of the reference lists the names of its subject. A toctree of all names on each of their pages
    would take most of the time of the build, and most of the bytes."""
    import json

    context["subject"] = None
    if pagename.startswith("reference/api/"):
        subjects = json.loads((Path(app.srcdir) / "reference" / "subjects.json").read_text())
        name = pagename.removeprefix("reference/api/")
        context["subject"] = next((each for each in subjects if name in each["pages"]), None)
        context["this_name"] = name


def add_description(app, pagename, templatename, context, doctree):
    """The first paragraph of a page, for search engines and the cards of links."""
    found = re.search(r"<p>(.*?)</p>", context.get("body", ""), re.S)
    words = html.unescape(re.sub(r"<[^>]+>", "", found[1])).split() if found else []
    text = " ".join(words)
    context["description"] = text if len(text) <= 200 else text[:200].rpartition(" ")[0] + " ..."


def leave_out_search(app):
    app.builder.search = False


def setup(app):
    app.connect("builder-inited", leave_out_search)
    app.connect("html-page-context", add_names_of_subject)
    app.connect("html-page-context", add_description)
