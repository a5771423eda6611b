#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random registrations over soft-RoCE in a guest against the model of what the kernel charges (model/charge.h).

usage: charge.py --lab scripts/lab --register FILE --say FILE --guest NAME [--cases N] [--seed S] [--wrong] [--keep DIR]
Prints one line: name, guest, seed, cases, agreements, disagreements; exit 1 if anything disagrees.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

KIB, PAGE, UNLIMITED = 1024, 4096, 2**64 - 1


def random_limit(rng):
    return rng.choice([0, 1, PAGE - 1, PAGE, 10000, 64 * KIB, 64 * KIB + 1, 1024 * KIB, 8192 * KIB, UNLIMITED,
                       rng.randrange(16 << 20)])


def random_case(rng):
    soft = random_limit(rng)
    hard = rng.choice([soft, max(soft, random_limit(rng)), UNLIMITED])
    pinned = rng.choice([0, 0, 0, PAGE, 64 * KIB, 1024 * KIB, rng.randrange(4 << 20)])
    offset = rng.choice([0, 0, 0, 1, PAGE - 1, rng.randrange(3 * PAGE)])
    # Around the edge: what is left of the limit, a page and a byte more and less.
    left = max(0, soft // PAGE * PAGE - -(-pinned // PAGE) * PAGE) if soft != UNLIMITED else 4 << 20
    edge = left + rng.choice([-PAGE, -1, 0, 1, PAGE]) - rng.choice([0, offset % PAGE])
    size = rng.choice([edge, edge, rng.randrange(1, 12 << 20), rng.choice([1, PAGE, 64 * KIB])])
    return " ".join(map(str, (soft, hard, rng.choice([0, 1000]), rng.choice(["none", "none", "permitted", "effective"]),
                              rng.choice([0, 0, 0, 1]), pinned, offset, min(max(1, size), 16 << 20),
                              rng.choice(["anon"] * 5 + ["none", "readonly", "unmapped"]))))


def ask_guest(args, cases):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "cases").write_text("\n".join(cases) + "\n")
        (folder / "job.sh").write_text("./register < cases\n")
        command = [args.lab, "run", "--guest", args.guest, "--limit", "1200", str(folder / "job.sh"), str(folder / "cases"),
                   args.register]
        run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        sys.stderr.write(run.stderr[-2000:] + run.stdout[-2000:])
        sys.exit(run.returncode)
    return run.stdout.splitlines()


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
    real = ask_guest(args, cases)
    said = subprocess.run([args.say] + ["--wrong"] * args.wrong, input="\n".join(cases) + "\n", capture_output=True, text=True,
                          check=True).stdout.splitlines()
    if not len(real) == len(said) == len(cases):
        sys.exit(f"charge: {len(cases)} cases, {len(real)} answers of the kernel, {len(said)} of the model")
    differ = [(case, kernel, model) for case, kernel, model in zip(cases, real, said) if kernel != model]
    for case, kernel, model in differ[:20]:
        print(f"  {case}: the kernel says {kernel}, the model {model}")
    if args.keep and differ:
        path = pathlib.Path(args.keep) / f"charge-{args.guest}-{args.seed}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{case}\t{kernel}\t{model}\n" for case, kernel, model in differ))
    print(f"charge ({args.guest}): seed {args.seed}, {len(cases)} cases, {len(cases) - len(differ)} agree, {len(differ)} disagree")
    sys.exit(1 if differ else 0)


main()
