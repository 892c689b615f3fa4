"""Studies: one base scenario, many variants of it, and what is measured of each."""
