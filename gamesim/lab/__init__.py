"""The lab: a web page, served locally, that shows learning in games live.

`server` is the web server and its access checks, `session` runs the simulations of one page, `frames` encodes the
numbers sent to it, `limits` validates its requests, and `choices` lists what it offers. The page is in `static`.
"""
