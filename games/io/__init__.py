"""Reading and writing game files, and conversion to and from other libraries."""
