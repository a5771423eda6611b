#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layer rule of docs/design.md: who may include whom, who may name Host, open files, print or exit. Proves itself on bad trees first."""
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "lib"))
from tally import TOP, Tally

ORDER = ["base", "host", "facts logs", "finding", "model", "checks", "plan probe trace", "fleet", "render", "cli"]
RANK = {folder: rank for rank, folders in enumerate(ORDER) for folder in folders.split()}
ALSO = {("facts", "logs/shape.h"), ("logs", "host/input.h")}  # pasted output between log lines; the bytes of a log
MAY_INCLUDE_ONLY = {"logs": {"base", "logs"}, "finding": {"base", "finding"}}  # narrower than the order allows
HOST_USERS = re.compile(r"host/|cli/|facts/(?!paste|proc|fact)|main\.cc")  # what parses pasted or given text is pure
OPENERS = re.compile(r"host/|cli/|main\.cc")
PRINTERS = re.compile(r"cli/|main\.cc")
OPENS = re.compile(r"(?<![.>\w])(fopen|open|openat2?|opendir|readlink|access|stat|lstat|archive_read_open_filename)\s*\(|\b[io]?fstream\b|\bstd::filesystem\b")
PRINTS = re.compile(r"\b(printf|fprintf|puts|fputs|putchar|perror|exit|_exit|quick_exit|abort|terminate)\s*\(|\bstd::(cout|cerr|clog)\b|\b(fmt|std)::print")
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)


def include_problems(name, text):
    layer = name.split("/")[0]
    for target in re.findall(r'^#include "([^"]+)"', text, re.M):
        other = target.split("/")[0]
        if target == "host/host.h" and not HOST_USERS.match(name):
            yield f"{name} includes {target}: only what collects facts may know Host"
        elif (layer, target) in ALSO:
            continue
        elif other not in RANK or RANK[other] > RANK[layer] or (RANK[other] == RANK[layer] and other != layer):
            yield f"{name} includes {target}: not to the left of {layer}"
        elif other not in MAY_INCLUDE_ONLY.get(layer, {other}):
            yield f"{name} includes {target}: {layer} may include {' and '.join(sorted(MAY_INCLUDE_ONLY[layer]))} only"


def problems(source):
    for path in sorted([*source.rglob("*.h"), *source.rglob("*.cc")]):
        name, text = str(path.relative_to(source)), path.read_text()
        if "/" not in name:
            continue  # main.cc
        if name.split("/")[0] not in RANK:
            yield f"{name}: a folder without a layer"
            continue
        yield from include_problems(name, text)
        code = COMMENT_OR_STRING.sub('""', text)
        for rule, allowed, what in ((r"\bHost\b", HOST_USERS, "names"), (OPENS, OPENERS, "opens a file with"), (PRINTS, PRINTERS, "prints or exits with")):
            hit = re.search(rule, code)
            if hit and not allowed.match(name):
                yield f"{name} {what} {hit.group().strip()}"


BAD = {  # each must be found; the text after it must not
    "model/a.cc": ['#include "checks/check.h"', '#include "host/host.h"', "Host* h;", 'FILE* f = fopen("x", "r");', "std::ifstream f;", "int fd = ::open(p, 0);"],
    "logs/a.cc": ['#include "facts/facts.h"', "exit(1);", 'printf("x");', 'fmt::print("x");', "std::filesystem::path p;"],
    "facts/paste_a.cc": ['#include "logs/event.h"', '#include "host/host.h"'],
    "finding/a.cc": ['#include "facts/facts.h"'],
    "render/a.cc": ['#include "cli/check.h"', "std::cout << 1;", "abort();"],
    "odd/a.cc": ["int x;"],
}
GOOD = {
    "facts/a.cc": '#include "logs/shape.h"\n#include "base/size.h"', "facts/units.cc": '#include "host/host.h"\nHost* h;',
    "logs/a.cc": '#include "host/input.h"', "host/a.cc": "int fd = ::open(p, 0);", "cli/a.cc": '#include "render/text.h"\nstd::cout << 1;',
    "model/a.cc": '// Host, printf( and open( in a comment\nauto s = "exit(1)"; bool b = is_open(); int n = snprintf(p, 1, "x");',
}


def self_test(tally):
    for name, texts in [*((n, t) for n, ts in BAD.items() for t in ts), *GOOD.items()]:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir()
            path.write_text(texts + "\n")
            found, bad = list(problems(pathlib.Path(folder))), texts in BAD.get(name, [])
            tally.check(f"self-test {name} {texts!r}", [] if bool(found) == bad else [found or "not found"])


tally = Tally()
self_test(tally)
tally.check("layers", problems(TOP / "src"))
tally.finish()
