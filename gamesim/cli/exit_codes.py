"""Exit codes of the command line, other than 0 for success."""

FAILED = 1  # some points of a sweep failed, or results are damaged
BAD_INPUT = 2  # invalid input
INTERRUPTED, BROKEN_PIPE = 130, 141  # 128 + signal number, as shells report SIGINT and SIGPIPE
