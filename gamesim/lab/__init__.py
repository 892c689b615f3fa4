"""The lab: a web page, served locally, that shows learning in games live.

`server` is the web server and its access checks, and `connections` the deadlines of its connections. `session` runs the
simulations of one page, in threads that `workers` shares among all pages. `inbox` holds the messages that wait, and
`limits` validates them. `frames` and `equilibria` compute the numbers that are sent back, and `choices` lists what the
page offers. The page is in `static`.
"""
