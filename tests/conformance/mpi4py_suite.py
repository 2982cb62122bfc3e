#!/usr/bin/env python3
"""Run mpi4py's own tests, module by module, with any MPI, and count them.

    pip download --no-binary mpi4py --no-deps mpi4py==4.1.2     # the tests are in the sdist
    mpi4py_suite.py mpi4py-4.1.2/test --np 1,2,4 --json out.json \\
        --mpirun 'mpirun -n {np}' --python python3 [--pythonpath DIR]

The Python named must be able to import an mpi4py that fits the MPI: for the
standard ABI build it from the sdist with MPI4PY_BUILD_MPICC=<mpicc> (and
MPI4PY_BUILD_MPIABI=1), which links it with libmpi_abi.so.1, and
put the folder it was installed to in --pythonpath.

Each module is a launch of its own with its own time limit, so that a crash or
a hang costs that module's rest only. Every process notes each test as it goes;
a test's result is the worst of the processes'. A test that was begun and never
ended is 'crash' or, when the limit ended it, 'hang'; those after it in the
module do not appear, so compare the counts with those of another MPI.

With --trace TOOL.so (made by tracer.py) every test's MPI calls are noted too, and
--calls OUT.json holds them, united over processes and numbers of ranks.
"""
import argparse, collections, glob, json, os, re, shlex, signal, subprocess, sys
import tempfile, time, uuid

NOTES = r"""
import os, sys, unittest
log = open(os.environ['M4P_LOG'] + '.' + str(os.getpid()), 'w', buffering=1)
def note(word, test):
    log.write(word + '\t' + test.id() + '\n')
R = unittest.TextTestResult
for name, word in dict(startTest='begin', addSuccess='pass', addFailure='fail',
                       addError='error', addSkip='skip', addExpectedFailure='pass',
                       addUnexpectedSuccess='fail').items():
    def wrap(old=getattr(R, name), word=word):
        def new(self, test, *args):
            note(word, test)
            return old(self, test, *args)
        return new
    setattr(R, name, wrap())
def sub(self, test, subtest, err, old=R.addSubTest):
    if err is not None:
        note('fail', test)
    return old(self, test, subtest, err)
R.addSubTest = sub
if os.environ.get('M4P_TRACE'):
    import ctypes
    tool = ctypes.CDLL(None)
    tool.mpi_trace_name.restype = ctypes.c_char_p
    every = range(tool.mpi_trace_count())
    def taken():
        return ','.join(tool.mpi_trace_name(i).decode() for i in every if tool.mpi_trace_take(i))
    for name in ('startTest', 'stopTest'):
        # What ran since the last test ended (import, setUpClass) counts for the test that follows.
        def wrap(old=getattr(R, name)):
            def new(self, test):
                log.write('calls\t' + test.id() + '\t' + taken() + '\n')
                return old(self, test)
            return new
        setattr(R, name, wrap())
"""
INSIDE = NOTES + r"""
sys.path.insert(0, os.getcwd())
sys.dont_write_bytecode = True
if __name__ == '__main__':       # worker processes import this file too
    from main import main
    main(module=None)
"""
RANK = ["skip", "pass", "fail", "error", "crash", "hang"]


def sweep(mark):
    want = f"M4P_LOG={mark}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if want in f.read():
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass


# Modules that look at their own main program: they are run as that, and note
# their tests because Python loads `sitecustomize` first.
PROGRAMS = {"test_futures": {"test_futures": [], "test_futures_shared": ["-m", "mpi4py.futures"]}}


def run_module(o, module, np, env, script, program=None):
    mark = os.path.join(tempfile.gettempdir(), "m4p." + uuid.uuid4().hex)
    cmd = shlex.split(o.mpirun.format(np=np)) + [o.python, script, "--no-builddir"]
    cmd += ["-i", module + r"\.py$"] + shlex.split(o.extra)
    if program is not None:
        cmd = shlex.split(o.mpirun.format(np=np)) + [o.python] + program + [module + ".py"]
        # Processes that are started with -P look for the other modules in no folder of their own.
        folders = [os.path.dirname(script), o.tests, env.get("PYTHONPATH", "")]
        env = dict(env, PYTHONPATH=os.pathsep.join(folders))
    start, over = time.time(), False
    with open(mark + ".out", "wb") as f:
        p = subprocess.Popen(cmd, cwd=o.tests, env=dict(env, M4P_LOG=mark), stdin=subprocess.DEVNULL,
                             stdout=f, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            rc = p.wait(o.timeout)
        except subprocess.TimeoutExpired:
            over, rc = True, -1
            os.killpg(p.pid, signal.SIGTERM)
            try:
                p.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()
    sweep(mark)
    tests, calls = {}, {}
    for path in glob.glob(mark + ".[0-9]*"):
        mine = {}
        for line in open(path, errors="replace"):
            word, _, name = line.rstrip("\n").partition("\t")
            if word == "calls":
                name, _, used = name.partition("\t")
                calls.setdefault(name, set()).update(filter(None, used.split(",")))
            elif word == "begin":
                mine[name] = "hang" if over else "crash"
            elif not name.startswith("setUp"):
                old = mine.get(name)
                if old in ("fail", "error"):
                    continue
                mine[name] = word
            else:
                mine[name] = word
        for name, word in mine.items():
            if name not in tests or RANK.index(word) > RANK.index(tests[name]):
                tests[name] = word
        os.unlink(path)
    text = open(mark + ".out", errors="replace").read()
    os.unlink(mark + ".out")
    return dict(module=module, np=np, rc=rc, over=over, secs=round(time.time() - start, 1),
                tests=tests, calls=calls, tail="" if rc == 0 else text[-4000:])


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("tests", help="mpi4py's folder test")
    ap.add_argument("--mpirun", default="mpirun -n {np}")
    ap.add_argument("--python", default="python3")
    ap.add_argument("--pythonpath", default="")
    ap.add_argument("--np", default="1,2,4")
    ap.add_argument("--timeout", type=float, default=120, help="seconds for a module")
    ap.add_argument("--only", default=".", help="a regular expression on the module's name")
    ap.add_argument("--exclude", default="^$")
    ap.add_argument("--extra", default="", help="options for mpi4py's runner")
    ap.add_argument("--json")
    ap.add_argument("--trace", help="the tool tracer.py made")
    ap.add_argument("--calls", help="with --trace: write the calls of each test here")
    o = ap.parse_args()
    o.tests = os.path.abspath(o.tests)
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    if o.pythonpath:
        env["PYTHONPATH"] = os.path.abspath(o.pythonpath)
    if o.trace:
        env.update(M4P_TRACE="1", LD_PRELOAD=os.path.abspath(o.trace))
    calls = {}
    folder = tempfile.TemporaryDirectory()
    script = os.path.join(folder.name, "m4p_inside.py")
    for name, text in (script, INSIDE), (os.path.join(folder.name, "sitecustomize.py"), NOTES):
        with open(name, "w") as f:
            f.write(text)
    modules = sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(o.tests, "test_*.py")))
    modules = [m for m in modules if re.search(o.only, m) and not re.search(o.exclude, m)]
    out, total = [], collections.Counter()
    for np in map(int, o.np.split(",")):
        count, start = collections.Counter(), time.time()
        runs = [(m, name, program) for m in modules
                for name, program in PROGRAMS.get(m, {m: None}).items()]
        for file, m, program in runs:
            r = run_module(o, file, np, env, script, program)
            r["module"] = m
            for name, used in r.pop("calls").items():
                calls.setdefault(name, set()).update(used)
            out.append(r)
            c = collections.Counter(r["tests"].values())
            count.update(c)
            bad = {k: v for k, v in c.items() if k not in ("pass", "skip")}
            if bad or r["rc"]:
                print(f"np={np} {m}: {dict(c)} exit {r['rc']} {r['secs']}s", flush=True)
                for name, word in sorted(r["tests"].items()):
                    if word not in ("pass", "skip"):
                        print(f"    {word} {name}", flush=True)
            if o.json:
                with open(o.json, "w") as f:
                    json.dump(out, f, indent=1)
        total.update(count)
        print(f"np={np}: " + ", ".join(f"{count[w]} {w}" for w in RANK[1:2] + RANK[2:] + RANK[:1]) +
              f", {time.time() - start:.0f} s", flush=True)
    folder.cleanup()
    if o.calls:
        with open(o.calls, "w") as f:
            json.dump({k: sorted(v) for k, v in sorted(calls.items())}, f, indent=0)
    bad = sum(total[w] for w in RANK[2:])
    print(f"{total['pass']} passed, {bad} failed, {total['skip']} skipped")


if __name__ == "__main__":
    main()
