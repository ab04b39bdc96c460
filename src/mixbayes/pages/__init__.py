"""The page at a node: what the node knows, shown in a browser on the node's own machine.

`site.py` has the addresses of the pages, `door.py` who may come in, `gate.py` which requests are refused, and
`texts.toml` every word. `at_hospital.py` and `at_mixer.py` are what the pages ask of the node. Each page is a file.
"""
