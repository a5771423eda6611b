# SPDX-License-Identifier: Apache-2.0
# What README.md shows is what the command in it prints, and its examples of commands exist.
python3 - << 'END' || fail "README.md is out of date; paste the new output"
import os, pathlib, re, subprocess, sys
text = pathlib.Path(os.environ["TOP"], "README.md").read_text()
shown = re.search(r"^    \$ pindown (examples/\S+)\n((?:    .*\n|\n)+?)(?=\S)", text, re.M)
want = "\n".join(line.removeprefix("    ") for line in shown[2].rstrip("\n").split("\n")).strip("\n")
done = subprocess.run([os.environ["PINDOWN"], shown[1]], cwd=os.environ["TOP"], capture_output=True, text=True)
if done.stdout.strip("\n") != want:
    sys.exit(done.stdout)
END
