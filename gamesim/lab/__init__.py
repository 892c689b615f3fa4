"""The lab: a live page, served from one's own machine, in which a class watches learning happen.

`server` is the web server and its guard, `session` one page's simulations, `frames` the numbers that they send,
`limits` what a page may ask for, and `choices` what it lets people choose from. The page itself is in `static`.
"""
