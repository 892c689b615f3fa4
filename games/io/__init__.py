"""Games in files, and games of other libraries."""
