#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random limits.conf, limits.d, accounts and PAM stacks: what a real PAM session gets against what the model says.

Each case is opened by pam_session (the real libpam and pam_limits) in mount and PID namespaces of its own, where the
case's files lie over /etc and PID 1 has the case's limits; predict_pam reads the same files as a directory. Needs root,
pam_session and predict_pam. Without CAP_SYS_RESOURCE (a container) hard limits cannot be raised, and the model is told so.

usage: pam_limits.py --opener pam_session --predictor predict_pam [--cases N] [--seed S] [--version 1.5.2-6] [--distro debian]
                     [--module pam_limits.so] [--wrong dialect|root|reset] [--keep DIR]
Prints one line; exit 1 if anything disagrees. --module lies over the machine's pam_limits.so, to ask another version.
"""
import argparse
import ctypes
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

SERVICE = "lab"
KIB = 1024
UNLIMITED = 2**64 - 1
CLONE_NEWNS, CLONE_NEWPID = 0x20000, 0x20000000
MS_NOSUID, MS_BIND, MS_REC, MS_PRIVATE = 2, 4096, 16384, 1 << 18
MODULE_DIRECTORY = "/usr/lib/x86_64-linux-gnu/security"
libc = ctypes.CDLL(None, use_errno=True)


# ---- generators: random in, files out; nothing here knows the model ----

PASSWD = """root:x:0:0:root:/root:/bin/sh
alice:x:1000:1000::/home/alice:/bin/sh
bob:x:1001:100::/home/bob:/bin/sh
carol:x:4294967290:1002::/:/bin/sh
dave:x:1003:5555::/:/bin/sh
Alice:x:1004:1000::/:/bin/sh
7up:x:1005:2000::/:/bin/sh
nul:x:1006:0::/:/bin/sh
"""
GROUP = """root:x:0:
wheel:x:10:alice,nul
users:x:100:
rdma:x:2000:alice,bob
verbs:x:2000:
alice:x:1000:
carol:x:1002:dave
hpc:x:2001:bob,root,carol
mem-lock:x:2002:root,7up
"""
USERS = ["alice"] * 8 + ["root"] * 5 + ["bob"] * 3 + ["carol", "dave", "Alice", "7up", "nul"]
NAMES = ["root", "alice", "bob", "carol", "dave", "Alice", "7up", "nul"]
GROUPS = ["root", "wheel", "users", "rdma", "verbs", "alice", "hpc", "mem-lock", "nosuch", "1000", "RDMA", ""]
IDS = ["0", "1", "100", "999", "1000", "1001", "1002", "1003", "2000", "2001", "5555", "65535", "4294967290", "4294967295",
       "4294967296", "-6", "+1000", "01000", "99999999999999999999", "x", "0x3e8", ""]


def pick(rng, *weighted):
    """pick(rng, (3, "a"), (1, function)): one of the values, called if it can be."""
    value = rng.choices([value for _, value in weighted], [weight for weight, _ in weighted])[0]
    return value() if callable(value) else value


def random_range(rng):
    return pick(rng, (3, lambda: f"{rng.choice(IDS)}:{rng.choice(IDS)}"), (2, lambda: f"{rng.choice(IDS)}:"),
                (2, lambda: f":{rng.choice(IDS)}"), (1, ":"), (1, "::"), (1, "0:4294967295"), (1, "1000:1000:1000"))


def random_domain(rng, user):
    return pick(rng, (8, user), (8, "*"), (5, lambda: rng.choice(NAMES)), (7, lambda: "@" + rng.choice(GROUPS)),
                (5, lambda: random_range(rng)), (4, lambda: "@" + random_range(rng)), (1, lambda: "%" + rng.choice(GROUPS)),
                (1, lambda: "%" + random_range(rng)), (1, "%"), (1, "@"), (1, lambda: user[:2] + "*"), (1, f"{user},bob"),
                (1, f'"{user}"'), (1, "\ufeff*"), (1, f"{user}\u00a0-"))


def random_number(rng):
    return str(pick(rng, (6, lambda: rng.randrange(0, 8193)), (2, lambda: rng.randrange(0, 64)), (1, 8192), (1, 8193), (2, 0),
                    (1, lambda: rng.randrange(8193, 10**7)), (1, 2**54 - 1), (1, 2**54 - 2), (1, 2**64 - 1), (1, 2**64),
                    (1, 2**63), (1, 10**30)))


def random_value(rng):
    number = random_number(rng)
    return pick(rng, (24, number), (3, "unlimited"), (2, "infinity"), (2, "-1"), (1, "-"), (1, "UNLIMITED"), (1, "Infinity"),
                (1, "unlimit"), (1, "0x800"), (1, number + rng.choice("KMGkmg")), (1, number + "KB"), (1, f"+{number}"),
                (1, f"-{number}"), (1, f"00{number}"), (1, f"{number}.9"), (1, "1e6"), (1, "1,000"), (1, "--1"), (1, "abc"),
                (1, "."), (1, f'"{number}"'), (1, f"{number}\u00a0"), (1, "-18446744073709551615"))


def random_blank(rng):
    return pick(rng, (12, " "), (6, "\t"), (2, "   "), (2, " \t "), (1, "\v"), (1, "\f"), (1, "\r"), (1, "\u00a0"))


def random_type(rng):
    return pick(rng, (8, "-"), (6, "soft"), (6, "hard"), (1, "SOFT"), (1, "Hard"), (1, "both"), (1, "--"), (1, "soft,hard"),
                (1, "-memlock"))


def random_item(rng):
    return pick(rng, (40, "memlock"), (2, "MEMLOCK"), (1, "memlok"), (1, "nofile"), (1, "core"), (1, "rss"), (1, "maxlogins"),
                (1, "maxsyslogins"), (1, "data"))


def item_value(rng, item):
    """Only what cannot hurt the opener itself: a stack or data limit of a few bytes would end it."""
    if item == "maxlogins" or item == "maxsyslogins":
        return rng.choice(["0", "-1", "unlimited", "-", "x", "00", "-0", "-7", "0x5", "infinity"])
    if item in ("nofile", "data", "rss", "core"):
        return rng.choice(["unlimited", "-1", "zzz"]) if item != "nofile" else rng.choice(["1024", "900", "abc"])
    return random_value(rng)


def random_limits_line(rng, user):
    blank = lambda: random_blank(rng)
    item = random_item(rng)
    words = [random_domain(rng, user), random_type(rng), item, item_value(rng, item)]
    shape = rng.random()
    if shape < 0.05:
        words = words[:1] + [rng.choice(["-", "-", "-x", "--", "soft"])]  # "USER -" and what looks like it
    elif shape < 0.08:
        words = words[:3]
    elif shape < 0.13:
        words += [rng.choice(["ok", "KB", "unlimited", "junk more", "256"])]
    line = "".join(word + blank() for word in words[:-1]) + words[-1]
    return pick(rng, (20, ""), (2, " "), (1, "\t"), (1, "\r"), (1, "\v")) + line + pick(
        rng, (24, ""), (2, " "), (2, "\t"), (2, " # why"), (2, "# why"), (1, "#"), (1, " \t# memlock unlimited"))


def random_filler(rng, user):
    """Comments, empty lines, and lines longer than 1,023 bytes, which some versions cut into several."""
    line = random_limits_line(rng, user)
    return pick(rng, (4, ""), (4, "# * - memlock 1"), (1, "#"), (1, " \t "), (1, "\x00* - memlock 3"), (1, f"{line}\x00 junk"),
                (2, lambda: " " * rng.choice([1015, 1020, 1023, 1024, 2046]) + line),
                (2, lambda: line + " " * rng.choice([900, 1000, 1020, 1100]) + random_limits_line(rng, user)),
                (1, lambda: "#" * rng.choice([1022, 1023, 1024]) + line), (1, lambda: "x" * rng.choice([1023, 2000]) + " " + line),
                (1, lambda: f"{user} - memlock {'0' * rng.choice([990, 1003, 1008, 3000])}17"))


def random_limits_file(rng, user):
    count = pick(rng, (1, 0), (6, lambda: rng.randrange(1, 5)), (2, lambda: rng.randrange(4, 12)))
    lines = [random_filler(rng, user) if rng.random() < 0.2 else random_limits_line(rng, user) for _ in range(count)]
    end = pick(rng, (10, "\n"), (1, "\r\n"))
    text = end.join(lines) + pick(rng, (8, end), (1, ""), (1, "\n\n"))
    if rng.random() < 0.02:
        text = "\ufeff" + text
    return text.encode("utf-8", "surrogatepass") if rng.random() < 0.97 else text.encode("latin-1", "replace")


def random_limits(rng, user):
    """{path below /etc/security: bytes, "-> target" for a link, None for a directory}."""
    files = {}
    if rng.random() < 0.96:
        files["limits.conf"] = pick(rng, (20, lambda: random_limits_file(rng, user)), (4, b""), (1, lambda: "-> /dev/null"),
                                    (1, None), (1, "-> missing.conf"), (1, "-> limits.d/10-a.conf"))
    for name in ["10-a.conf", "20-b.conf", "9-z.conf", "A.conf", ".hidden.conf", "c.conf~", "d.CONF", "e.conf", "a b.conf",
                 "-.conf", "z.d.conf"]:
        if rng.random() < 0.13:
            files["limits.d/" + name] = pick(rng, (20, lambda: random_limits_file(rng, user)), (1, b""), (1, None),
                                             (1, "-> nowhere.conf"), (1, "-> ../limits.conf"))
    for name in ["own.conf", "lim its.conf"]:
        files[name] = random_limits_file(rng, user)
    return files


RETURNS = ["success", "perm_denied", "session_err", "ignore", "auth_err", "new_authtok_reqd", "module_unknown", "abort",
           "default", "user_unknown"]
ACTIONS = ["ignore", "ok", "done", "bad", "die", "reset", "1", "2", "3", "9"]


def random_control(rng):
    simple = pick(rng, (8, "required"), (3, "requisite"), (5, "optional"), (4, "sufficient"), (1, "REQUIRED"), (1, "Optional"))
    pairs = " ".join(f"{rng.choice(RETURNS)}={rng.choice(ACTIONS)}" for _ in range(rng.randrange(1, 4)))
    jumps = pick(rng, (1, "success=1 default=ignore"), (1, "success=2 default=ignore"), (1, "default=1"),
                 (1, "success=ok default=ignore"), (1, "success=ok ignore=ignore module_unknown=ignore default=bad"))
    return pick(rng, (14, simple), (5, f"[{jumps}]"), (4, f"[{pairs}]"), (1, f"[{pairs} default=bad]"), (1, "requird"),
                (1, "[success=0 default=ok]"), (1, "[default=ignore"), (1, "default=ignore"), (1, "[]"), (1, "[ success = ok ]"),
                (1, "[success=okay]"), (1, "[required]"))


def random_condition(rng, user):
    return pick(rng, (4, f"user = {rng.choice(NAMES)}"), (2, f"user != {rng.choice(NAMES)}"),
                (3, lambda: f"uid {rng.choice(['>=', '<', 'eq', 'ne', 'gt', 'le'])} {rng.choice(['0', '1000', '1001', '0x3e8', '01750', 'x'])}"),
                (2, lambda: f"user ingroup {rng.choice(GROUPS[:-1])}"), (1, lambda: f"user notingroup {rng.choice(GROUPS[:-1])}"),
                (1, "user ingroup nosuch:rdma:wheel"), (1, f"user in {user}:bob"), (1, "user notin root:alice"),
                (1, f"service = {SERVICE}"), (1, "service in crond:lab"), (1, f"user =~ {user[:1]}*"), (1, "user !~ [ab]*"),
                (1, "gid eq 1000"), (1, "uid >= 1000 user != bob"), (1, "nonsense = 1"), (1, "user ="), (1, ""),
                (1, f"user = {user} uid"), (1, "user like alice"))


def random_module(rng, user):
    return pick(rng, (10, "pam_limits.so"), (2, f"{MODULE_DIRECTORY}/pam_limits.so"),
                (2, "pam_limits.so conf=/etc/security/own.conf"), (1, "pam_limits.so conf=/etc/security/none.conf"),
                (1, "pam_limits.so conf="), (1, "pam_limits.so set_all"), (1, "pam_limits.so debug noaudit utmp_early"),
                (1, "pam_limits.so [conf=/etc/security/lim its.conf]"), (1, "pam_limits.so conf=/etc/security/own.conf conf=/etc/security/limits.conf"),
                (6, "pam_permit.so"), (3, "pam_deny.so"), (1, "pam_limit.so"), (1, "pam_limits"), (1, "pam_limits.so\r"),
                (2, "pam_nologin.so"), (1, "pam_rootok.so"), (1, "/nowhere/pam_permit.so"),
                (5, lambda: "pam_succeed_if.so quiet " + random_condition(rng, user)),
                (4, lambda: f"pam_debug.so open_session={rng.choice(RETURNS + ['incomplete', 'zzz'])}"))


def random_pam_line(rng, user, files, at_includes):
    """`files` may be included by type; @include takes only `at_includes`, because a failing one in an include is undefined."""
    kind = pick(rng, (12, "session"), (1, "-session"), (1, "SESSION"), (2, "auth"), (1, "account"), (1, "sesion"))
    blank = lambda: rng.choice([" ", "\t", "  ", " \t"])
    line = kind + blank() + random_control(rng) + blank() + random_module(rng, user)
    if rng.random() < 0.10 and files:
        line = f"{pick(rng, (6, 'session'), (1, 'auth'), (1, '-session'))} {rng.choice(['include', 'substack', 'INCLUDE'])} {rng.choice(files)}"
    elif rng.random() < 0.05 and at_includes:
        line = f"{rng.choice(['@include', '@INCLUDE'])} {rng.choice(at_includes)}"
    elif rng.random() < 0.03:
        line = rng.choice(["session", "session required", "session optional", "foo", "session optional\t", "- required pam_permit.so"])
    elif rng.random() < 0.08:
        words = line.split(" ")
        cut = rng.randrange(1, len(words)) if len(words) > 1 else 0
        middle = pick(rng, (4, "\\\n"), (1, "\\ \t\n"), (1, "\\\n  \\\n"))
        line = " ".join(words[:cut]) + " " + middle + " ".join(words[cut:])
    return pick(rng, (10, ""), (1, "  "), (1, "\t")) + line + pick(rng, (12, ""), (1, " "), (1, " # why"), (1, "#why"))


def random_pam_file(rng, user, files, at_includes, most=7):
    lines = [random_pam_line(rng, user, files, at_includes) for _ in range(rng.randrange(0 if rng.random() < 0.1 else 1, most))]
    if rng.random() < 0.3:
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(["", "# comment", "  # session required pam_deny.so", "\t"]))
    end = "\r\n" if rng.random() < 0.02 else "\n"
    return (end.join(lines) + pick(rng, (30, end), (2, ""), (1, "\\\n" if files else "\n"))).encode()


def random_stack(rng, user):
    """{path below /etc/pam.d: bytes}."""
    files = {"leaf": random_pam_file(rng, user, [], [], 4), "inner": random_pam_file(rng, user, ["leaf", "none"], ["leaf"], 5),
             "outer": random_pam_file(rng, user, ["inner", "leaf"], ["leaf"], 5)}
    files["leaf"] = files["leaf"].replace(b"\\", b"")
    included = ["leaf", "inner", "outer", "/etc/pam.d/inner", "none"]
    if rng.random() < 0.95:
        files[SERVICE] = random_pam_file(rng, user, included, ["leaf", "inner", "outer"] + ["none"] * (rng.random() < 0.1))
    if rng.random() < 0.8:
        files["other"] = random_pam_file(rng, user, ["leaf"], ["leaf"], 4)
    return files


def plain_stack(rng, user):
    """A stack that surely reaches pam_limits, so that most cases are about its files."""
    arguments = pick(rng, (8, ""), (1, " set_all"), (1, " conf=/etc/security/own.conf"))
    lines = ["session required pam_permit.so", f"session required pam_limits.so{arguments}"]
    if rng.random() < 0.1:
        lines.append("session optional pam_limits.so conf=/etc/security/own.conf")
    return {SERVICE: ("\n".join(lines) + "\n").encode(), "other": b"session required pam_deny.so\n"}


def with_account(rng, files):
    """Some of the session lines become account lines; most stacks let everybody in then."""
    def turned(line):
        if rng.random() < 0.6 or not line.lstrip().lower().startswith(b"session"):
            return line
        return line.lower().replace(b"session", b"account", 1).replace(b"open_session=", b"acct=")
    out = {name: b"\n".join(turned(line) for line in content.split(b"\n")) for name, content in files.items()}
    if SERVICE in out and rng.random() < 0.6:
        out[SERVICE] = b"account sufficient pam_permit.so\n" + out[SERVICE]
    return out


def random_limit_pair(rng, top):
    """SOFT <= HARD <= top, in bytes, not always whole pages."""
    hard = pick(rng, (4, top), (4, lambda: rng.randrange(0, top // KIB + 1) * KIB), (1, 0), (1, lambda: rng.randrange(0, top + 1)))
    soft = pick(rng, (3, hard), (3, lambda: rng.randrange(0, hard // KIB + 1) * KIB), (1, 0), (1, lambda: rng.randrange(0, hard + 1)))
    return soft, hard


def random_case(rng, top):
    """Everything of a case: its files below /etc, whose session, and the limits it starts from."""
    user = rng.choice(USERS)
    stack = random_stack(rng, user) if rng.random() < 0.45 else plain_stack(rng, user)
    account = rng.random() < 0.3
    if account:
        stack = with_account(rng, stack)
    files = {"security/" + name: content for name, content in random_limits(rng, user).items()}
    files |= {"pam.d/" + name: content for name, content in stack.items()}
    files |= {"passwd": PASSWD.encode(), "group": GROUP.encode(), "os-release": b"ID=debian\n"}
    return {"files": files, "user": user, "service": SERVICE, "account": account, "start": random_limit_pair(rng, top), "pid1": random_limit_pair(rng, top)}


# ---- the real thing ----


def write_tree(root, files):
    etc = root / "etc"
    shutil.rmtree(etc, ignore_errors=True)
    for directory in ("security/limits.d", "pam.d"):
        (etc / directory).mkdir(parents=True)
    for name, content in files.items():
        path = etc / name
        if content is None:
            path.mkdir()
        elif isinstance(content, str):
            path.symlink_to(content.removeprefix("-> "))
        else:
            path.write_bytes(content)


def checked(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), what)


def mount(source, target, flags, kind=None):
    checked(libc.mount(source.encode(), target.encode(), kind and kind.encode(), flags, None), f"mount {target}")


def as_first_process(root, case, opener, module):
    """In new namespaces, as PID 1: lays the case's files over the machine's, opens the session in a child, gives PID 1 its limits."""
    mount("none", "/", MS_REC | MS_PRIVATE)
    mount("proc", "/proc", MS_NOSUID, "proc")
    for name in ("security", "pam.d", "passwd", "group"):
        mount(f"{root}/etc/{name}", f"/etc/{name}", MS_BIND)
    if module:
        mount(module, f"{MODULE_DIRECTORY}/pam_limits.so", MS_BIND)
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go)
        resource.setrlimit(resource.RLIMIT_MEMLOCK, case["start"])
        os.read(ready, 1)
        os.execv(opener, [opener, case["service"], case["user"], *(["account"] if case["account"] else [])])
    os.close(ready)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, case["pid1"])
    os.close(go)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        os.write(1, f"killed {os.WTERMSIG(status)}\n".encode())


def in_child(work):
    """Runs `work` in a forked child and returns its exit code."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            work()
            code = 0
        except BaseException as error:  # noqa: BLE001: a child must not go on as its parent
            os.write(2, f"{error}\n".encode())
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def open_session(root, case, opener, module):
    reader, writer = os.pipe()

    def work():
        os.dup2(writer, 1)
        os.close(reader)
        checked(libc.unshare(CLONE_NEWNS | CLONE_NEWPID), "unshare")
        if in_child(lambda: as_first_process(root, case, opener, module)) != 0:
            raise OSError("the case could not be set up")

    code = in_child(work)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        answer = stream.read().decode().strip()
    return answer if code == 0 else f"failed {code} {answer}"


class Predictor:
    def __init__(self, program, version, distro, wrong, may_raise):
        self.may_raise = "1" if may_raise else "0"
        self.tail = [version, distro] + ([wrong] if wrong else [])
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, root, case):
        words = [str(root), case["service"], case["user"], *map(str, case["start"] + case["pid1"]), self.may_raise, "1" if case["account"] else "0", *self.tail]
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def keep_case(directory, number, root, case, real, said):
    target = pathlib.Path(directory) / str(number)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    shutil.copytree(root / "etc", target / "etc", symlinks=True)
    facts = {key: case[key] for key in ("user", "service", "account", "start", "pid1")}
    (target / "case.txt").write_text(f"{facts}\nreal: {real}\nmodel: {said}\n")


def make_root(directory):
    """The directory the model reads: the names of this machine's modules, and /etc as each case has it."""
    root = pathlib.Path(directory)
    modules = root / MODULE_DIRECTORY.removeprefix("/")
    modules.mkdir(parents=True)
    for name in os.listdir(MODULE_DIRECTORY):
        (modules / name).touch()
    return root


def compare(options):
    top = min(resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] % (UNLIMITED + 1), 8 << 20)
    counts = {"agree": 0, "disagree": 0, "unknown": 0}
    kinds = {"limits": 0, "refused": 0}
    with tempfile.TemporaryDirectory(prefix="pam-limits-") as directory:
        root = make_root(directory)
        predictor = Predictor(options.predictor, options.version, options.distro, options.wrong, options.may_raise)
        for number in range(options.first, options.first + options.cases):
            case = random_case(random.Random(f"{options.seed}/{number}"), top)
            write_tree(root, case["files"])
            real, said = open_session(root, case, options.opener, options.module), predictor.ask(root, case)
            kinds["refused" if real.startswith("refused") else "limits"] += 1
            verdict = "unknown" if said.startswith("unknown") else "agree" if said == real else "disagree"
            counts[verdict] += 1
            if verdict == "disagree" and options.keep:
                keep_case(options.keep, number, root, case, real, said)
            if verdict == "disagree" or options.verbose:
                print(f"case {number}: real {real!r}, model {said!r}", file=sys.stderr)
        predictor.close()
    return counts, kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opener", required=True)
    parser.add_argument("--predictor", required=True)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--version", default="1.5.2-6+deb12u1")
    parser.add_argument("--distro", default="debian")
    parser.add_argument("--may-raise", action="store_true", help="hard limits can be raised here (CAP_SYS_RESOURCE)")
    parser.add_argument("--module", default="")
    parser.add_argument("--wrong", default="")
    parser.add_argument("--keep", default="")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    counts, kinds = compare(options)
    print(f"pam_limits {options.version} {options.distro}: seed {options.seed}, {options.cases} cases, {counts['agree']} agree, "
          f"{counts['disagree']} disagree, {counts['unknown']} unknown to the model "
          f"({kinds['limits']} sessions, {kinds['refused']} refused)")
    return 1 if counts["disagree"] else 0


if __name__ == "__main__":
    sys.exit(main())
