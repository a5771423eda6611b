#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random slurm.conf, slurmd limits and submissions, and a real job of each: here or in a guest, as root.

usage: slurm_jobs.py PINDOWN [--seed N] [--cases N] [--user U] [--most BYTES|infinity] [--keep DIRECTORY] [--bare] [--wrong]

Starts munged, slurmctld and three slurmd with limits of their own in a network namespace that has nothing but loopback. Jobs come
from srun, from a batch script, from srun inside of that, and from salloc; with and without --propagate. What a task finds must be
what `pindown predict --via slurm --root TREE` says, where TREE holds the same slurm.conf and a slurmd.service with slurmd's limits.
--most: the highest limit this machine lets root set. Prints one line: name, seed, cases, agreements, disagreements. With --wrong
the tree's slurm.conf says otherwise. Exit 0: all agree; 1: not; 77: Slurm is not here.
"""
import argparse
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

KIB, MIB, INFINITY = 1 << 10, 1 << 20, -1
NODES = ("n1", "n2", "n3")
SHOW = "while read -r a b c d e f; do case $c in memory) echo \"LIMITS $d $e\" ;; esac; done < /proc/self/limits"
PROPAGATE = ["ALL", "NONE", "MEMLOCK", "CORE", "CORE,MEMLOCK", "RLIMIT_MEMLOCK", "NOFILE,RLIMIT_MEMLOCK,CPU", "STACK,AS"]
REFUSED = ["memlock", "all", "MEMLOCK,LOCKS"]
NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "salloc", "sinfo", "unshare", "prlimit", "setpriv")


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        out.write(text)
    os.chmod(path, mode)


def spell(limit):
    return "infinity" if limit == INFINITY else str(limit)


class Configuration:
    """The lines about limits, and what slurmd of each node has."""

    def __init__(self, r, most):
        self.r = r
        self.main, self.included = [], []
        self.refused = False
        if r.random() < 0.75:
            self.add("PropagateResourceLimits", self.list())
        if r.random() < 0.35:
            self.add("PropagateResourceLimitsExcept", self.list())
        if r.random() < 0.2:
            self.add("PropagateResourceLimits", self.list())
        if r.random() < 0.3:
            self.main.append(r.choice(["UsePAM=no", "usepam = 0", "UsePAM=\"down\""]))
        self.limits = {node: self.pair(most) for node in NODES}

    def list(self):
        if self.r.random() < 0.05:
            self.refused = True
            return self.r.choice(REFUSED)
        return self.r.choice(PROPAGATE)

    def add(self, key, value):
        key = self.r.choice([key, key, key.lower(), key.upper()])
        line = self.r.choice(["{0}={1}", "{0}={1}", "{0} = {1}", "  {0}={1}  # {0}=CPU", "{0}=\"{1}\"", "{0}= \\\n{1}", "#{0}=CORE\n{0}={1}"])
        (self.included if self.r.random() < 0.25 else self.main).append(line.format(key, value))

    def pair(self, most):
        steps = [step for step in (0, 4095, 64 * KIB, MIB, 3 * MIB, 8 * MIB, 64 * MIB) if most == INFINITY or step <= most]
        if most == INFINITY:
            steps += [INFINITY, INFINITY]
        pair = sorted((self.r.choice(steps), self.r.choice(steps)), key=lambda each: (each == INFINITY, each))
        return tuple(pair)

    def text(self):
        lines = list(self.main)
        if self.included:
            lines.insert(self.r.randrange(len(lines) + 1), self.r.choice(["include limits.conf", "Include  limits.conf  # ours"]))
        return "\n".join(lines) + "\n"


def run(*words, timeout=120, **more):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=timeout, stdin=subprocess.DEVNULL, **more)


def run_job(cluster, words):
    try:
        return run(*words, env=cluster.env(), cwd="/")
    except subprocess.TimeoutExpired as late:
        nodes = run("sinfo", "-N", "-o", "%N %T %E", env=cluster.env()).stdout
        jobs = run("squeue", "-o", "%i %T %r %N", env=cluster.env()).stdout
        raise RuntimeError(f"{late}\n{nodes}\n{jobs}\n{cluster.logs()}") from late


class Cluster:
    """The daemons of one configuration. All are children, and end with it."""

    def __init__(self, work, munge_socket):
        self.work, self.munge = work, munge_socket
        self.etc = os.path.join(work, "etc")
        self.conf = os.path.join(self.etc, "slurm.conf")
        self.daemons = []

    def base(self):
        host = socket.gethostname().split(".")[0]
        return f"""ClusterName=agree
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthInfo=socket={self.munge}
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
StateSaveLocation={self.work}/state
SlurmdSpoolDir={self.work}/spool.%n
SlurmctldPidFile={self.work}/ctld.pid
SlurmdPidFile={self.work}/%n.pid
SlurmctldPort=26817
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=n[1-3] NodeHostname={host} NodeAddr=127.0.0.1 Port=[27001-27003] CPUs=4 RealMemory=500 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES OverSubscribe=FORCE:8 State=UP
"""

    def start(self, configuration):
        """True: all nodes are up. False: a slurmd ended by itself."""
        shutil.rmtree(self.etc, ignore_errors=True)
        write(self.conf, self.base() + configuration.text())
        if configuration.included:
            write(os.path.join(self.etc, "limits.conf"), "\n".join(configuration.included) + "\n")
        if slurm_major() >= 23:  # it manages cgroups whatever tracks processes, and may not here
            write(os.path.join(self.etc, "cgroup.conf"), "CgroupPlugin=disabled\n")
        for name in ["state"] + [f"spool.{node}" for node in NODES]:
            shutil.rmtree(os.path.join(self.work, name), ignore_errors=True)
            os.makedirs(os.path.join(self.work, name))
        self.daemon("ctld", ["slurmctld", "-D", "-c", "-f", self.conf])
        for node in NODES:
            soft, hard = (each if each != INFINITY else "unlimited" for each in configuration.limits[node])
            self.daemon(node, ["prlimit", f"--memlock={soft}:{hard}", "slurmd", "-D", "-N", node, "-f", self.conf])
        return self.await_idle()

    def daemon(self, name, words):
        with open(os.path.join(self.work, name + ".log"), "w") as log:
            self.daemons.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))

    def await_idle(self):
        end = time.monotonic() + 240
        while time.monotonic() < end:
            if any(daemon.poll() is not None for daemon in self.daemons):
                return False
            states = run("sinfo", "-h", "-N", "-o", "%t", env=self.env()).stdout.split()
            if len(states) == len(NODES) and all(state in ("idle", "mix", "alloc") for state in states):
                return True
            time.sleep(0.2)
        raise RuntimeError("the nodes do not come up: " + self.logs())

    def logs(self):
        out = []
        for name in ("ctld",) + NODES:
            with open(os.path.join(self.work, name + ".log"), errors="replace") as log:
                out.append(f"{name}: {log.read()[-1500:]}")
        return "\n".join(out)

    def stop(self):
        for daemon in self.daemons:
            if daemon.poll() is None:
                daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons = []

    def env(self):
        return {"PATH": os.environ["PATH"], "SLURM_CONF": self.conf, "HOME": "/"}


def limits_in(text, mark="LIMITS "):
    """"SOFT HARD" of each line that has the mark."""
    return [line[len(mark):].strip() for line in text.splitlines() if line.startswith(mark)]


class Submission:
    def __init__(self, r, most, user):
        self.node = r.choice(NODES)
        self.way = r.choice(["srun", "srun", "sbatch", "salloc"])
        ceiling = [step for step in (4 * KIB, 64 * KIB, MIB, 2 * MIB, 8 * MIB) if most == INFINITY or step <= most]
        self.soft = r.choice(ceiling + ([INFINITY, 100 * MIB] if most == INFINITY else []))
        asked = [None, None, "", "NONE", "MEMLOCK", "CORE", "CORE,MEMLOCK", "ALL"] + REFUSED[:1]
        self.propagate = r.choice(asked) if self.way != "salloc" else None
        self.user = r.choice([user, user, "root"])
        self.most = most

    def option(self):
        if self.propagate is None:
            return []
        return ["--propagate" + (f"={self.propagate}" if self.propagate else "")]

    def as_user(self, words):
        soft = "unlimited" if self.soft == INFINITY else self.soft
        user = [] if self.user == "root" else ["setpriv", f"--reuid={self.user}", f"--regid={self.group()}", "--clear-groups"]
        hard = "unlimited" if self.most == INFINITY else ""
        return ["prlimit", f"--memlock={soft}:{hard}"] + user + words

    def group(self):
        return run("id", "-g", self.user).stdout.strip()

    def submit(self, cluster, scratch):
        """What the task has, then what srun's task inside a batch script has (else None)."""
        place = ["-w", self.node, "-n1"]
        if self.way == "sbatch":
            return self.submit_batch(cluster, scratch, place)
        srun = ["srun", "-Q"] + (place if self.way == "srun" else ["-n1"]) + self.option() + ["sh", "-c", SHOW]
        words = srun if self.way == "srun" else ["salloc", "-Q"] + place + srun
        done = run_job(cluster, self.as_user(words))
        found = limits_in(done.stdout)
        return (found[-1] if found else self.refusal(done)), None

    def submit_batch(self, cluster, scratch, place):
        script, out = os.path.join(scratch, "batch"), os.path.join(scratch, f"out.{time.monotonic_ns()}")
        write(script, f"#!/bin/sh\n{SHOW}\nsrun -Q -n1 sh -c '{SHOW.replace('LIMITS', 'INNER')}'\n", 0o755)
        words = ["sbatch", "-Q", "--wait", "-o", out] + place + self.option() + [script]
        done = run_job(cluster, self.as_user(words))
        text = ""
        if os.path.exists(out):
            with open(out, errors="replace") as stream:
                text = stream.read()
        found, inner = limits_in(text), limits_in(text, "INNER ")
        return (found[-1] if found else self.refusal(done)), (inner[-1] if inner else None)

    @staticmethod
    def refusal(done):
        if "is not valid" in done.stderr or "Bad rlimit name" in done.stderr:
            return "refused"
        return f"status {done.returncode}: {(done.stderr + done.stdout).strip()[-400:]}"

    def words(self):
        return f"{self.way} {' '.join(self.option())} as {self.user} with soft {self.soft} on {self.node}"


def plant(tree, cluster, configuration, node, wrong):
    """The same machine as a tree for --root."""
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(cluster.etc, os.path.join(tree, "etc/slurm"))
    if wrong:
        with open(os.path.join(tree, "etc/slurm/slurm.conf"), "a") as conf:
            conf.write("PropagateResourceLimitsExcept=" + ("NONE" if configuration.r.random() < 0.5 else "ALL") + "\n")
    soft, hard = (spell(each) for each in configuration.limits[node])
    write(os.path.join(tree, "usr/lib/systemd/system/slurmd.service"),
          f"[Service]\nExecStart=/usr/sbin/slurmd -D\nLimitMEMLOCK={soft}:{hard}\n")
    for path in ("etc/passwd", "etc/group", "etc/os-release"):
        shutil.copy("/" + path, os.path.join(tree, path))
    write(os.path.join(tree, "var/lib/dpkg/status"), "".join(
        f"Package: {name}\nStatus: install ok installed\nVersion: {version}\n\n"
        for name, version in (("slurmd", version_of("slurmd")), ("systemd", version_of("systemd")), ("libpam-modules", version_of("libpam-modules")))))


def slurm_major():
    return int(version_of("slurmd").split(".")[0])


def version_of(package):
    return run("dpkg-query", "-W", "-f=${Version}", package).stdout.strip()


def predicted(pindown, tree, user, soft, option):
    words = [pindown, "predict", "--format", "json", "--via", "slurm", "--user", user, "--root", tree]
    if soft is not None:
        words += ["--submit-limit", "unlimited" if soft == INFINITY else str(soft)]
    done = run(*words, *option)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return f"status {done.returncode}: {done.stderr.strip()[-300:]}"
    return "refused" if said["refused"] else f"{said['soft']} {said['hard']}"


class Oracle:
    def __init__(self, options):
        self.options = options
        self.r = random.Random(options.seed)
        self.work = tempfile.mkdtemp(prefix="slurm-jobs-")
        os.chmod(self.work, 0o755)
        self.scratch = os.path.join(self.work, "scratch")
        os.makedirs(self.scratch)
        os.chmod(self.scratch, 0o1777)
        self.tree = os.path.join(self.work, "tree")
        self.cases, self.differ, self.kinds = 0, 0, {}

    def munge(self):
        folder = os.path.join(self.work, "munge")
        os.makedirs(folder)
        os.chmod(folder, 0o755)
        with open(os.path.join(folder, "key"), "wb") as key:
            key.write(os.urandom(128))
        os.chmod(os.path.join(folder, "key"), 0o600)
        place = os.path.join(folder, "socket")
        munged = subprocess.Popen(["munged", "--foreground", "--force", f"--key-file={folder}/key", f"--socket={place}",
                                   f"--pid-file={folder}/pid", f"--seed-file={folder}/seed", f"--log-file={folder}/log"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  start_new_session=True)
        end = time.monotonic() + 60
        while not os.path.exists(place):
            if munged.poll() is not None or time.monotonic() > end:
                raise RuntimeError("munged does not start")
            time.sleep(0.1)
        return munged, place

    def compare(self, kind, words, real, said, cluster):
        self.cases += 1
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if real == said:
            return
        self.differ += 1
        print(f"{words}: the task has {real}, predict says {said}", file=sys.stderr)
        if self.options.keep:
            target = os.path.join(self.options.keep, str(self.differ))
            shutil.copytree(self.tree, target, dirs_exist_ok=True)
            write(os.path.join(target, "case.txt"), f"{words}: the task has {real}, predict says {said}\n{cluster.logs()}\n")

    def one_job(self, cluster, configuration):
        job = Submission(self.r, self.options.most, self.options.user)
        plant(self.tree, cluster, configuration, job.node, self.options.wrong)
        real, inner = job.submit(cluster, self.scratch)
        said = predicted(self.options.pindown, self.tree, job.user, job.soft, job.option())
        limits = " ".join(spell(each) for each in configuration.limits[job.node])
        words = f"slurmd {limits}, {job.words()}"
        self.compare(job.way, words, real, said, cluster)
        if inner is None:
            return
        batch_soft = INFINITY if real.startswith("unlimited") else int(real.split()[0])
        said = predicted(self.options.pindown, self.tree, job.user, batch_soft, [])
        self.compare("srun in a batch script", words + ", srun inside", inner, said, cluster)

    def one_configuration(self, socket_path):
        configuration = Configuration(self.r, self.options.most)
        cluster = Cluster(self.work, socket_path)
        try:
            if cluster.start(configuration):
                for _ in range(self.options.jobs):
                    self.one_job(cluster, configuration)
                return
            plant(self.tree, cluster, configuration, "n1", False)
            said = predicted(self.options.pindown, self.tree, "root", 64 * KIB, [])
            self.compare("slurmd ends", "slurmd ends" if configuration.refused else "slurmd ends unexpectedly",
                         "refused", said, cluster)
        finally:
            cluster.stop()

    def run(self):
        munged, place = self.munge()
        try:
            while self.cases < self.options.cases:
                self.one_configuration(place)
        finally:
            munged.terminate()
            munged.wait()
            shutil.rmtree(self.work, ignore_errors=True)
        kinds = ", ".join(f"{count} {name}" for name, count in sorted(self.kinds.items()))
        print(f"Slurm jobs ({version_of('slurmd')}): seed {self.options.seed}, {self.cases} cases ({kinds}), "
              f"{self.cases - self.differ} agree, {self.differ} disagree")
        return 1 if self.differ else 0


def size(text):
    return INFINITY if text == "infinity" else int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pindown")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=5, help="of a configuration")
    parser.add_argument("--user", default="nobody")
    parser.add_argument("--most", type=size, default=8 * MIB)
    parser.add_argument("--keep", default="")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--bare", action="store_true", help="no namespaces: the machine is a guest, and has but loopback")
    options = parser.parse_args()
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing or os.geteuid() != 0:
        print("not root" if not missing else "not installed: " + ", ".join(missing))
        return 77
    if not options.bare:
        # The shell stays, as the first process: somebody has to reap what Slurm orphans, which counts as alive until then.
        inside = ["sh", "-c", "ip link set lo up && ip address add 192.0.2.1/32 dev lo || exit; \"$@\" & wait $!", "sh", sys.executable,
                  *sys.argv, "--bare"]
        os.execvp("unshare", ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", *inside])
    return Oracle(options).run()


if __name__ == "__main__":
    sys.exit(main())
