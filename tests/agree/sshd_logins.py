#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random sshd_config trees and a real login through each: for a guest of the lab, as root.

usage: sshd_logins.py PINDOWN [--seed N] [--cases N] [--keep DIRECTORY] [--wrong]

Trees of sshd_config.py that sshd accepts become /etc/ssh, as many with UsePAM as without; limits.conf and ssh.service get
limits that differ, ssh.service is restarted on a loopback port, and alice logs in. What her session finds must be what
`pindown predict --via ssh` says. Prints one line: name, seed, cases, agreements, disagreements. With --wrong the session is
predicted from a tree whose first line says the opposite of UsePAM. Exit 0: all agree; 1: not.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import sshd_config

PORT = "2200"
# What would keep alice from logging in, or her command from running.
HINDRANCES = ("AllowGroups ", "ForceCommand ", "AuthorizedKeysFile ")
IN_LIMITS = ["alice - memlock 128", "alice soft memlock 5000\nalice hard memlock 60000", "* - memlock unlimited", "@hpc - memlock 77777",
             "", "alice -"]
IN_UNIT = ["1M", "4M:9M", "infinity", "16M:32M", "0:infinity"]
SHOW = "while read -r a b c d e f; do case $c in memory) echo \"LIMITS $d $e\" ;; esac; done < /proc/self/limits"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        out.write(text)


def run(*words, timeout=120):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=timeout, stdin=subprocess.DEVNULL)


def become(tree):
    """tree/etc/ssh becomes /etc/ssh; this machine's keys stay."""
    for name in os.listdir("/etc/ssh"):
        path = os.path.join("/etc/ssh", name)
        if name.startswith("ssh_host_") or name in ("moduli", "ssh_config"):
            continue
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    shutil.copytree(os.path.join(tree, "etc/ssh"), "/etc/ssh", symlinks=True, dirs_exist_ok=True)


def with_use_pam(generator, tree):
    """Most random trees say nothing that counts; half of these shall."""
    if generator.chance(0.5):
        return
    path = os.path.join(tree, "etc/ssh/sshd_config")
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    lines.insert(generator.r.randrange(len(lines) + 1), b"UsePAM yes")
    with open(path, "wb") as out:
        out.write(b"\n".join(lines))


def next_tree(generator, work, want):
    """A tree that sshd accepts, laid; `want` is what it makes of UsePAM."""
    for number in range(1000):
        tree = os.path.join(work, str(number))
        generator.tree(tree)
        with_use_pam(generator, tree)
        become(tree)
        shutil.rmtree(tree)
        answer = [line for line in run(sshd_config.SSHD, "-T", "-C", "lport=" + PORT).stdout.splitlines() if line.startswith("usepam ")]
        if answer == ["usepam " + want]:
            return
    raise RuntimeError("no tree of a thousand is accepted")


def login():
    """"SOFT HARD" in bytes; what went wrong otherwise."""
    for _ in range(3):
        done = run("ssh", "-o", "LogLevel=VERBOSE", "-p", PORT, "-o", "BatchMode=yes", "-o", "Ciphers=aes128-ctr,aes256-ctr", "-o", "ConnectTimeout=100", "alice@127.0.0.1", SHOW)
        lines = [line for line in done.stdout.splitlines() if line.startswith("LIMITS ")]
        if lines:
            return lines[-1][len("LIMITS "):]
        time.sleep(1)
    return f"no login: {done.returncode} {done.stderr.strip()[-300:]}"


def contradict(path, use_pam):
    with open(path, encoding="latin-1") as stream:
        text = stream.read()
    write(path, f"UsePAM {'no' if use_pam == 'yes' else 'yes'}\n{text}")


def predicted(pindown):
    done = run(pindown, "predict", "--format", "json", "--via", "ssh", "--user", "alice")
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return f"status {done.returncode}: {done.stderr.strip()[-300:]}"
    return "refused" if said.get("refused") else f"{said.get('soft')} {said.get('hard')}"


def restart():
    run("systemctl", "daemon-reload")
    run("systemctl", "reset-failed", "ssh.service")
    done = run("systemctl", "restart", "ssh.service")
    return "" if done.returncode == 0 else run("journalctl", "-qn5", "-u", "ssh.service").stdout[-500:]


def keep(directory, number, words):
    target = os.path.join(directory, str(number))
    for path in ("/etc/ssh", "/etc/systemd/system/ssh.service.d"):
        shutil.copytree(path, target + path, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*_key", "moduli"))
    os.makedirs(target + "/etc/security", exist_ok=True)
    shutil.copy("/etc/security/limits.conf", target + "/etc/security/")
    write(os.path.join(target, "case.txt"), words + "\n")


def compare(options):
    sshd_config.GOOD[:] = [line for line in sshd_config.GOOD if not line.startswith(HINDRANCES)]
    generator = sshd_config.Generator(options.seed)
    write("/etc/default/ssh", f"SSHD_OPTS=-p {PORT} -o ListenAddress=127.0.0.1\n")
    work = tempfile.mkdtemp(prefix="sshd-logins-")
    differ, spread = 0, {}
    for number in range(options.cases):
        use_pam = "yes" if number % 2 else "no"
        next_tree(generator, work, use_pam)
        limits, unit = generator.r.choice(IN_LIMITS), generator.r.choice(IN_UNIT)
        write("/etc/security/limits.conf", limits + "\n")
        write("/etc/systemd/system/ssh.service.d/lab.conf", f"[Service]\nLimitMEMLOCK={unit}\n")
        real = restart() or login()
        if options.wrong:
            contradict("/etc/ssh/sshd_config", use_pam)
        said = predicted(options.pindown)
        spread[use_pam] = spread.get(use_pam, 0) + 1
        if real == said:
            continue
        differ += 1
        words = f"UsePAM {use_pam}, limits.conf {limits!r}, ssh.service {unit}: the session has {real}, predict {said}"
        print(f"login {number}: {words}", file=sys.stderr)
        if options.keep:
            keep(options.keep, number, words)
    kinds = ", ".join(f"{count} usepam {name}" for name, count in sorted(spread.items()))
    print(f"sshd logins: seed {options.seed}, {options.cases} cases ({kinds}), {options.cases - differ} agree, {differ} disagree")
    return 1 if differ else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pindown")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=4)
    parser.add_argument("--keep", default="")
    parser.add_argument("--wrong", action="store_true")
    return compare(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
