"""What a run is reported as: a summary, a verdict, tables on the terminal, a page."""
