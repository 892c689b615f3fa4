"""The theorem, tested: what the wavelet learner's paper proves, measured beside its rivals, claim by claim.

`gamesim theorem` runs every claim's points, keeps them in a store that survives a kill, and writes the page with its
tables and figures from that store alone.
"""
