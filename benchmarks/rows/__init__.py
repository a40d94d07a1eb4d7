"""One file per subject; each has `rows(size)`."""
