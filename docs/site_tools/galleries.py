"""Scripts that are run, shown with their pictures, and offered as notebooks."""

from __future__ import annotations

SETTINGS = {
    "examples_dirs": ["gallery", "lectures"],
    "gallery_dirs": ["generated/gallery", "generated/lectures"],
    "filename_pattern": r".*\.py",
    "within_subsection_order": "FileNameSortKey",
    "plot_gallery": True,
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_", "__repr__"),
    "remove_config_comments": True,
    "ignore_repr_types": "Display|Comparison$",
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 1_000,
    "download_all_examples": False,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
}
