"""Pages and what the site's tools compute are tested here; tests/unit/house/test_site.py runs the scripts."""

collect_ignore_glob = ["conf.py", "gallery/*", "lectures/*", "generated/*", "_build/*"]
collect_ignore = [f"site_tools/{name}.py" for name in ("commands", "mathml", "reference")]  # they need Sphinx
