"""A class that plays: a room that students join, a log of everything that is played, and what it shows.

The state of a room is a function of its log. Every command of a teacher or a student becomes an event, which is written
to the log before it is acknowledged; a server that starts again reads the log and continues.
"""
