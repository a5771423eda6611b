#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random sets of units, drop-ins and manager configuration before the manager that runs: for a guest of the lab, as root.

usage: running_units.py READ_UNIT PINDOWN [--seed N] [--sets N] [--keep DIRECTORY] [--wrong]

The sets of units.py are laid over this machine's own directories, several at a time (the names of each get a prefix of
their own; what concerns all units and the manager comes from the first of them), and the manager reloads. What
`systemctl show` says of limits, file and drop-ins must be what pindown reads; each unit that loads is started, and the
limits its process finds must be what `pindown predict` says of it. Before the last sets the manager also starts anew
(daemon-reexec). Prints one line: name, seed, sets, cases, agreements, disagreements; a case is one unit. With --wrong the
limits of drop-ins are forgotten. Exit 0: all agree; 1: not.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

import units

TOGETHER = 5  # sets at a reload
SAID = "/run/agree"
WITNESS = "/usr/local/bin/agree-limits"
WITNESS_TEXT = r"""#!/bin/sh
while read -r line; do
  case $line in "Max locked memory"*) set -- "$1" $line; echo "$5 $6" > "/run/agree/$1" ;; esac
done < /proc/self/limits
"""
DEFAULT = "8388608 8388608"  # of both guests: systemd raises what the kernel gave it to 8 MiB
PROPERTIES = ["Id", "LoadState", "FragmentPath", "DropInPaths", "LimitMEMLOCK", "LimitMEMLOCKSoft"]


def prefixed(path, prefix):
    """The names of units, of their links' targets and of their drop-in directories; service.d is everybody's."""
    parts = path.split("/")
    return "/".join(prefix + p if re.fullmatch(r".+\.service(\.d)?", p) else p for p in parts)


def of_all(path):
    return not any(re.fullmatch(r".+\.service(\.d)?", part) for part in path.split("/"))


class Laid:
    """What was put on this machine, to be taken away again."""

    def __init__(self):
        self.paths, self.folders, self.saved = [], [], {}

    def make_room(self, path):
        folder = os.path.dirname(path)
        missing = []
        while not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        for one in reversed(missing):
            os.mkdir(one)
            self.folders.append(one)

    def put(self, path, body, target):
        if os.path.lexists(path) and path != "/etc/systemd/system.conf":
            return
        if os.path.lexists(path):
            self.saved[path] = open(path, "rb").read()
            os.unlink(path)
        self.make_room(path)
        if target is not None:
            os.symlink(target, path)
        else:
            with open(path, "wb") as out:
                out.write(body)
        self.paths.append(path)

    def clear(self):
        for path in reversed(self.paths):
            os.unlink(path)
        for folder in reversed(self.folders):
            os.rmdir(folder)
        for path, body in self.saved.items():
            with open(path, "wb") as out:
                out.write(body)

    def keep(self, directory):
        for path in self.paths:
            os.makedirs(os.path.dirname(directory + path), exist_ok=True)
            shutil.copy2(path, directory + path, follow_symlinks=False)


def lay(first, count):
    """The sets FIRST... as one; returns what was laid and the names to ask about."""
    laid, asked = Laid(), []
    for number in range(first, first + count):
        tree, prefix = units.generate(number), f"n{number}."
        for path, body in tree.files.items():
            if of_all(path) and number != first:
                continue
            body = body.replace(b"ExecStart=/bin/true\n", f"Type=oneshot\nExecStart={WITNESS} %n\n".encode())
            laid.put(prefixed(path, prefix), body, None)
        for path, target in tree.links.items():
            if not of_all(path) or number == first:
                laid.put(prefixed(path, prefix), None, prefixed(target, prefix))
        asked += [prefix + name for name in tree.asked]
    return laid, asked + ["ssh.service", "cron.service", "systemd-journald.service"]


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, errors="surrogateescape", timeout=300)


def ask_manager(names):
    """Name → (answer, main name, file, drop-ins), as units.py says them."""
    out = run("systemctl", "show", *["-p" + one for one in PROPERTIES], "--", *names).stdout
    blocks = out.rstrip("\n").split("\n\n")
    if len(blocks) != len(names):
        raise RuntimeError(f"systemctl show answered {len(blocks)} times of {len(names)}: {out[:2000]}")
    answers = {}
    for name, block in zip(names, blocks):
        field = dict(line.split("=", 1) for line in block.split("\n"))
        limit = f"{field['LimitMEMLOCKSoft']} {field['LimitMEMLOCK']}" if "LimitMEMLOCK" in field else ""
        state = {"loaded": limit, "masked": "masked", "not-found": "absent"}.get(field["LoadState"], "refuses")
        drop_ins = [units.same_lib(p) for p in field["DropInPaths"].split()]
        answers[name] = (state, field["Id"], units.same_lib(field["FragmentPath"]), drop_ins)
    return answers


def ours_of(fields, default):
    answer, main, file, drop_ins = units.ours_of(fields, default)
    return DEFAULT if answer == units.FALLBACK and fields[0] == "default" and default == "default" else answer, main, file, drop_ins


def alone(name):
    """Names of one unit that are loaded one by one can get in each other's way: the unit alone is what counts."""
    run("systemctl", "daemon-reload")
    return ask_manager([name])[name]


def predicted(pindown, name):
    done = run(pindown, "predict", "--format", "json", "--via", "service:" + name)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return f"status {done.returncode}: {done.stderr.strip()}"
    return f"{said.get('soft')} {said.get('hard')}".replace("unlimited", "infinity")


def start(names):
    """Name → "SOFT HARD" as the unit's process found them."""
    shutil.rmtree(SAID, ignore_errors=True)
    os.mkdir(SAID)
    # One that cannot start shall not keep the others.
    run("systemctl", "start", "--job-mode=ignore-dependencies", "--", *names)
    said = {}
    for name in names:
        path = os.path.join(SAID, name)
        said[name] = open(path).read().strip().replace("unlimited", "infinity") if os.path.exists(path) else "it did not start"
    run("systemctl", "reset-failed")
    return said


def compare_set(options, names, counts):
    """What differs, a line each."""
    bad = []
    default = units.ask_pindown(options.driver, "/", ["--manager"])[0][0]
    mine = dict(zip(names, units.ask_pindown(options.driver, "/", names, wrong=options.wrong)))
    real = ask_manager(names)
    for name in names:
        ours, theirs = ours_of(mine[name], default), real[name]
        if not units.same(ours, theirs) and not options.wrong:
            theirs = alone(name)
        kind = theirs[0] if theirs[0] in ("masked", "absent", "refuses") else "limit"
        counts[kind] = counts.get(kind, 0) + 1
        if not units.same(ours, theirs):
            bad.append(f"{name}: systemctl show {theirs}, pindown {ours}")
    main_names = sorted({real[name][1] for name in names if WITNESS.encode() in body_of(real[name])})
    for name, limits in start(main_names).items():
        counts["started"] = counts.get("started", 0) + 1
        said = predicted(options.pindown, name)
        if said != limits:
            bad.append(f"{name}: started, it has {limits}, predict {said}")
    return bad


def body_of(answer):
    if answer[0] in ("masked", "absent", "refuses") or not answer[2]:
        return b""
    with open(answer[2], "rb") as file:
        return file.read()


def compare(options):
    with open(WITNESS, "w") as out:
        out.write(WITNESS_TEXT)
    os.chmod(WITNESS, 0o755)
    cases = differ = 0
    counts = {}
    for first in range(options.seed * 1000, options.seed * 1000 + options.sets, TOGETHER):
        left = options.seed * 1000 + options.sets - first
        laid, names = lay(first, min(TOGETHER, left))
        run("systemctl", "daemon-reexec" if left <= TOGETHER else "daemon-reload")
        before = counts.get("started", 0)
        bad = compare_set(options, names, counts)
        cases += len(names) + counts.get("started", 0) - before
        differ += len(bad)
        for line in bad:
            print(f"sets {first}...: {line}", file=sys.stderr)
        if bad and options.keep:
            laid.keep(os.path.join(options.keep, str(first)))
            with open(os.path.join(options.keep, str(first), "case.txt"), "w") as out:
                out.write("\n".join(bad) + "\n")
        laid.clear()
    spread = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"running units: seed {options.seed}, {cases} cases in {options.sets} sets ({spread}), {cases - differ} agree, "
          f"{differ} disagree")
    return 1 if differ or not counts.get("started") else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("driver")
    parser.add_argument("pindown")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sets", type=int, default=15)
    parser.add_argument("--keep", default="")
    parser.add_argument("--wrong", action="store_true")
    return compare(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
