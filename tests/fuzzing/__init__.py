"""Fuzzing: damaged and extreme inputs of every kind, and their outcomes.

`python -m tests.fuzzing --help` runs it, `make fuzz` for long. An input is a folder of small files. It is made from a
seed and its number alone, so every run can be repeated; those that fail are saved, and can be replayed. `corpus` holds
the inputs that once failed.
"""
