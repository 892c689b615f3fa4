"""What is measured of a run: regrets, gaps, trends, and the sets of equilibria."""
