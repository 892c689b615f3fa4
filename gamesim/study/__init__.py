"""Studies: a base scenario, many variants of it, and the measures of each."""
