"""What the command line ends with, beside 0 for what is done."""

FAILED = 1  # some points of a sweep failed
BAD_INPUT = 2  # a mistake in what was given
INTERRUPTED, BROKEN_PIPE = 130, 141  # as a shell tells of those whom SIGINT and SIGPIPE end
