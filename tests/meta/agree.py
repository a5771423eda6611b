#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual, --help, `pindown list`, the shell completions and the catalogue name the same commands, options and codes."""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "lib"))
from tally import PINDOWN, TOP, Tally, run

MANUAL = (TOP / "docs/man/pindown.1.in").read_text()
COMPLETIONS = sorted((TOP / "packaging/completions").iterdir())
GLOBAL = {"help", "version"}


def help_options(*command):
    """Long options of a --help text: lines that start with an option."""
    lines = (line.strip() for line in run(*command, "--help").splitlines())
    return {name for line in lines if line.startswith("-") for name in re.findall(r"--([a-z][a-z-]*)", line.split("  ")[0])}


def help_commands():
    text = run("--help")
    at = re.search(r"^(sub)?commands:\s*$", text, re.I | re.M)
    return set(re.findall(r"^  ([a-z]+)\b", text[at.end() :], re.M)) if at else set()


def manual_options(command):
    """Long options that the manual's subsection of a command describes, as .It Fl -name."""
    part = re.search(rf"^\.Ss (?:pindown )?{command}\n(.*?)(?=^\.S[sh] )", MANUAL, re.M | re.S)
    items = re.findall(r"^\.It (Fl .*)$", part.group(1), re.M) if part else []
    return {name for item in items for name in re.findall(r"Fl -([a-z][a-z-]*)", item)}


def differ(name, one, other):
    return [f"{name}: {value}" for value in sorted(one ^ other)]


def listed():
    return [(row["code"], row["slug"]) for row in json.loads(run("list", "--format", "json"))]


def text_list():
    """A line is: code, '-' if this version does not recognise it, severity, slug, title."""
    return re.findall(r"^(PD\d{3})(?: +-)? +[a-z]+ +([a-z0-9-]+) ", run("list"), re.M)


def unexplained(codes):
    """Codes whose page lacks a part, by code or by slug."""
    for code, slug in codes:
        page = run("explain", code)
        if code not in page or slug not in page or len(page) < 200:
            yield f"explain {code} is no page"
        if run("explain", slug) != page:
            yield f"explain {slug} differs from explain {code}"


tally = Tally()
catalogue = [tuple(line.split()) for line in (TOP / "tests/meta/catalogue.txt").read_text().splitlines() if line[:2] == "PD"]
codes, commands = listed(), help_commands()
tally.check("commands are named in --help", [] if {"check", "explain", "list"} <= commands else [f"--help names {sorted(commands)}"])
tally.check("manual has every command", differ("in one only", commands - {"help"}, set(re.findall(r"^\.Ss ([a-z]+)$", MANUAL, re.M))))
for command in sorted(commands - {"help"}):
    options = help_options(command) - GLOBAL
    tally.check(f"manual's options of {command}", differ("in one only", options, manual_options(command) - GLOBAL))
    for path in COMPLETIONS:
        # fish writes --name as `-l name`.
        known = set(re.findall(r"(?:--|-l )([a-z][a-z-]*)", path.read_text()))
        tally.check(f"{path.name} knows the options of {command}", sorted(options - known))
tally.check("catalogue is complete in list", differ("in one only", set(codes), set(catalogue)))
tally.check("list is in code order, each once", [] if codes == sorted(set(codes)) else ["it is not"])
tally.check("text and JSON of list agree", differ("in one only", set(codes), set(text_list())))
tally.check("every code has a page", unexplained(codes))
tally.check("version is the project's", [] if re.search(r"VERSION (\S+)", (TOP / "CMakeLists.txt").read_text().split("project(")[1]).group(1) in run("--version") else [run("--version")])
done = subprocess.run([TOP / "scripts/man"], env={"PINDOWN": PINDOWN, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
tally.check("manual is well-formed", [] if done.returncode == 0 else [done.stdout + done.stderr])
page = (TOP / "build/man/pindown.1").read_text() if done.returncode == 0 else ""
tally.check("manual has every code", [code for code, slug in catalogue if f"{code} {slug}" not in page])
tally.finish()
