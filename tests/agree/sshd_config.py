#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random sshd_config trees, read by the installed sshd (sshd -T) and by pindown (the program read_sshd).

usage: sshd_config.py READ_SSHD [--seed N] [--cases N] [--keep DIRECTORY] [--wrong]

Runs itself as root in a mount namespace of its own, lays each tree over /etc/ssh there and asks sshd what it makes of
UsePAM, or whether it ends. Prints one line: name, seed, cases, agreements, disagreements; each disagreement is kept
with both answers. Exit 0: all agree; 1: not; 77: sshd, unshare or root is missing.
Needs OpenSSH 9.2 or later.
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

SSHD = "/usr/sbin/sshd"
BLANKS = ["", "", "", " ", "\t", "  \t", " \r"]
ENDS = ["\n", "\n", "\n", "\n", "\r\n", " \n", "\t\n", " \f\n", "\f\n", "\n\n"]
NAMES = ["10-a.conf", "20-b.conf", "30.conf", "a b.conf", "B.conf", "zz.conf", ".hidden.conf", "x[1].conf", "note.txt",
         "-dash.conf", "é.conf", "70-q'uote.conf"]
FOLDERS = ["sshd_config.d", "extra", "deep/er", "."]
# Options that need nothing of the machine, with good values.
GOOD = ["Port 2222", "X11Forwarding yes", "PermitRootLogin no", "PermitRootLogin prohibit-password", "MaxAuthTries 3",
        "LogLevel VERBOSE", "AllowTcpForwarding local", "PasswordAuthentication no", "PubkeyAuthentication YES",
        "ClientAliveInterval 1h30m", "LoginGraceTime 90", "PrintMotd no", "AllowGroups wheel", "Banner none",
        "AcceptEnv LANG LC_*", "SyslogFacility AUTH", "Compression delayed", "Protocol 2", "UseDNS no",
        "KeyRegenerationInterval 3600", "UseLogin no", "KbdInteractiveAuthentication no", "StrictModes yes",
        "ForceCommand echo 'UsePAM no'", "VersionAddendum UsePAM no", "MaxSessions 10", "GatewayPorts clientspecified",
        "RhostsRSAAuthentication no", "RSAAuthentication yes", "UsePrivilegeSeparation sandbox", "DebianBanner no",
        "Ciphers aes256-ctr", "AuthorizedKeysFile .ssh/a .ssh/b", "PermitTTY no", "HostKey /etc/ssh/ssh_host_ed25519_key",
        "PrintLastLog yes", "TCPKeepAlive no", "PermitUserEnvironment no", "DenyUsers mallory", "SetEnv A=b",
        "RequiredRSASize 2048", "ChallengeResponseAuthentication no", "X11DisplayOffset 10", "IgnoreRhosts shosts-only"]
BAD = ["UsePAN yes", "Use PAM yes", "UsePAM", "UsePAM true", "UsePAM 1", "UsePAM yes no", "UsePAM \"yes", "UsePAM 'yes",
       "X11Forwarding maybe", "MaxAuthTries x", "MaxAuthTries", "LoginGraceTime 5y", "PermitRootLogin never", "usepam #yes",
       "UsePAM yes#no", "UsePAM \"\"", "LogLevel LOUD", "Include", "Include \"\"", "Match", "Match nobody x",
       "Match user", "Match all user x", "Match user x all", "Match localport 99999", "foo", "IgnoreUnknown Foo", "<xml>",
       "MaxSessions 99999999999", "PrintMotd yes yes", "UsePAM yes # a 'b' \"c", "\\UsePAM yes", "UsePAM\u00a0no"]
MATCHES = ["Match user alice", "Match all", "match ALL", "Match user alice address 10.0.0.0/8", "Match Group wheel",
           "Match user=bob", "Match \"user\" bob", "Match host *.example.org # c", "Match all # end", "Match localport 22",
           "Match user \"a b\"", "Match=user bob", "Match user alice group admin host x", "Match all\t"]


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.plain = False  # trees that sshd accepts, in which only order and includes decide

    def chance(self, p):
        return self.r.random() < p

    def case(self, word):
        how = self.r.randrange(5)
        if how == 0:
            return word.lower()
        if how == 1:
            return word.upper()
        if how == 2:
            return "".join(c.upper() if self.chance(0.5) else c.lower() for c in word)
        return word

    def use_pam(self):
        if self.plain:
            return f"{self.case('UsePAM')} {self.r.choice(['yes', 'yes', 'no'])}"
        value = self.case(self.r.choice(["yes", "no"]))
        value = self.r.choice([value] * 6 + [f'"{value}"', f"'{value}'", value[0] + f'"{value[1:]}"', "\\" + value])
        between = self.r.choice([" "] * 5 + ["\t", "=", " = ", "= ", " =", "  ", " \t ", "==", "= =", "\r"])
        key = self.case("UsePAM")
        key = self.r.choice([key] * 12 + [f'"{key}"', f'{key[:3]}"{key[3:]}"', f'"{key}', f"={key}", f"'{key}'"])
        after = self.r.choice([""] * 8 + [" # yes", "#no", " #no", "\t# 'x", " ", " \\", " # \"q\""])
        return key + between + value + after

    def include(self, names):
        pick = lambda: self.r.choice(names) if names else "none.conf"
        forms = [pick, pick, lambda: "/etc/ssh/" + pick(), lambda: "/etc/ssh/" + pick(),
                 lambda: "sshd_config.d/*.conf", lambda: "/etc/ssh/sshd_config.d/*.conf", lambda: "*/*.conf",
                 lambda: "/etc/ssh/extra/*", lambda: "/etc/ssh/ex[a-t]ra/[!z]*.conf", lambda: "deep/*/*",
                 lambda: "/etc/ssh/sshd_config.d/?0-*", lambda: "missing.conf", lambda: "/etc/ssh/none/*.conf",
                 lambda: "extra", lambda: "/etc/ssh/extra/", lambda: "~/x.conf", lambda: "~root/x.conf",
                 lambda: "/etc/ssh/{extra,deep}/*.conf", lambda: "extra/../" + pick(), lambda: "./" + pick(),
                 lambda: "/etc/ssh/sshd_config.d/.*", lambda: "/etc//ssh//" + pick(), lambda: "x\\[1\\].conf",
                 lambda: "extra/x\\[1\\].conf", lambda: "extra/x[1].conf", lambda: "sshd_config.d/*.con[",
                 lambda: "sshd_config.d/[[:digit:]]*.conf", lambda: "sshd_config.d/[^1]*"]
        words = []
        for _ in range(self.r.choice([1, 1, 1, 2, 3])):
            word = self.r.choice(forms)()
            if " " in word:
                word = self.r.choice([f'"{word}"', f"'{word}'", word.replace(" ", "\\ "), word])
            elif self.chance(0.2):
                word = self.r.choice([f'"{word}"', f"'{word}'"])
            words.append(word)
        return self.case("Include") + self.r.choice([" ", "\t", "=", " = "]) + " ".join(words) + self.r.choice(
            [""] * 6 + [" # x", " "])

    def line(self, names, bad):
        kind = self.r.random()
        if kind < bad:
            return self.r.choice(BAD)
        if kind < 0.30:
            return self.use_pam()
        if kind < 0.42:
            return self.include(names)
        if kind < 0.50 and not self.plain:
            return self.r.choice(MATCHES)
        if kind < 0.58:
            return self.r.choice(["# UsePAM no", "#UsePAM no", "", "  ", "\t# Match all", "# Include *", "#\"x", '"open'])
        if kind < 0.60:
            return self.r.choice(["# x\0UsePAM no", "\0", "Use\0PAM yes", "UsePAM yes\0 no", "Print\0Motd no"])
        return self.r.choice(GOOD)

    def text(self, names, bad):
        out = ""
        for _ in range(self.r.choice([0, 1, 1, 2, 3, 4, 6, 9])):
            out += self.r.choice(BLANKS) + self.line(names, bad) + self.r.choice(ENDS)
        if self.chance(0.15):
            out = out.rstrip("\n")
        if self.chance(0.05):
            out = out.replace("\n", "\r\n")
        if self.chance(0.01):
            out = "\ufeff" + out
        return out

    def tree(self, root):
        """Writes a tree below root/etc/ssh."""
        base = os.path.join(root, "etc/ssh")
        os.makedirs(base)
        self.plain = self.chance(0.5)
        bad = 0 if self.plain else self.r.choice([0, 0, 0, 0.02, 0.05])
        names = []
        for _ in range(self.r.choice([0, 1, 2, 3, 5, 8])):
            name = os.path.normpath(os.path.join(self.r.choice(FOLDERS), self.r.choice(NAMES)))
            if name not in names:
                names.append(name)
        targets = names + (["sshd_config"] if self.chance(0.05) else [])
        for at, name in enumerate(names):
            path = os.path.join(base, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            what = self.r.random()
            if what < 0.03:
                os.makedirs(path)
            elif what < 0.05:
                os.symlink(self.r.choice(["/etc/ssh/nowhere", "nowhere", name.split("/")[-1], "/dev/null"]), path)
            elif what < 0.08 and at:
                os.symlink("/etc/ssh/" + names[at - 1], path)
            else:
                # Mostly later names only, or every tree would be a loop.
                rest = targets if self.chance(0.1) else names[at + 1:]
                self.write(path, self.text(rest, bad))
        lines = self.text(targets, bad)
        if self.chance(0.4):
            lines = "Include /etc/ssh/sshd_config.d/*.conf\n" + lines
        self.write(os.path.join(base, "sshd_config"), lines)

    @staticmethod
    def write(path, text):
        with open(path, "wb") as out:
            out.write(text.encode())


def ask_sshd(root):
    subprocess.run(["mount", "--bind", os.path.join(root, "etc/ssh"), "/etc/ssh"], check=True)
    try:
        done = subprocess.run([SSHD, "-T", "-C", "lport=22"], capture_output=True, cwd="/", timeout=60)
    finally:
        subprocess.run(["umount", "/etc/ssh"], check=True)
    answers = [line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("usepam ")]
    if done.returncode == 0 and answers:
        return answers[0], ""
    return "refuses", done.stderr.decode(errors="replace").strip()


def compare(options):
    generator = Generator(options.seed)
    work = tempfile.mkdtemp(prefix="agree-sshd-")
    keys = os.path.join(work, "ssh_host_ed25519_key")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys], check=True)
    counts = {}
    differ = 0
    for number in range(options.cases):
        root = os.path.join(work, f"{options.seed}-{number}")
        generator.tree(root)
        for name in ("ssh_host_ed25519_key", "ssh_host_ed25519_key.pub"):
            shutil.copy(os.path.join(work, name), os.path.join(root, "etc/ssh"))
        real, why = ask_sshd(root)
        mine = subprocess.run([options.driver] + ["--wrong"] * options.wrong + [root], capture_output=True, text=True, errors="replace", check=True)
        answer, _, reason = mine.stdout.rstrip("\n").partition("\t")
        counts[real] = counts.get(real, 0) + 1
        if answer == real:
            shutil.rmtree(root)
            continue
        differ += 1
        os.makedirs(options.keep, exist_ok=True)
        kept = os.path.join(options.keep, os.path.basename(root))
        shutil.rmtree(kept, ignore_errors=True)
        shutil.move(root, kept)
        print(f"{kept}: sshd says {real!r} ({why}), pindown {answer!r} ({reason})", file=sys.stderr)
    shutil.rmtree(work)
    spread = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"sshd_config: seed {options.seed}, {options.cases} cases ({spread}), {options.cases - differ} agree, "
          f"{differ} disagree")
    # A generator whose trees all end the same way would prove nothing.
    return 1 if differ or (options.cases >= 50 and len(counts) < 3) else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("driver")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--keep", default="agree-sshd-failed")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.driver = os.path.abspath(options.driver)
    options.keep = os.path.abspath(options.keep)
    if os.geteuid() != 0 or not os.access(SSHD, os.X_OK) or not shutil.which("unshare"):
        print("sshd_config: skipped, needs root, unshare and " + SSHD)
        return 77
    if not options.inside:
        os.makedirs("/run/sshd", exist_ok=True)
        return subprocess.run(["unshare", "-m", sys.executable, os.path.abspath(__file__), "--inside"] + sys.argv[1:]
                              ).returncode
    return compare(options)


if __name__ == "__main__":
    sys.exit(main())
