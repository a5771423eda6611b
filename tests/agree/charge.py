#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random registrations over soft-RoCE in a guest against the model of what the kernel charges (model/charge.h).

usage: charge.py --lab scripts/lab --register FILE --say FILE --guest NAME [--cases N] [--seed S] [--wrong] [--keep DIR]
Prints one line: name, guest, seed, cases, agreements, disagreements; exit 1 if anything disagrees.
"""
import argparse
import collections
import errno
import pathlib
import random
import subprocess
import sys
import tempfile

KIB, PAGE, UNLIMITED = 1024, 4096, 2**64 - 1


KINDS = ["anon"] * 12 + ["none", "readonly", "readonly", "unmapped", "half", "huge", "huge", "shared", "shared", "sharedro", "disk",
                         "disk", "diskro", "memory", "memoryro", "hole", "kernel", "top", "top"]
ACCESS = ["l"] * 6 + ["lrw", "lrwa", "0", "0", "r", "r", "w", "a", "ra"]


def random_limit(rng):
    return rng.choice([0, 1, PAGE - 1, PAGE, 10000, 64 * KIB, 64 * KIB + 1, 1024 * KIB, 8192 * KIB, UNLIMITED,
                       rng.randrange(16 << 20)])


def random_pinned(rng):
    """Bytes, and how often the same ones."""
    pinned = rng.choice([0, 0, 0, PAGE, 64 * KIB, 1024 * KIB, rng.randrange(4 << 20)])
    return pinned, rng.choice([1, 1, 1, 2, 3])


def random_size(rng, left, offset):
    # Around the edge: what is left of the limit, a page and a byte more and less.
    edge = left + rng.choice([-PAGE, -1, 0, 1, PAGE]) - rng.choice([0, offset % PAGE])
    size = rng.choice([edge] * 4 + [rng.randrange(1, 12 << 20)] * 2 + [rng.choice([1, PAGE, 64 * KIB])] * 2)
    return min(max(1, size), 16 << 20) if rng.random() < 0.95 else 0


def random_case(rng):
    soft = random_limit(rng)
    pinned, times = random_pinned(rng)
    if rng.random() < 0.02:  # a limit that only the same memory, again and again, can exhaust in a small guest
        soft, pinned, times = 1 << 30, 64 << 20, rng.choice([15, 16])
    hard = rng.choice([soft, max(soft, random_limit(rng)), UNLIMITED])
    offset = rng.choice([0, 0, 0, 1, PAGE - 1, rng.randrange(3 * PAGE)])
    left = max(0, soft // PAGE * PAGE - -(-pinned // PAGE) * PAGE * times) if soft != UNLIMITED else 4 << 20
    size, kind = random_size(rng, left, offset), rng.choice(KINDS)
    if kind == "top":
        size = rng.choice([0, 1, PAGE, 2 * PAGE, 3 * PAGE, size])
    elif kind in ("kernel", "unmapped") and rng.random() < 0.2:
        kind, size = "kernel", rng.choice([(1 << 44) - PAGE, 1 << 44, 1 << 45])  # about 2^32 pages
    other = rng.choice([0] * 9 + [64 * KIB, 4 << 20])
    return " ".join(map(str, (soft, hard, rng.choice([0, 1000]), rng.choice(["none", "none", "permitted", "effective"]),
                              rng.choice([0, 0, 0, 1]), pinned, times, other, offset, size, kind, rng.choice(ACCESS))))


def ask_guest(args, cases):
    """The kernel's version and an answer for each case."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "cases").write_text("\n".join(cases) + "\n")
        # Ten of the huge pages at most are in use at once.
        (folder / "job.sh").write_text("echo 24 > /proc/sys/vm/nr_hugepages\nuname -r\n./register < cases\n")
        command = [args.lab, "run", "--guest", args.guest, "--limit", "2400", str(folder / "job.sh"), str(folder / "cases"),
                   args.register]
        run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        sys.stderr.write(run.stderr[-2000:] + run.stdout[-2000:])
        sys.exit(run.returncode)
    lines = run.stdout.splitlines()
    return lines[0], lines[1:]


def named(answer):
    return {"0": "registered"}.get(answer) or errno.errorcode.get(int(answer) if answer.isdigit() else -1, "cannot")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--lab", "--register", "--say", "--guest"):
        parser.add_argument(name, required=True)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--keep")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    cases = [random_case(rng) for _ in range(args.cases)]
    kernel, real = ask_guest(args, cases)
    said = subprocess.run([args.say] + ["--wrong"] * args.wrong + [kernel], input="\n".join(cases) + "\n", capture_output=True, text=True,
                          check=True).stdout.splitlines()
    if not len(real) == len(said) == len(cases):
        sys.exit(f"charge: {len(cases)} cases, {len(real)} answers of the kernel, {len(said)} of the model")
    differ = [(case, seen, model) for case, seen, model in zip(cases, real, said) if seen != model]
    for case, seen, model in differ[:20]:
        print(f"  {case}: the kernel says {seen}, the model {model}")
    if args.keep and differ:
        path = pathlib.Path(args.keep) / f"charge-{args.guest}-{args.seed}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{case}\t{seen}\t{model}\n" for case, seen, model in differ))
    spread = ", ".join(f"{count} {name}" for name, count in sorted(collections.Counter(map(named, real)).items()))
    print(f"charge ({args.guest}, {kernel}): seed {args.seed}, {len(cases)} cases ({spread}), {len(cases) - len(differ)} agree, {len(differ)} disagree")
    sys.exit(1 if differ else 0)


main()
