#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file and script says its licence and what it is; nothing unfinished is left in the sources; no type is defined twice."""
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


TYPE = re.compile(r"^(namespace [\w:]+|(?:struct|class|enum class) (\w+)(?: :[^;{]*)?) \{", re.M)


def types_twice(texts):
    """`texts`: {name of a header: text}. Two types of one name in one namespace break the one-definition rule, and no compiler sees it."""
    places = {}
    for name, text in texts.items():
        space = ""
        for hit in TYPE.finditer(text):
            if hit.group(2):
                places.setdefault((space, hit.group(2)), set()).add(name)
            else:
                space = hit.group(1)
    return [f"{space}::{kind} is defined in {', '.join(sorted(at))}" for (space, kind), at in places.items() if len(at) > 1]


tally = Tally()
twice = {"a.h": "namespace p {\nstruct A {\n", "b.h": "namespace p {\nenum class A {\n", "c.h": "namespace p::q {\nstruct A {\n"}
tally.check("self-test types", [] if len(types_twice(twice)) == 1 and not types_twice({"a.h": twice["a.h"], "c.h": twice["c.h"]}) else ["rule is blind"])
tally.check("types", types_twice({str(p.relative_to(TOP)): p.read_text() for p in sorted((TOP / "src").rglob("*.h"))}))
good = f"// {SPDX}\n// What it is.\nint x;\n"
tally.check("self-test header", [] if not list(header_problems(good)) and list(header_problems("int x;\n")) else ["rule is blind"])
tally.check("self-test unfinished", [] if list(unfinished("// " + "TO" + "DO: later")) and not list(unfinished(good)) else ["rule is blind"])
tally.check("file headers", each(header_problems, FOLDERS))
tally.check("nothing unfinished", each(unfinished, ["src"]))
tally.check("sources are there", [] if any((TOP / "src").rglob("*.cc")) else ["no source file found"])
tally.finish()
