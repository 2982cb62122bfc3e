#!/usr/bin/env python3
"""Threads of several ranks under load for a given time, in every mode of an installed oxmpi.

    stress.py PREFIX                          2 hours for each mode: 6 seeds of 20 minutes
    stress.py PREFIX --together --idle        all modes side by side, on what the machine has left over
    stress.py PREFIX --minutes 1 --seeds 1 --modes 'stream concurrent'
    stress.py --list | --report               the modes; what --out holds so far

A mode is an assignment of CRIs and a way of progress. The matching engine, the transport, the number of shards and that
of threads are dealt from a deck that holds every combination once; a seed starts in it where the one before it would have
ended if all seeds dealt equally, so six seeds see all of them. The row of jobs is the same for the same seed: for every
card the order test (programs/order.c), then another program: message rates with every byte looked at
(bench/multirate), wildcards, deep queues, mixed calls of many threads; with 1 to 32 CRIs, rings, eager limits and ways
of waiting that differ. The transport `template` takes part where --components names a folder that has it.

A job hangs when its processes have used --cpu seconds of processor time together, or when all their threads sleep
and use none for --asleep seconds; time on the wall says nothing on a busy machine. Nor does processor time, where a thread
that wants a core is not given one: the others use it up waiting for that thread. So each thread that can run must have had
its part since the last quarter of the allowance began (a tenth of an even share, or a hundred time slices); where one has not,
that is noted as starved, and the job gets another allowance, as often as it comes to that. Before a job that hangs is ended, everything
about its processes goes to a folder below --out: stacks with all variables and a core of each (gdb), and what /proc knows.

--out has a JSON file for each mode, written after every job: wall time and processor time, jobs and messages checked for
each seed, how often each combination ran, what did not pass, and which threads were starved. A run that was cut short goes on where it
was. Needs python3, gcc and gdb. Status 1 unless all passed.
"""
import argparse, collections, gzip, itertools, json, os, random, re, shutil, signal, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ASSIGNMENTS = ("stream", "dedicated", "round_robin")
PROGRESS = ("serial", "concurrent")
ENGINES = ("adaptive", "list", "hash", "perpeer", "vector", "fuzzy32", "fuzzy16", "fuzzy8")
SHARDS = (1, 4, 64)
THREADS = (2, 4, 8, 24)
PROGRAMS = {"order": "tests/programs/order.c", "wildcards": "tests/programs/wildcards.c", "threads": "tests/programs/threads.c",
            "deep": "tests/programs/deep.c", "multirate": "bench/multirate/multirate.c"}
TICK = os.sysconf("SC_CLK_TCK")
CORES_KEPT = 3


class Mode:
    """What one mode has done, kept in a file."""

    def __init__(self, assignment, progress, out):
        self.assignment, self.progress = assignment, progress
        self.name = f"{assignment} {progress}"
        self.file = os.path.join(out, self.name.replace(" ", "-") + ".json")
        self.data = dict(mode=self.name, seeds={}, covered={}, not_passed=[], starved=[], transports=[])
        if os.path.exists(self.file):
            with open(self.file) as f:
                self.data.update(json.load(f))
        self.takes_part(card.split()[1] for card in self.data["covered"])

    def seed(self, number):
        empty = dict(wall=0.0, cpu=0.0, next=0, passed=0, failed=0, hung=0, starved=0, messages=0)
        seed = self.data["seeds"].setdefault(str(number), empty)
        seed.setdefault("starved", 0)  # results of before it was counted
        return seed

    def total(self, key):
        return sum(seed.get(key, 0) for seed in self.data["seeds"].values())

    def takes_part(self, transports):
        """What was dealt once belongs to what there is to cover, whatever a later run or report is told."""
        self.data["transports"] = sorted({*self.data["transports"], *transports})

    def save(self):
        self.data["totals"] = {key: self.total(key) for key in ("wall", "cpu", "passed", "failed", "hung", "starved", "messages")}
        with open(self.file + ".new", "w") as f:
            json.dump(self.data, f, indent=1)
        os.replace(self.file + ".new", self.file)

    def line(self):
        transports = self.data["transports"]
        return (f"{self.name}: {self.total('wall') / 60:.1f} min of wall time, {self.total('cpu') / 60:.1f} of processor time, "
                f"{len(self.data['seeds'])} seeds, {self.total('messages')} messages checked, {len(self.data['covered'])} of "
                f"{len(deck_of(self.name, transports))} combinations of {', '.join(transports) or 'no transport'}, {self.total('passed')} jobs passed, {self.total('failed')} failed, {self.total('hung')} hung, "
                f"{self.total('starved')} times starved")


def deck_of(mode, transports):
    deck = list(itertools.product(ENGINES, transports, SHARDS, THREADS))
    random.Random(mode).shuffle(deck)
    return deck


def jobs_of(mode, seed, number, deck, seeds):
    """The jobs of one card: each its ranks, words of the command, parameters, and messages it checks if it does not say."""
    rng = random.Random(f"{mode.name} {seed} {number}")
    engine, transport, shards, threads = deck[((seed - 1) * len(deck) // seeds + number) % len(deck)]
    params = dict(runtime_cri_assignment=mode.assignment, runtime_progress=mode.progress, pml_ob1_matching=engine, pml_ob1_max_shards=shards,
                  btl="self" if transport == "self" else f"{transport},self", runtime_num_cris=rng.choice((1, 2, 3, 4, 8, 20, 32)))
    if transport == "shm":
        params.update(rng.choice(({}, {}, dict(btl_shm_eager_limit=rng.choice(("512", "2k"))), dict(btl_shm_ring_size="64k", pml_ob1_eager_credit="10k"),
                                  dict(btl_shm_virtual_device_count=2), dict(btl_shm_single_copy_mechanism="none"))))
    params.update(rng.choice(({}, {}, dict(mpi_spin_count=1), dict(mpi_spin_count=1, mpi_yield_count=1))))
    ranks = 1 if transport == "self" else rng.choice((2, 2, 4))
    jobs = [(ranks, ["order", threads, rng.choice((300, 1000, 3000)) if transport != "template" else 100], params, 0)]
    if transport != "self":
        jobs.append(other_job(rng, threads, params))
    return f"{engine} {transport} {shards} shards {threads} threads", jobs


def other_job(rng, threads, params):
    kind = rng.choices(("multirate", "threads", "wildcards", "deep"), (6, 2, 1, 1))[0]
    if kind == "threads":
        return rng.choice((2, 3)), ["threads", min(threads, 16)], params, 0
    if kind != "multirate":
        return rng.choice((2, 3)), [kind], params, 0
    window, iterations = rng.choice((1, 7, 64, 128)), rng.choice((5, 30))
    common = ["-v", "-s", rng.choice((0, 1, 8, 64, 200, 1024, 4096, 20000)), "-w", window, "-i", iterations]
    common += rng.choice(([], [], ["-c"])) + rng.choice(([], [], ["-l"]))
    if rng.random() < 0.6:
        pairs = rng.choice((1, 1, 2))
        words = ["-p", "-n", pairs, "-m", pairs, "-t", threads] + rng.choice(([], ["-A"], ["-o"], ["-o", "-A"]))
        return 2 * pairs, ["multirate"] + words + common, params, pairs * threads * window * iterations
    few, receivers_each = rng.choice((1, 2, 4)), rng.choice((1, 2, 4))
    senders, receivers = rng.choice((1, 2)), rng.choice((1, 2))
    words = ["-a", "-n", senders, "-m", receivers, "-x", few, "-y", receivers_each]
    return 2 * max(senders, receivers), ["multirate"] + words + common, params, senders * receivers * few * receivers_each * window * iterations


Thread = collections.namedtuple("Thread", "asleep ticks slices")


class Allowance:
    """Processor time that a job may use before it hangs, in ticks."""

    def __init__(self, ticks):
        self.ticks, self.quarter = ticks, max(1, ticks // 4)
        self.end, self.since = ticks, None

    def look(self, used, threads):
        """None while it lasts; when it is used up, which threads wanted a core and did not have their part of it: with none the job
        hangs, else another allowance begins."""
        if used < self.end - self.quarter:
            return None
        if self.since is None:
            self.since = used, threads
        before, then = self.since
        # Looks may be far apart: the quarter counts from the one that saw it begin.
        if used < before + self.quarter:
            return None
        share = (used - before) / max(1, sum(not thread.asleep for thread in threads.values()))
        starved = []
        for key, thread in threads.items():
            start = then.get(key, Thread(False, 0, 0))
            ticks, slices = thread.ticks - start.ticks, thread.slices - start.slices
            if not thread.asleep and ticks < share / 10 and slices < 100:
                starved.append(dict(process=key[0], thread=key[1], ticks=ticks, slices=slices))
        if starved:
            self.end, self.since = used + self.ticks, None
        return starved


class Processes:
    """A launcher and everything it started: seen in /proc, through parents."""

    def __init__(self, pid):
        self.root = pid

    @staticmethod
    def stat(path):
        """Parent, state, ticks of the processor, and the tick in which it began."""
        try:
            with open(path) as f:
                fields = f.read().rsplit(")", 1)[1].split()
            return int(fields[1]), fields[0], int(fields[11]) + int(fields[12]), int(fields[19])
        except (OSError, IndexError):
            return None

    def all(self):
        parent = {int(p): s for p in os.listdir("/proc") if p.isdigit() and (s := self.stat(f"/proc/{p}/stat"))}
        found, more = {self.root}, True
        while more:
            more = {p for p, s in parent.items() if s[0] in found and p not in found}
            found |= more
        return sorted(p for p in found if p in parent)

    def look(self):
        """Ticks used so far, and the threads: whether each sleeps, its ticks, how many time slices it was given. A thread is
        known by its process, its number and when it began: numbers are used again."""
        used, threads = 0, {}
        for pid in self.all():
            try:
                tasks = os.listdir(f"/proc/{pid}/task")
            except OSError:
                continue
            for task in tasks:
                s = self.stat(f"/proc/{pid}/task/{task}/stat")
                if s:
                    # A thread that is stopped (T) would run if it were let.
                    threads[pid, int(task), s[3]] = Thread(s[1] in "SDZXI", s[2], self.slices(f"/proc/{pid}/task/{task}/schedstat"))
            s = self.stat(f"/proc/{pid}/stat")
            used += s[2] if s else 0
        return used, threads

    @staticmethod
    def slices(path):
        """0 where the kernel does not count them: then processor time alone decides."""
        try:
            with open(path) as f:
                return int(f.read().split()[2])
        except (OSError, IndexError):
            return 0

    def kill(self):
        for pid in reversed(self.all()):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def save(self, folder, programs, cores):
        """Stacks, cores and what /proc knows; the job is still there."""
        os.makedirs(folder, exist_ok=True)
        for pid in self.all():
            try:
                name = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
            except OSError:
                continue
            base = os.path.join(folder, f"{name}.{pid}")
            with open(base + ".proc", "w") as f:
                for task in [str(pid)] + [f"{pid}/task/{t}" for t in sorted(os.listdir(f"/proc/{pid}/task"))]:
                    for what in ("status", "stat", "schedstat", "wchan", "syscall", "stack", *(("maps",) if "/" not in task else ())):
                        try:
                            with open(f"/proc/{task}/{what}") as g:
                                f.write(f"== {task}/{what}\n{g.read()}\n")
                        except OSError as e:
                            f.write(f"== {task}/{what}: {e}\n")
            if name not in programs:
                continue
            gdb = ["gdb", "-p", str(pid), "-batch", "-ex", "set pagination off", "-ex", "thread apply all -q bt full", "-ex", "thread apply all -q info registers"]
            if cores:
                # Shared memory, too: the rings are there.
                gdb += ["-ex", "set use-coredump-filter off", "-ex", f"gcore {base}.core"]
            with open(base + ".gdb", "w") as f:
                try:
                    subprocess.run(gdb, stdout=f, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=1800)
                except (OSError, subprocess.TimeoutExpired) as e:
                    f.write(f"\n{e}\n")
            if os.path.exists(base + ".core"):
                with open(base + ".core", "rb") as core, gzip.open(base + ".core.gz", "wb", 1) as packed:
                    shutil.copyfileobj(core, packed)
                os.remove(base + ".core")


def run(o, binaries, job, hang_folder, cores, starves):
    """One job to its end. `starves` is told of each time that a thread of it did not get its part."""
    ranks, words, params, _ = job
    command = [f"{o.prefix}/bin/mpirun", "-n", str(ranks), "--oversubscribe"]
    for name, value in params.items():
        command += ["--mca", name, str(value)]
    command += [f"{binaries}/{words[0]}", *map(str, words[1:])]
    environment = {**os.environ, "CHECK_COUNT": "1"}
    if o.components:
        environment["OXMPI_MCA_mca_base_component_path"] = o.components
    started, outcome, ticks, allowance = time.time(), None, 0, Allowance(round(o.cpu * TICK))
    with tempfile.TemporaryFile(mode="w+", errors="replace", dir=binaries) as said:
        child = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=binaries, env=environment)
        processes = Processes(child.pid)
        still, looked, beat = 0.0, time.time(), 0.05
        while child.poll() is None:
            time.sleep(beat)
            beat = min(2.0, beat * 1.5)
            now_ticks, threads = processes.look()
            # A gap between two looks counts as one beat: whoever stopped us stopped the job, too.
            gap, looked = min(time.time() - looked, 2 * beat), time.time()
            asleep = all(thread.asleep for thread in threads.values())
            still = still + gap if asleep and now_ticks == ticks else 0.0
            ticks = max(ticks, now_ticks)
            starved = allowance.look(ticks, threads)
            if child.poll() is None and (starved == [] or still > o.asleep):
                outcome = "hung"
                processes.save(hang_folder, PROGRAMS, cores)
                processes.kill()
                child.wait()
            elif starved:
                starves(command, ticks / TICK, starved)
        said.seek(0)
        text = said.read()
    if outcome is None:
        outcome = "passed" if child.returncode == 0 and "is not a parameter" not in text else "failed"
    return dict(outcome=outcome, wall=time.time() - started, cpu=ticks / TICK, said=text, status=child.returncode,
                command=said_as(command))


def said_as(command):
    return "mpirun " + " ".join(command[1:])


def run_mode(o, mode, binaries, deck, stop, print_lock):
    for number in range(o.first, o.first + o.seeds):
        seed = mode.seed(number)
        while seed["wall"] < 60 * o.minutes and not stop.is_set():
            card, jobs = jobs_of(mode, number, seed["next"], deck, o.seeds)
            for job in jobs:
                hang_folder = f"{mode.file[:-5]}-hangs/seed{number}-{seed['next']}-{job[1][0]}"

                def starves(command, cpu, threads):
                    seed["starved"] += 1
                    mode.data["starved"].append(dict(seed=number, number=seed["next"], cpu=cpu, command=said_as(command), threads=threads))
                    with print_lock:
                        print(f"--- {mode.name}, seed {number}: starved after {cpu:.0f} s of processor time, goes on: {said_as(command)}: {threads}", flush=True)

                result = run(o, binaries, job, hang_folder, mode.total("hung") < CORES_KEPT, starves)
                if stop.is_set() and result["outcome"] != "passed":
                    return  # ended by whoever ended us
                seed["wall"] += result["wall"]
                seed["cpu"] += result["cpu"]
                seed[result["outcome"]] += 1
                if result["outcome"] == "passed":
                    seed["messages"] += job[3] + sum(map(int, re.findall(r"^checked (\d+)$", result["said"], re.M)))
                    continue
                row = {key: result[key] for key in ("outcome", "wall", "cpu", "status", "command")}
                row.update(seed=number, number=seed["next"], said=result["said"][-20000:])
                if result["outcome"] == "hung":
                    row["saved"] = hang_folder
                mode.data["not_passed"].append(row)
                with print_lock:
                    print(f"--- {mode.name}, seed {number}: {row['outcome']} after {row['wall']:.0f} s ({row['cpu']:.0f} s of processor time): "
                          f"{row['command']}\n{row['said'][-3000:]}", flush=True)
            mode.data["covered"][card] = mode.data["covered"].get(card, 0) + 1
            seed["next"] += 1
            mode.save()
        if not stop.is_set():
            with print_lock:
                print(f"seed {number} done. {mode.line()}", flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("prefix", nargs="?")
    ap.add_argument("--minutes", type=float, default=20, help="of wall time for one seed")
    ap.add_argument("--seeds", type=int, default=6, help="how many for each mode")
    ap.add_argument("--first", type=int, default=1, help="the first seed")
    ap.add_argument("--modes", default="", help="only modes whose name fits this expression")
    ap.add_argument("--together", action="store_true", help="all modes at the same time")
    ap.add_argument("--idle", action="store_true", help="run under SCHED_IDLE: when nobody else wants a core")
    ap.add_argument("--cpu", type=float, default=400, help="seconds of processor time after which a job hangs")
    ap.add_argument("--asleep", type=float, default=180, help="seconds of sleep of all its threads after which a job hangs")
    ap.add_argument("--components", help="folder with further components; with libbtl_template.so that transport takes part")
    ap.add_argument("--out", default="target/stress", help="folder of results")
    ap.add_argument("--list", action="store_true")
    ap.add_argument("--report", action="store_true")
    o = ap.parse_args()
    o.out = os.path.abspath(o.out)
    chosen = [Mode(a, p, o.out) for a, p in itertools.product(ASSIGNMENTS, PROGRESS) if re.search(o.modes, f"{a} {p}")]
    transports = ["shm", "self"]
    if o.components:
        o.components = os.path.abspath(o.components)
        transports += ["template"] if os.path.exists(f"{o.components}/libbtl_template.so") else []
    decks = {m.name: deck_of(m.name, transports) for m in chosen}
    if o.list:
        print("\n".join(m.name for m in chosen))
        return 0
    if o.report:
        print("\n".join(m.line() for m in chosen))
        return 0
    if not o.prefix:
        ap.error("which PREFIX?")
    o.prefix = os.path.abspath(o.prefix)
    os.makedirs(o.out, exist_ok=True)
    for mode in chosen:
        mode.takes_part(transports)
    if o.idle:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    stop, print_lock = threading.Event(), threading.Lock()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with tempfile.TemporaryDirectory(prefix="stress.") as binaries:
        for name, source in PROGRAMS.items():
            subprocess.run([f"{o.prefix}/bin/mpicc", "-std=gnu11", "-O2", "-g", "-pthread", f"{ROOT}/{source}", "-o", f"{binaries}/{name}"], check=True)
        work = lambda mode: run_mode(o, mode, binaries, decks[mode.name], stop, print_lock)
        if o.together:
            threads = [threading.Thread(target=work, args=(mode,)) for mode in chosen]
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(1)
        else:
            for mode in chosen:
                work(mode)
    print("\n".join(m.line() for m in chosen))
    bad = sum(m.total("failed") + m.total("hung") for m in chosen)
    return 1 if bad or not all(m.total("passed") for m in chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
