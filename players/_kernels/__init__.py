"""Compiled functions that learners share."""
