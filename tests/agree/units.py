#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random trees of units, drop-ins and manager configuration, read by systemd and by pindown (the program read_unit).

usage: units.py READ_UNIT [--seed N] [--cases N] [--keep DIRECTORY] [--wrong]
       units.py --lay ROOT --seed N        lays one tree below ROOT and prints the units to ask about

Each tree is laid over the unit directories in a mount namespace of its own, where the installed systemd loads it in its
test mode (`systemd --test`, as nobody): nothing is started, PID 1 is not asked. The limits, the unit's file and the order of
its drop-ins must be the same. Prints one line: name, seed, cases, agreements, disagreements; a case is one unit of one
tree. Each disagreement is kept. Exit 0: all agree; 1: not; 77: systemd, unshare or root is missing.

running_units.py lays the same trees, of generate(seed), before a manager that runs.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

SYSTEMD = "/usr/lib/systemd/systemd"
# Without the directories of generators and of transient units: systemd makes those itself.
UNIT_DIRS = ["/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
             "/lib/systemd/system", "/etc/systemd/system.control", "/run/systemd/system.control",
             "/etc/systemd/system.attached", "/run/systemd/system.attached"]
WEIGHTS = [8, 4, 3, 8, 2, 1, 1, 1, 1]
CONF_DIRS = ["/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd"]
PLAIN = ["lab.service", "lab-x.service", "lab-x-y.service", "other.service", "lab-.service", "a.b-c.service"]
TEMPLATES = ["t@.service", "lab-t@.service", "lab-x-t@.service"]
INSTANCES = ["t@x.service", "t@y.service", "lab-t@x.service", "lab-x-t@a-b.service"]
ALIASES = ["alias.service", "lab-alias.service", "sshd.service"]
TEMPLATE_ALIASES = ["talias@.service", "lab-talias@.service"]
ASKED = PLAIN + INSTANCES + ALIASES + ["talias@x.service", "lab-talias@x.service", "t@z.service"]
DROP_IN_OF = ASKED + TEMPLATES + TEMPLATE_ALIASES + [
    "lab-t@.service", "lab-@.service", "lab-@x.service", "lab-x-@.service", "lab-x-.service", "a.b-.service", "service",
    "service", "service", "socket"]
DROP_IN_NAMES = ["10-a.conf", "20-b.conf", "50.conf", "99-all.conf", "9.conf", "B.conf", "a.conf", ".hidden.conf",
                 "10-a.conf~", "note.txt", "é.conf"]
VALUES = ["64K", "8M", "16M", "1G", "2T", "infinity", "1M:2M", "8M:infinity", "0", "1.5G", "1.5G:3G", "65536", "1K:1K",
          "3M:1M", "unlimited", "64m", "64MB", "8MiB", "", "", "infinity:8M", ":8M", "8M:", "8M:9M:", "8M:9M:10M", "-1",
          "1G 512M", "1M 2M", "8 M", "+4M", "1.M", ".5G", "16E", "15E", "18446744073709551615", "18446744073709551614",
          "0x10", "\"8M\"", "'8M'", "8M ", "8B", "1e3", "Infinity", "8M : 9M", "8M: 9M", "8M #x", "8M;", "\\8M", "8\\M",
          "99999999999999999999", "1P", "0.5K", "1,5G", "8M\\x20", "%i", "1G\u00a0"]


def weighted_value(r):
    return r.choice(VALUES[:13]) if r.random() < 0.6 else r.choice(VALUES)


def assignment(r, key):
    value = weighted_value(r)
    how = r.randrange(14)
    if how == 0:
        return f"{key} = {value}\n"
    if how == 1:
        return f"  {key}={value}\t\n"
    if how == 2:
        return f"{key}=\\\n{value}\n"
    if how == 3:
        return f"{key}=\\\n# a comment within\n  ; another\n{value}\n"
    if how == 4:
        return f"{key}={value}\\\n\n"
    if how == 5:
        return f"{key}={value}\\\\\n"
    if how == 6:
        return r.choice([key.lower(), key.upper(), "X-" + key, key + "Soft", key[:-1]]) + f"={value}\n"
    if how == 7:
        return f"#{key}={value}\n;{key}={value}\n"
    if how == 8:
        return f"{key}={value}\r\n"
    if how == 9:
        return f"{key}={value}\\\n"
    return f"{key}={value}\n"


def text(r, section, key, broken):
    out = ""
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        kind = r.random()
        if kind < broken:
            out += r.choice([f"[{section}\n", "[a\"b]\n", "[\\]\n", "\xff\xfe=1\n", "[ ]x\n"])
        elif kind < 0.15:
            out += r.choice([f"[{section.lower()}]\n", "[Unit]\n", "[X-Mine]\n", "[Install]\n", f"[ {section} ]\n",
                             f"[{section}]x=y]\n", "[Socket]\n", "[]\n"])
        elif kind < 0.22:
            out += r.choice(["no equals here\n", "=nothing\n", "\n", "  \n", "Description=\\\n", "\0", "\r"])
        out += assignment(r, key)
        if r.random() < 0.15:
            out += f"[{section}]\n" + assignment(r, key)
    head = r.choice([f"[{section}]\n"] * 8 + ["\ufeff" + f"[{section}]\n", f"  [{section}]  \n", f"[{section}]\r\n", ""])
    return head + out


def encode(body):
    """Characters U+0080 to U+00FF that stand alone are meant as bytes."""
    return b"".join(bytes([ord(c)]) if c in "\xff\xfe" else c.encode() for c in body)


class Tree:
    """Paths as on the machine: `files` maps to bytes, `links` to targets."""

    def __init__(self):
        self.files, self.links, self.asked = {}, {}, []

    def free(self, path):
        real = re.sub(r"^/lib/", "/usr/lib/", path)
        taken = list(self.files) + list(self.links)
        return not any(one == real or one.startswith(real + "/") or real.startswith(one + "/") for one in taken)

    def file(self, path, body):
        if self.free(path):
            self.files[re.sub(r"^/lib/", "/usr/lib/", path)] = body

    def link(self, path, target):
        if self.free(path):
            self.links[re.sub(r"^/lib/", "/usr/lib/", path)] = target

    def lay(self, root):
        os.makedirs(os.path.join(root, "usr/lib/systemd"), exist_ok=True)
        if not os.path.lexists(os.path.join(root, "lib")):
            os.symlink("usr/lib", os.path.join(root, "lib"))
        for path in ["/etc/systemd", "/run/systemd", "/usr/local/lib", "/usr/lib/systemd/system"]:
            os.makedirs(root + path, exist_ok=True)
        for path, body in self.files.items():
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            with open(root + path, "wb") as out:
                out.write(body)
        for path, target in self.links.items():
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            os.symlink(target, root + path)


def alias_target(r, name):
    if r.random() < 0.3:
        return name
    base = r.choice(UNIT_DIRS[:5]) + "/"
    return r.choice([base, base, "./", "/etc/../etc/systemd/system/"]) + name


def generate(seed, manager="system"):
    """A tree and the units to ask about. The test mode reads user.conf, even of a system manager: it learns later that
    it is one."""
    r = random.Random(seed)
    tree = Tree()
    tree.asked = sorted(set(ASKED))
    broken = r.choice([0, 0, 0, 0.05])
    pick_dir = lambda: r.choices(UNIT_DIRS, WEIGHTS)[0]
    # An instance with a file of its own and other names of its template contradict each other: which one counts depends
    # on the order in which units happen to be loaded.
    template_aliases = r.sample(TEMPLATE_ALIASES, r.choice([0, 0, 1, 2]))
    names = r.sample(PLAIN + TEMPLATES, r.randrange(2, 7))
    if not template_aliases:
        names += r.sample(INSTANCES, r.choice([0, 0, 1, 2]))
    for name in names:
        for _ in range(r.choice([1, 1, 1, 2])):
            path = f"{pick_dir()}/{name}"
            how = r.random()
            if how < 0.04:
                tree.link(path, "/dev/null")
            elif how < 0.07:
                tree.file(path, b"")
            elif how < 0.10:
                tree.file("/usr/local/lib/elsewhere/" + name,
                          encode("[Service]\nExecStart=/bin/true\n" + assignment(r, "LimitMEMLOCK")))
                tree.link(path, "/usr/local/lib/elsewhere/" + name)
            elif how < 0.11:
                tree.file(path + "/x", b"")
            else:
                body = "[Service]\nExecStart=/bin/true\n"
                body += text(r, "Service", "LimitMEMLOCK", broken / 2) if r.random() < 0.5 else ""
                tree.file(path, encode(body))
    for alias in r.sample(ALIASES, r.choice([0, 1, 1, 2, 3])):
        tree.link(f"{pick_dir()}/{alias}", alias_target(r, r.choice(PLAIN + ALIASES + INSTANCES + ["gone.service"])))
    for alias in template_aliases:
        tree.link(f"{pick_dir()}/{alias}", alias_target(r, r.choice(TEMPLATES)))
    if r.random() < 0.3 and not template_aliases:
        tree.link(f"{pick_dir()}/{r.choice(INSTANCES)}", alias_target(r, r.choice(TEMPLATES + INSTANCES + PLAIN)))
    for _ in range(r.choice([0, 1, 2, 4, 8, 16])):
        path = f"{pick_dir()}/{r.choice(DROP_IN_OF)}.d/{r.choice(DROP_IN_NAMES)}"
        how = r.random()
        if how < 0.05:
            tree.link(path, "/dev/null")
        elif how < 0.08:
            tree.link(path, r.choice(["gone", "/usr/local/lib/elsewhere/x.conf", os.path.basename(path)]))
        elif how < 0.10:
            tree.file(path + "/x", b"")
        elif how < 0.13:
            tree.file(path, b"")
        else:
            tree.file(path, encode(text(r, "Service", "LimitMEMLOCK", broken)))
    if r.random() < 0.5:
        tree.file(f"/etc/systemd/{manager}.conf", encode(text(r, "Manager", "DefaultLimitMEMLOCK", broken)))
    for _ in range(r.choice([0, 0, 1, 3])):
        path = f"{r.choice(CONF_DIRS)}/{manager}.conf.d/{r.choice(DROP_IN_NAMES)}"
        if r.random() < 0.1:
            tree.link(path, "/dev/null")
        else:
            tree.file(path, encode(text(r, "Manager", "DefaultLimitMEMLOCK", broken)))
    return tree


SCRIPT = r"""
set -e
root=$1
mount --bind "$root/etc/systemd" /etc/systemd
mount --bind "$root/run/systemd" /run/systemd
mount --bind "$root/usr/local/lib" /usr/local/lib
mount --bind "$root/usr/lib/systemd" /usr/lib/systemd
exec setpriv --reuid 65534 --regid 65534 --clear-groups env -i XDG_RUNTIME_DIR=/tmp SYSTEMD_GETTY_AUTO=0 \
  prlimit --memlock=1048576:1048576 \
  /usr/lib/systemd/systemd --test --system --unit=agree.target --log-level=crit
"""


def same_lib(path):
    return re.sub(r"^/lib/", "/usr/lib/", path)


def ask_systemd(root, asked):
    """Unit name → (answer, main name, file, drop-ins), from the dump of the test run."""
    system = os.path.join(root, "usr/lib/systemd/system")
    for name in ("sysinit", "basic", "shutdown"):
        with open(f"{system}/{name}.target", "w") as out:
            out.write("[Unit]\nDefaultDependencies=no\n")
    with open(f"{system}/agree.target", "w") as out:
        out.write("[Unit]\nDefaultDependencies=no\nWants=" + " ".join(asked) + "\n")
    for program in (SYSTEMD, SYSTEMD + "-executor"):  # the second since systemd 255: the manager opens it at its start
        if os.path.exists(program):
            shutil.copy(program, os.path.join(root, "usr/lib/systemd"))
    done = subprocess.run(["unshare", "-m", "sh", "-c", SCRIPT, "sh", root], capture_output=True, timeout=120, cwd="/")
    dump = done.stdout.decode(errors="surrogateescape").replace("\t\u2192 ", "\t-> ")  # 257 draws an arrow
    if "-> Unit agree.target:" not in dump:
        raise RuntimeError("systemd --test failed: " + done.stderr.decode(errors="replace")[:2000] + dump[:500])
    units = {}
    for block in re.split(r"^\t-> Unit ", dump, flags=re.M)[1:]:
        name = block[: block.index(":\n")]
        field = lambda key: re.findall(rf"^\t\t{key}: (.*)$", block, flags=re.M)
        state = field("Unit Load State")[0]
        if state == "merged":  # its names are listed with the unit it went into
            continue
        soft, hard = field("LimitMEMLOCKSoft"), field("LimitMEMLOCK")
        if state == "loaded" and soft:
            answer = " ".join("infinity" if v == "18446744073709551615" else v for v in (soft[0], hard[0]))
        else:
            answer = {"masked": "masked", "not-found": "absent"}.get(state, "refuses")
        file = same_lib((field("Fragment Path") or [""])[0])
        entry = (answer, name, file, [same_lib(p) for p in field("DropIn Path")])
        for one in [name] + field("Name") + field("Alias"):
            units[one] = entry
    return units


def ask_pindown(driver, root, words, user=False, wrong=False):
    """A list of fields for each of the words."""
    command = [driver] + ["--wrong"] * wrong + ["--user"] * user + [root] + words
    done = subprocess.run(command, capture_output=True, errors="surrogateescape", text=True)
    lines = done.stdout.split("\n")[:-1]
    if done.returncode != 0 or len(lines) != len(words):
        raise RuntimeError("read_unit failed: " + done.stderr[:3000])
    return [line.split("\t") for line in lines]


# What the prlimit above makes of a unit without any limit; a real system manager would raise it to 8 MiB.
FALLBACK = "1048576 1048576"


def ours_of(fields, default):
    answer, main, file, drop_ins = fields[:4]
    if answer == "default":
        answer = FALLBACK if default == "default" else default
    return answer, main, same_lib(file), [same_lib(p) for p in drop_ins.split("|") if p]


def same(ours, theirs):
    if theirs[0] in ("absent", "refuses", "masked"):  # it does not start, whatever its names and drop-ins are
        return ours[0] == theirs[0]
    return ours == theirs


def compare(options):
    work = tempfile.mkdtemp(prefix="agree-units-")
    os.chmod(work, 0o755)
    cases = differ = 0
    counts = {}
    seed = options.seed
    while cases < options.cases:
        tree = generate(seed, "user")
        root = os.path.join(work, str(seed))
        tree.lay(root)
        default = ask_pindown(options.driver, root, ["--manager"], user=True)[0][0]
        mine = dict(zip(tree.asked, ask_pindown(options.driver, root, tree.asked, wrong=options.wrong)))
        real = ask_systemd(root, tree.asked)
        bad = []
        for name in tree.asked:
            theirs = real.get(name, ("absent", name, "", []))
            if not same(ours_of(mine[name], default), theirs):
                # Names of one unit that are loaded one by one can get in each other's way: the unit alone is what counts.
                alone = root + "-alone"
                tree.lay(alone)
                theirs = ask_systemd(alone, [name]).get(name, ("absent", name, "", []))
                shutil.rmtree(alone)
            kind = theirs[0] if theirs[0] in ("masked", "absent", "refuses") else "limit"
            counts[kind] = counts.get(kind, 0) + 1
            ours = ours_of(mine[name], default)
            if not same(ours, theirs):
                bad.append(f"{name}: systemd {theirs}, pindown {ours}")
            cases += 1
        differ += len(bad)
        if bad:
            os.makedirs(options.keep, exist_ok=True)
            kept = os.path.join(options.keep, str(seed))
            shutil.rmtree(kept, ignore_errors=True)
            shutil.move(root, kept)
            for line in bad:
                print(f"{kept}: {line}", file=sys.stderr)
        else:
            shutil.rmtree(root)
        seed += 1
    shutil.rmtree(work)
    spread = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"units: seed {options.seed}, {cases} cases in {seed - options.seed} trees ({spread}), "
          f"{cases - differ} agree, {differ} disagree")
    return 1 if differ or (cases > 500 and len(counts) < 3) else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("driver", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--keep", default="agree-units-failed")
    parser.add_argument("--lay", metavar="ROOT")
    parser.add_argument("--wrong", action="store_true")
    options = parser.parse_args()
    if options.lay:
        tree = generate(options.seed)
        tree.lay(options.lay)
        print("\n".join(tree.asked))
        return 0
    if not options.driver:
        parser.error("which read_unit?")
    options.driver = os.path.abspath(options.driver)
    options.keep = os.path.abspath(options.keep)
    if os.geteuid() != 0 or not os.access(SYSTEMD, os.X_OK) or not shutil.which("unshare"):
        print("units: skipped, needs root, unshare and " + SYSTEMD)
        return 77
    return compare(options)


if __name__ == "__main__":
    sys.exit(main())
