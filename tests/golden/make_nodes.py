#!/usr/bin/env python3
"""Text listing (one node a line: name | op | inputs @device | attrs) beside every .meta. Run it after the others.

usage: make_nodes.py [OUT]     writes *.nodes.txt
"""
import os
import sys

from listgraph import line, load

base = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
for r, _, fs in os.walk(base):
    for f in sorted(fs):
        if f.endswith(".meta") and f != "stripped.meta":
            g = load(os.path.join(r, f))
            with open(os.path.join(r, f[:-5] + ".nodes.txt"), "w") as fh:
                fh.write("".join(line(n) + "\n" for n in g.node))
