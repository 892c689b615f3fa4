"""Compiled functions shared by the learners."""
