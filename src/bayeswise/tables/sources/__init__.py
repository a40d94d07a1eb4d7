"""One file per kind of source."""
