#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file and script says its licence and what it is; nothing unfinished is left in the sources."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "lib"))
from tally import TOP, Tally

SPDX = "SPDX-License-Identifier: Apache-2.0"
FOLDERS = ["src", "tests/unit", "tests/lab", "tests/agree", "tests/cli", "tests/meta", "tests/system", "tests/fuzz", "bench", "scripts", ".ci", "packaging"]
DATA = {".txt", ".json", ".log", ".pyc", ".md"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK|WIP)\b")


def files(folders):
    for folder in folders:
        for path in sorted((TOP / folder).rglob("*")):
            if path.is_file() and path.suffix not in DATA and "__pycache__" not in path.parts and "corpus" not in path.parts:
                yield path, path.read_text(errors="replace")


def header_problems(text):
    lines = text.splitlines()[:4]
    if not any(SPDX in line for line in lines):
        yield "no SPDX line among its first lines"
    at = next((i for i, line in enumerate(lines) if SPDX in line), 0)
    after = text.splitlines()[at + 1 : at + 2]
    if not after or not re.match(r'\s*(//|#|"""|/?\*|\.\\")', after[0]):
        yield "the SPDX line is not followed by what the file is"


def each(problems_of, folders):
    for path, text in files(folders):
        for problem in problems_of(text):
            yield f"{path.relative_to(TOP)}: {problem}"


def unfinished(text):
    return (f"has '{hit.group()}'" for hit in UNFINISHED.finditer(text))


tally = Tally()
good = f"// {SPDX}\n// What it is.\nint x;\n"
tally.check("self-test header", [] if not list(header_problems(good)) and list(header_problems("int x;\n")) else ["rule is blind"])
tally.check("self-test unfinished", [] if list(unfinished("// " + "TO" + "DO: later")) and not list(unfinished(good)) else ["rule is blind"])
tally.check("file headers", each(header_problems, FOLDERS))
tally.check("nothing unfinished", each(unfinished, ["src"]))
tally.check("sources are there", [] if any((TOP / "src").rglob("*.cc")) else ["no source file found"])
tally.finish()
