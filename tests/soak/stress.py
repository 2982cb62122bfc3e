#!/usr/bin/env python3
"""Threads of several ranks under load for a given time, in every mode of an installed oxmpi.

    stress.py PREFIX                       2 hours for each mode: 6 seeds of 20 minutes
    stress.py PREFIX --minutes 1 --seeds 1 --modes 'stream.*concurrent'
    stress.py PREFIX --list                the modes: assignment of CRIs, progress, matching engine

A seed decides a row of jobs: the order test (tests/programs/order.c) with some number of threads, message rates
with every byte looked at (bench/multirate), wildcards, deep queues and mixed calls of many threads, on 2 to 6 ranks, with 1 to 32
CRIs and eager limits that differ. The same seed gives the same row. Every job has a limit (mpirun --timeout); one that
does not end is reported with the stacks of its ranks (--get-stack-traces), one that fails with what it said, and the row
goes on. A mode whose parameters the library does not have counts as failed. Results go to --json as they come.
Needs python3 and gcc. Ends with `N jobs passed, N failed, N hung`, and with status 1 unless all passed.
"""
import argparse, itertools, json, os, random, re, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ASSIGNMENTS = ("stream", "dedicated", "round_robin")
PROGRESS = ("serial", "concurrent")
ENGINES = ("adaptive", "list", "hash", "perpeer", "vector", "fuzzy32", "fuzzy16", "fuzzy8")
TIME_LIMIT = 110  # exit status of mpirun --timeout
PROGRAMS = {"order": "tests/programs/order.c", "wildcards": "tests/programs/wildcards.c", "threads": "tests/programs/threads.c",
            "deep": "tests/programs/deep.c", "multirate": "bench/multirate/multirate.c"}


def modes(engines):
    known = ENGINES if not engines else engines.split(",")
    return [dict(runtime_cri_assignment=a, runtime_progress=p, pml_ob1_matching=e)
            for a, p, e in itertools.product(ASSIGNMENTS, PROGRESS, known)]


def name_of(mode):
    return " ".join(mode.values())


def compile_all(prefix, folder):
    for name, source in PROGRAMS.items():
        subprocess.run([f"{prefix}/bin/mpicc", "-std=gnu11", "-O2", "-g", "-pthread", f"{ROOT}/{source}", "-o", f"{folder}/{name}"], check=True)


def next_job(rng):
    """Ranks, program and arguments, further parameters."""
    params = dict(runtime_num_cris=rng.choice((1, 2, 3, 4, 8, 20, 32)))
    if rng.random() < 0.3:
        params["btl_shm_eager_limit"] = rng.choice(("512", "2k", "8k"))
    kind = rng.choices(("order", "multirate", "threads", "wildcards", "deep"), (5, 5, 2, 1, 1))[0]
    threads = rng.choice((1, 2, 3, 4, 6, 8, 12, 16, 24))
    if kind == "order":
        return rng.choice((2, 2, 2, 4, 6)), ["order", threads, rng.choice((20, 60, 150))], params
    if kind == "multirate":
        common = ["-v", "-s", rng.choice((0, 1, 8, 64, 200, 1024, 4096, 20000)), "-w", rng.choice((1, 7, 64, 128)), "-i", rng.choice((5, 30))]
        common += rng.choice(([], [], ["-c"])) + rng.choice(([], [], ["-l"]))
        if rng.random() < 0.5:
            pairs = rng.choice((1, 1, 2))
            return 2 * pairs, ["multirate", "-p", "-n", pairs, "-m", pairs, "-t", threads] + rng.choice(([], ["-A"], ["-o"], ["-o", "-A"])) + common, params
        few = rng.choice((1, 2, 4, 8))
        senders, receivers = rng.choice((1, 2)), rng.choice((1, 2))
        return 2 * max(senders, receivers), ["multirate", "-a", "-n", senders, "-m", receivers, "-x", few, "-y", rng.choice((1, 2, 4))] + common, params
    if kind == "threads":
        return rng.choice((2, 3, 4)), ["threads", min(threads, 16)], params
    return rng.choice((2, 3, 4)), [kind], params


def run(prefix, folder, mode, job, limit):
    ranks, words, params = job
    command = [f"{prefix}/bin/mpirun", "-n", str(ranks), "--oversubscribe", "--timeout", str(limit), "--get-stack-traces"]
    for name, value in {**mode, **params}.items():
        command += ["--mca", name, str(value)]
    command += [f"{folder}/{words[0]}", *map(str, words[1:])]
    started = time.time()
    try:
        # Twice the time: that its own limit does not work would be a finding of its own.
        r = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=2 * limit + 60)
        said, status = r.stdout + r.stderr, r.returncode
    except subprocess.TimeoutExpired as e:
        said, status = str(e.stdout or "") + str(e.stderr or "") + "\nmpirun did not keep its own limit", "hung"
    took = time.time() - started
    unknown = [line for line in said.splitlines() if any(p in line for p in mode) and "is not a parameter" in line]
    if unknown:
        outcome = "failed"
    elif status == 0:
        outcome = "passed"
    else:
        outcome = "hung" if status in ("hung", TIME_LIMIT) else "failed"
    return outcome, took, " ".join(command[1:]), "" if outcome == "passed" else said


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("prefix", nargs="?")
    ap.add_argument("--minutes", type=float, default=20, help="of one seed")
    ap.add_argument("--seeds", type=int, default=6, help="how many for each mode")
    ap.add_argument("--first", type=int, default=1, help="the first seed")
    ap.add_argument("--modes", default="", help="only modes whose name fits this expression")
    ap.add_argument("--engines", default="", help="only these, separated by commas")
    ap.add_argument("--limit", type=int, default=180, help="seconds of one job")
    ap.add_argument("--total", type=float, default=0, help="end after so many minutes, wherever that is")
    ap.add_argument("--json")
    ap.add_argument("--list", action="store_true")
    o = ap.parse_args()
    chosen = [m for m in modes(o.engines) if re.search(o.modes, name_of(m))]
    if o.list or not o.prefix:
        print("\n".join(map(name_of, chosen)))
        return 0
    o.prefix = os.path.abspath(o.prefix)
    count = dict(passed=0, failed=0, hung=0)
    rows, began = [], time.time()
    over = lambda: o.total and time.time() - began > 60 * o.total
    with tempfile.TemporaryDirectory(prefix="stress.") as folder:
        compile_all(o.prefix, folder)
        # All modes of one seed, then the next seed, so that a run that is cut short has seen every mode.
        for seed in range(o.first, o.first + o.seeds):
            for mode in chosen:
                rng = random.Random(f"{seed} {name_of(mode)}")
                end, here = time.time() + 60 * o.minutes, dict(passed=0, failed=0, hung=0)
                while time.time() < end and not over():
                    outcome, took, command, said = run(o.prefix, folder, mode, next_job(rng), o.limit)
                    here[outcome] += 1
                    if outcome != "passed":
                        print(f"--- {outcome} after {took:.0f} s, seed {seed}: mpirun {command}\n{said[-6000:]}", flush=True)
                        rows.append(dict(mode=name_of(mode), seed=seed, outcome=outcome, command=command, said=said[-20000:]))
                    if "is not a parameter" in said:
                        break
                for key in count:
                    count[key] += here[key]
                if sum(here.values()):
                    print(f"seed {seed}, {name_of(mode)}: " + ", ".join(f"{n} {k}" for k, n in here.items()), flush=True)
                if o.json:
                    with open(o.json, "w") as f:
                        json.dump(dict(minutes=(time.time() - began) / 60, jobs=count, not_passed=rows), f, indent=1)
    print(f"{count['passed']} jobs passed, {count['failed']} failed, {count['hung']} hung, in {(time.time() - began) / 60:.1f} minutes")
    return 0 if count["passed"] and not count["failed"] and not count["hung"] else 1


if __name__ == "__main__":
    sys.exit(main())
