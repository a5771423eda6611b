#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every code that pindown recognises has a recorded case that it is found in, and one that it stays out of. Exceptions: uncased.txt."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "lib"))
from tally import PINDOWN, TOP, Tally, run


def recorded():
    """{case: {"found": codes, "candidates": codes, "expect": codes}}"""
    done = subprocess.run([TOP / "tests/run-cases", "--found"], env={**os.environ, "PINDOWN": PINDOWN}, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def exceptions():
    """uncased.txt: CODE, then why no case can be recorded; '#' starts a comment."""
    lines = (line.split(None, 1) for line in (TOP / "tests/meta/uncased.txt").read_text().splitlines() if line.strip() and line[0] != "#")
    return {code: reason for code, reason in lines}


def wanted_and_found(code, case):
    return code in case["expect"] and (code in case["found"] or code in case["candidates"][:3])


tally = Tally()
cases, excused = recorded(), exceptions()
recognised = {row["code"] for row in json.loads(run("list", "--format", "json")) if row["recognised"]}
tally.check("cases can be run", [] if cases else ["run-cases --found failed"])
tally.check("something is recognised", [] if recognised else ["list says that nothing is"])
for code in sorted(recognised - excused.keys()):
    tally.check(f"{code} is found where it should be", [] if any(wanted_and_found(code, c) for c in cases.values()) else ["no case"])
    tally.check(f"{code} stays out of other cases", [] if any(code not in c["found"] for c in cases.values()) else ["found in every case"])
for code in sorted(excused):
    cased = any(wanted_and_found(code, c) for c in cases.values())
    tally.check(f"{code} in uncased.txt", ["has a case by now: take it off the list"] if cased else [] if code in recognised else ["is not recognised at all"])
tally.finish()
