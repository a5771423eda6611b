# SPDX-License-Identifier: Apache-2.0
# No line is wider than the terminal but commands and paths, which are there to be copied; a command is always one whole line.
python3 - 60 100 "$SAMPLES"/*.log << 'END' || fail "too wide, or a command is broken"
import json, os, subprocess, sys, unicodedata
def run(columns, *arguments):
    return subprocess.run([os.environ["PINDOWN"], "check", *arguments], capture_output=True, text=True,
                          env={**os.environ, "COLUMNS": str(columns)}).stdout
def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
def commands_of(report):
    commands = {c for f in report["findings"] for m in f["remedies"] for c in [*m["commands"], m["verify"]]}
    return {c for c in commands | {c["decide"] for c in report["candidates"]} if c}
def judge(log, columns, commands):
    lines = run(columns, log).splitlines()
    for line in lines[columns < 80:]:  # the first line is made for 80, see first-line.sh
        longest = max(map(width, line.split()), default=0)
        whole = line.strip() in commands or line.strip().removeprefix("verify").strip() in commands
        if width(line) > columns and not whole and longest < columns - 20:
            sys.exit(f"{log} at {columns}: {line}")
    for command in commands:
        if not any(line.endswith(command) for line in lines):
            sys.exit(f"{log} at {columns}: not one whole line: {command}")
for log in sys.argv[3:]:
    commands = commands_of(json.loads(run(100, "--format", "json", log)))
    for columns in map(int, sys.argv[1:3]):
        judge(log, columns, commands)
END
