"""Reports of a run: a summary, a verdict, tables for the terminal and an HTML page."""
