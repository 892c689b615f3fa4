"""An empirical study of the theorems behind the wavelet learner, claim by claim, in comparison with other learners.

`gamesim theorem` runs the points of every claim, saves them in a store from which an interrupted run resumes, and
generates the page, its tables and its figures from that store alone.
"""
