"""The lab: a web page, served locally, that shows learning in games live.

`server` is the web server and its access checks, `address` its links and QR code, and `connections` the deadlines of
its connections. `session` runs the simulations of one page, in threads that `workers` shares among all pages, up to the
events of `events`. `inbox` holds the messages that wait, and `limits` validates them, and the games of users. The
numbers that are sent back come from `gamesim.views`, pictures through `pictures`. `choices` lists what the page offers:
games, learners, and the lessons of `course`. The page is in `static`, and so is the replay of reports, which has the
same views.
"""
