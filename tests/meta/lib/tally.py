# SPDX-License-Identifier: Apache-2.0
"""What every meta script shares: where the tree and the binary are, and one count at the end."""
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
PINDOWN = os.environ.get("PINDOWN", str(TOP / "build/dev/pindown"))


def run(*arguments):
    """What pindown prints for `arguments`; an error status is an error here."""
    env = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    return subprocess.run([PINDOWN, *arguments], capture_output=True, text=True, check=True, env=env, timeout=60).stdout


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, problems):
        """One test: it passes when there are no problems."""
        problems = list(problems)
        for problem in problems[:50]:
            print(f"FAILED {name}: {problem}")
        self.passed += not problems
        self.failed += bool(problems)

    def skip(self, name, reason):
        print(f"skipped {name}: {reason}")
        self.skipped += 1

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.exit(1 if self.failed or not self.passed else 0)
