#!/usr/bin/env python3
"""Traces the programs of applications.toml at several numbers of ranks and says how their tags behave: Fuzzy Matching (2019), table I and figures 3 and 4.

    applications.py PROGRAMS --prefix PREFIX [--out DIR] [NAME...]

PROGRAMS has a folder of each program's name with the executable `program`, which was built by its own instructions and PREFIX's wrappers, and its input; those that are not there are
left out, and said. They run in copies of these folders with trace.c in front of the library. Each runs once; messages are counted, and what the program says of its
own result is compared with what applications.toml expects of it: one that is wrong is left out. Into DIR (results/papers of this tree) go trace-classes.json, the number of tags by
ranks, and trace-tags.json, trace-scale.json, the share of false positives of the worst rank by the bits of a window, for `oxmpi-bench papers 003`.
"""
import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import report

HERE = Path(__file__).resolve().parent
BITS = range(1, 25)
# A busy machine runs 64 ranks on two cores slowly.
LIMIT = 600


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, **more)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip())[-400:])
    return done.stdout


def factors(ranks):
    """Three factors, as near to each other as can be."""
    triples = [(a, b, ranks // a // b) for a in range(1, ranks + 1) for b in range(a, ranks + 1) if ranks % (a * b) == 0]
    return dict(zip("abc", min((t for t in triples if t[2] >= t[1]), key=lambda t: t[2] - t[0])))


def check(copy, program, said):
    """Fails unless the program found its result right: by its output, and by the newest of its reports where it writes those."""
    reports = sorted(copy.glob(program["report"]), key=os.path.getmtime) if "report" in program else []
    text = said + "".join(file.read_text() for file in reports[-1:])
    if not re.search(program["right"], text, re.MULTILINE):
        raise RuntimeError(f"its result is not shown to be right: no {program['right']!r} in {text.strip()[-400:]!r}")
    if "wrong" in program and re.search(program["wrong"], text):
        raise RuntimeError(f"its result is wrong: {program['wrong']!r} is in its output")


def trace(copy, program, ranks, prefix, library):
    into = copy / f"trace{ranks}"
    into.mkdir()
    words = program["run"].format(ranks=ranks, **factors(ranks)).split()
    launch = [prefix / "bin/mpirun", "-n", str(ranks), "--oversubscribe", "env", f"TRACE={into}/t", f"LD_PRELOAD={library}", copy / "program"]
    check(copy, program, run([*launch, *words], cwd=copy))
    got = report.Trace()
    for file in sorted(into.iterdir()):
        got.read(file)
    if len(got.files) != ranks:
        raise RuntimeError(f"{len(got.files)} files of {ranks} ranks")
    return got


def tags(got):
    """All tags of the program's messages."""
    return {tag for comms in got.received.values() for pairs in comms.values() for _, tag in pairs}


def kind(counts):
    """The class of the paper, of numbers of tags at growing numbers of ranks."""
    if max(counts) <= 1:
        return "zero-tag"
    return "scale-invariant" if len(set(counts)) == 1 else "scale-sensitive"


def row(series, x, quantity, value):
    return {"library": "ours", "series": series, "x": x, "quantity": quantity, "values": [value], "median": value, "least": value, "most": value,
            "spread": None, "iterations": 1, "verified": True, "failure": None, "stored": False}


def machine():
    first = lambda *command: (subprocess.run(command, capture_output=True, text=True).stdout.splitlines() or ["unknown"])[0]
    processor = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "unknown")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"processor": processor, "cores": len(os.sched_getaffinity(0)), "memory_gib": round(memory, 1), "kernel": platform.release(),
            # Messages are counted: who else was busy does not matter.
            "load": 0.0, "compiler": first("gcc", "--version"), "time": int(time.time()),
            "commit": first("git", "-C", HERE, "rev-parse", "--short", "HEAD")}


def main():
    ask = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ask.add_argument("programs", type=Path)
    ask.add_argument("--prefix", type=Path, required=True, help="our install")
    ask.add_argument("--out", type=Path, default=HERE.parent / "results/papers")
    ask.add_argument("names", nargs="*")
    given = ask.parse_intermixed_args()
    programs = tomllib.loads((HERE / "applications.toml").read_text())
    classes, shares, scales, commands, here = [], [], [], [], machine()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        library = folder / "libtrace.so"
        run([given.prefix / "bin/mpicc", "-O2", "-shared", "-fPIC", "-pthread", HERE / "trace.c", "-o", library])
        for name, program in programs.items():
            if given.names and name not in given.names:
                continue
            if not (given.programs / name / "program").is_file():
                print(f"{name}: left out, there is no {given.programs / name / 'program'}")
                continue
            try:
                copy = shutil.copytree(given.programs / name, folder / name)
                traces = {ranks: trace(copy, program, ranks, given.prefix, library) for ranks in program["ranks"]}
            except (RuntimeError, subprocess.TimeoutExpired) as why:
                print(f"{name}: left out: {why}", flush=True)
                continue
            counts = [len(tags(got)) for got in traces.values()]
            classes += [row(name, ranks, "value", count) for ranks, count in zip(traces, counts)]
            curve = lambda got: [(bits, report.worst_and_mean(got, 1, report.low(bits))[0]) for bits in BITS]
            last = max(traces)
            shares += [row(name, bits, "value", share) for bits, share in curve(traces[last])]
            if kind(counts) == "scale-sensitive":
                scales += [row(f"{name}, {ranks} processes", bits, "value", share) for ranks, got in traces.items() for bits, share in curve(got)]
            commands.append(f"{name}: mpirun -n {last} env TRACE=… LD_PRELOAD=libtrace.so program {program['run']}")
            at_eight = report.worst_and_mean(traces[last], 1, report.low(8))[0]
            print(f"{name}: {kind(counts)}, tags {dict(zip(traces, counts))}, {at_eight:.2%} at 8 bits on {last} ranks", flush=True)
    given.out.mkdir(parents=True, exist_ok=True)
    version = run([given.prefix / "bin/mpirun", "--version"]).splitlines()[0]
    for case, rows in [("trace-classes", classes), ("trace-tags", shares), ("trace-scale", scales)]:
        kept = {"key": "applications.py", "case": case, "rounds": 1, "machine": here, "libraries": [["ours", version]], "rows": rows, "over": None,
                "model": None, "whole": True, "commands": commands}
        (given.out / f"{case}.json").write_text(json.dumps(kept) + "\n")


if __name__ == "__main__":
    sys.exit(main())
