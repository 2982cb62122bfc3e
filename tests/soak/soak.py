#!/usr/bin/env python3
"""Start an installed oxmpi over and over, and kill it in every way we can think of.

    soak.py PREFIX --runs 1000          consecutive `mpirun -n 4 --oversubscribe` jobs, all must succeed
    soak.py PREFIX --kills 50           jobs killed in turn: one rank, all ranks, mpirun, the keeper, everything at once,
                                        by SIGKILL; mpirun by SIGTERM and SIGINT; ranks started directly and through sh -c

After each job nothing may be left: no process of it (found by a mark in its environment), nothing new in /dev/shm
or in the temporary folder. A killed job must not exit with 0. Needs python3 and gcc. Ends with `N passed, N failed`.
"""
import argparse, os, signal, subprocess, sys, tempfile, time, uuid

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, n, sum = 0; MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != n * (n - 1) / 2) return 3;
    if (argc > 1) { if (me == 0) { puts("up"); fflush(stdout); } for (;;) { MPI_Barrier(MPI_COMM_WORLD); if (argv[1][0] == 's') usleep(2000); } }
    MPI_Finalize(); return 0;
}
"""


def marked(mark):
    """Processes whose environment holds the mark, as {pid: command line}."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mark.encode() not in f.read():
                    continue
            with open(f"/proc/{pid}/stat") as f:
                if f.read().rpartition(")")[2].split()[0] == "Z":
                    continue
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                found[int(pid)] = f.read().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            pass
    return found


def litter():
    return {os.path.join(d, x) for d in ("/dev/shm", tempfile.gettempdir()) for x in os.listdir(d)}


def left_over(mark, before, ours, limit=5.0):
    """What is still there after `limit` seconds, as text; empty is good."""
    end = time.time() + limit
    while time.time() < end and marked(mark):
        time.sleep(0.01)
    procs = marked(mark)
    for pid in procs:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    names = [x for x in litter() - before if x not in ours and "oxmpi" in x or x.startswith("/dev/shm") and x not in before]
    return "; ".join([f"process {p} {c}" for p, c in procs.items()] + names)


def env_with(mark):
    return dict(os.environ, OXMPI_SOAK_MARK=mark)


def runs(o, prog, ours):
    good = 0
    start = time.time()
    for i in range(o.runs):
        mark, before = uuid.uuid4().hex, litter()
        try:
            r = subprocess.run([f"{o.prefix}/bin/mpirun", "-n", "4", "--oversubscribe", prog], env=env_with(mark),
                               capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
            word = f"exit {r.returncode}: {r.stderr[-400:]}" if r.returncode or r.stdout or r.stderr else ""
        except subprocess.TimeoutExpired:
            word = "no end in 60 s"
        rest = left_over(mark, before, ours)
        if word or rest:
            print(f"run {i}: {word} {rest}", flush=True)
        else:
            good += 1
    print(f"{good} of {o.runs} runs good, {(time.time() - start) / max(o.runs, 1) * 1000:.1f} ms each")
    return good, o.runs - good


def victims(how, procs, mpirun):
    keeper = [p for p, c in procs.items() if "oxmpid" in c.split(" ")[0]]
    ranks = [p for p, c in procs.items() if p != mpirun and p not in keeper]
    return {"one rank": ranks[-1:], "all ranks": ranks, "mpirun": [mpirun], "keeper": keeper,
            "mpirun and keeper": [mpirun] + keeper, "everything": [mpirun] + keeper + ranks}[how]


def kills(o, prog, ours):
    ways = [(w, signal.SIGKILL) for w in ("one rank", "all ranks", "mpirun", "keeper", "mpirun and keeper", "everything")]
    ways += [("mpirun", signal.SIGTERM), ("mpirun", signal.SIGINT), ("one rank", signal.SIGSEGV), ("keeper", signal.SIGTERM)]
    good = 0
    for i in range(o.kills):
        how, sig = ways[i % len(ways)]
        shell = i // len(ways) % 2
        pace = "s" if i % 3 else "b"
        cmd = ["sh", "-c", f"{prog} {pace}; exit $?"] if shell else [prog, pace]
        mark, before = uuid.uuid4().hex, litter()
        p = subprocess.Popen([f"{o.prefix}/bin/mpirun", "-n", "4", "--oversubscribe", *cmd], env=env_with(mark),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        name = f"kill {i}: {how} by {signal.Signals(sig).name}{', through sh -c' if shell else ''}"
        word = ""
        try:
            if p.stdout.readline().strip() != "up":
                word = "did not come up"
            time.sleep(0.02 * (i % 4))
            for v in victims(how, marked(mark), p.pid):
                try:
                    os.kill(v, sig)
                except ProcessLookupError:
                    pass
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                word = "mpirun did not end in 20 s"
                p.kill()
                p.wait()
            if p.returncode == 0:
                word = "exit status 0"
        finally:
            p.stdout.close(); err = p.stderr.read() if not word.startswith("mpirun did") else ""; p.stderr.close()
        rest = left_over(mark, before, ours)
        if word or rest:
            print(f"{name}: {word} {rest}\n{err[-600:]}", flush=True)
        else:
            good += 1
            if o.verbose:
                print(f"{name}: exit {p.returncode}; {' / '.join(err.split(chr(10))[:3])}", flush=True)
    print(f"{good} of {o.kills} kills left nothing and were seen")
    return good, o.kills - good


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("prefix"); ap.add_argument("--runs", type=int, default=0); ap.add_argument("--kills", type=int, default=0)
    ap.add_argument("--verbose", action="store_true")
    o = ap.parse_args()
    o.prefix = os.path.abspath(o.prefix)
    with tempfile.TemporaryDirectory(prefix="soak.") as d:
        with open(f"{d}/p.c", "w") as f:
            f.write(PROGRAM)
        subprocess.run([f"{o.prefix}/bin/mpicc", "-O1", f"{d}/p.c", "-o", f"{d}/p"], check=True)
        a, b = runs(o, f"{d}/p", {d}) if o.runs else (0, 0)
        c, e = kills(o, f"{d}/p", {d}) if o.kills else (0, 0)
    print(f"{a + c} passed, {b + e} failed")
    sys.exit(1 if b + e else 0)


if __name__ == "__main__":
    main()
