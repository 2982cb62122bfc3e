#!/usr/bin/env python3
"""The figures of Scalable Communication Endpoints for MPI+Threads Applications (Zambre et al., ICPADS 2018) in one command: builds the device in
software and the programs, runs them, and draws figures 2b, 3, 5 to 12 and 14.

    figures.py [OUT] [--quick] [--headers DIR]       OUT: target/bench/verbs

Objects and events of a message are counted. Rates are of a model: the events times the costs in costs.toml, which names the source of each. OUT gets
a picture for each figure, rate on the left, objects on the right; figures.csv with all numbers; index.html. The verbs headers are taken from the
system, from DIR, or from Debian's package, which apt fetches.
"""
import argparse
import csv
import html
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CATEGORIES = ["mpi_everywhere", "2xdynamic", "dynamic", "shared_dynamic", "static", "mpi_threads"]
FEATURES = ["", "inline", "postlist", "unsignaled", "blueflame"]
OBJECTS = [("qps", "QP"), ("cqs", "CQ"), ("uar_pages", "UAR"), ("uuars", "uUAR")]
COUNTS = [1, 2, 4, 8, 16]


# ---- building and running ----

def run(command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def headers(given, folder):
    for place in filter(None, [given, "/usr/include"]):
        if (Path(place) / "infiniband/verbs.h").is_file():
            return Path(place)
    run(["apt-get", "download", "libibverbs-dev"], cwd=folder, timeout=60)
    for package in folder.glob("libibverbs-dev_*.deb"):
        run(["dpkg-deb", "-x", package, folder / "headers"])
    return folder / "headers/usr/include"


def build(folder, include):
    run(["cargo", "build", "--release", "-q", "-p", "oxmpi-verbs-fake"], cwd=ROOT)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    library = folder / "libibverbs.so.1"
    run(["cc", "-shared", "-Wl,-soname,libibverbs.so.1", "-Wl,--whole-archive", target / "liboxmpi_verbs_fake.a", "-Wl,--no-whole-archive",
         f"-Wl,--version-script={ROOT / 'devices/verbs/libibverbs.map'}", "-lpthread", "-ldl", "-lm", "-lgcc_s", "-o", library])
    for program in ["rate", "dgemm", "stencil"]:
        run(["cc", "-O2", "-pthread", "-I", include, HERE / f"{program}.c", HERE / "endpoints.c", library, "-ldl", "-o", folder / program])


class Programs:
    """Runs a program once for each set of arguments, and remembers what it printed."""

    def __init__(self, folder, messages):
        self.folder, self.messages, self.known = folder, messages, {}

    def __call__(self, program, *arguments):
        key = (program, *map(str, arguments))
        if key not in self.known:
            setup = f"fabric=figures{os.getpid()},uar=static,patched=1"
            env = {**os.environ, "LD_LIBRARY_PATH": str(self.folder), "OXMPI_FAKE_VERBS": setup}
            out = run([self.folder / program, *key[1:]], env=env, timeout=300)
            pairs = (word.split("=", 1) for word in out.split() if "=" in word)
            self.known[key] = {n: float(v) for n, v in pairs if v.replace(".", "", 1).isdigit()}
        return self.known[key]

    def rate(self, threads, *arguments):
        return {**self("rate", "-t", threads, "-n", self.messages, *arguments), "threads": threads}


# ---- the model ----

class Model:
    def __init__(self):
        costs = tomllib.loads((HERE / "costs.toml").read_text())
        self.thread = {name: cost["ns"] for name, cost in costs["thread"].items()}
        self.handover = costs["shared"]["handover"]["ns"]
        self.line_read = costs["card"]["line_read"]["ns"]
        self.card = costs["card"]["messages"]["per_second"]
        self.lines = costs["bus"]["bytes"]["per_second"] / costs["bus"]["line"]["bytes"]

    def posting(self, got):
        plain = got["doorbells"] - got["blue_flames"]
        return self.thread["request"] + got["blue_flames"] * self.thread["blue_flame"] + plain * self.thread["doorbell"]

    def nanoseconds(self, got):
        """A message's part of its thread."""
        locks = (got["qp_locks"] + got["uuar_locks"] + got["cqe_writes"]) * self.thread["lock"]
        return (self.posting(got) + locks + got["cqe_writes"] * self.thread["completion"] + got["shared_pages"] * self.thread["shared_page"]
                + got["shared_doorbells"] * self.handover)

    def rate(self, got, threads, qp=1, cq=1):
        """Messages in a second. `qp` and `cq`: threads that share one."""
        limits = [threads * 1e9 / self.nanoseconds(got), self.card]
        if qp > 1:
            limits.append(threads / qp * 1e9 / (self.posting(got) + got["qp_locks"] * self.handover))
        if cq > 1:
            limits.append(threads / cq * 1e9 / (got["cqe_writes"] * (self.thread["completion"] + self.handover)))
        crossings = got["wqe_reads"] + got["payload_reads"] + got["cqe_writes"]
        if crossings:
            limits.append(self.lines / crossings)
        if got["payload_reads"]:
            limits.append(got.get("lines", threads) * 1e9 / self.line_read / got["payload_reads"])
        return min(limits)


# ---- the figures: a list of lines (label, [(x, value)]) on the left, of bars on the right ----

def millions(rate):
    return rate / 1e6


def without(feature):
    return f"All w/o {feature.capitalize()}" if feature else "All"


def features(feature):
    return ["-w", feature] if feature else []


def objects(rows):
    """Bars of objects by place."""
    return [(label, [(x, got[name]) for x, got in rows]) for name, label in OBJECTS]


def fig2b(programs, model):
    left, right = [], []
    for category, label in [("mpi_everywhere", "a process each"), ("mpi_threads", "one endpoint of all")]:
        rows = [(t, programs.rate(t, "-c", category, "-p", 1, "-q", 1)) for t in COUNTS]
        shared = category == "mpi_threads"
        left.append((label, [(t, millions(model.rate(g, t, t if shared else 1, t if shared else 1))) for t, g in rows]))
        right.append((f"wasted registers, {label}", [(t, g["uuars"] - g["qps"]) for t, g in rows]))
    return left, right


def fig3(programs, model):
    left = []
    for feature in FEATURES:
        rows = [(t, programs.rate(t, *features(feature))) for t in COUNTS]
        left.append((without(feature), [(t, millions(model.rate(g, t))) for t, g in rows]))
    return left, objects([(t, programs.rate(t)) for t in COUNTS])


def sharing(name, lines=FEATURES):
    def figure(programs, model):
        left = []
        for feature in lines:
            points = []
            for ways in COUNTS:
                got = programs.rate(16, "-S", f"{name}={ways}", *features(feature))
                points.append((ways, millions(model.rate(got, 16, ways if name == "qp" else 1, ways if name in ("qp", "cq") else 1))))
            left.append((without(feature), points))
        return left, objects([(ways, programs.rate(16, "-S", f"{name}={ways}")) for ways in COUNTS])
    return figure


def fig6(programs, model):
    left, right = [], []
    for label, option in [("aligned", []), ("on one line", ["-u"])]:
        rows = [(t, programs.rate(t, "-w", "inline", *option)) for t in COUNTS]
        left.append((label, [(t, millions(model.rate(g, t))) for t, g in rows]))
        reads = [(t, g["payload_reads"] * t * programs.messages / g["lines"]) for t, g in rows]
        right.append((f"reads of each line, {label}", reads))
    return left, right


def fig7(programs, model):
    left, right = sharing("context")(programs, model)
    for label, category in [("2xQPs", "2xdynamic"), ("Sharing 2", "shared_dynamic")]:
        rows = []
        for ways in COUNTS:
            one_context = [word for name in ("context", "pd", "mr") for word in ("-S", f"{name}={ways}")]
            rows.append((ways, programs.rate(16, "-c", category, *one_context, "-w", "postlist")))
        left.append((f"All w/o Postlist {label}", [(w, millions(model.rate(g, 16))) for w, g in rows]))
        right.append((f"UAR, {label}", [(w, g["uar_pages"]) for w, g in rows]))
    return left, right


def fig8(programs, model):
    left = []
    for name in ["pd", "mr"]:
        left += [(f"{name.upper()}, {label}", points) for label, points in sharing(name)(programs, model)[0]]
    return left, sharing("pd")(programs, model)[1]


def fig10(programs, model):
    left, right = [], []
    for postlist, into in [(32, left), (1, right)]:
        for ways in COUNTS:
            points = []
            for period in [1, 4, 16, 64]:
                got = programs.rate(16, "-p", postlist, "-q", period, "-S", f"cq={ways}")
                points.append((period, millions(model.rate(got, 16, 1, ways))))
            into.append((f"{ways} share", points))
    return left, right


def shared_in(category, threads):
    return threads if category == "mpi_threads" else 1


def fig12(programs, model):
    reads, writes, rows = [], [], []
    for at, category in enumerate(CATEGORIES):
        got = programs("dgemm", "-t", 16, "-c", category, "-T", 2, "-g", 8)
        ways = shared_in(category, 16)
        # A read brings data, and takes none from memory; a write takes that of both kinds.
        share = got["writes"]
        reads.append((at, millions(model.rate({**got, "payload_reads": 0, "lines": 16}, 16, ways, ways))))
        writes.append((at, millions(model.rate({**got, "payload_reads": got["payload_reads"] / share, "lines": 16}, 16, ways, ways))))
        rows.append((at, got))
    return [("reads", reads), ("writes", writes)], objects(rows)


SHAPES = [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)]


def fig14(programs, model):
    left, right = [], []
    for category in CATEGORIES:
        rates, registers = [], []
        for at, (ranks, threads) in enumerate(SHAPES):
            got = programs("stencil", "-r", ranks, "-t", threads, "-c", category)
            registers.append((at, ranks * got["uuars"]))
            # A thread alone in its context writes to both registers of a page itself, one after the other.
            if threads == 1 or category == "mpi_everywhere":
                got = {**got, "shared_pages": 0}
            ways = shared_in(category, threads)
            rates.append((at, millions(min(ranks * model.rate({**got, "lines": 64}, threads, ways, ways), model.card))))
        left.append((category, rates))
        right.append((f"uUAR, {category}", registers))
    return left, right


RATE, COUNTED = "million messages/s, of a model", "counted"
FIGURES = [
    ("fig2b", "Both extremes by threads", "threads", fig2b, RATE, "registers"),
    ("fig3", "A context, a thread domain and a queue pair for each thread", "threads", fig3, RATE, COUNTED),
    ("fig5", "A buffer shared by so many of 16 threads", "threads that share", sharing("buffer"), RATE, COUNTED),
    ("fig6", "Buffers on lines of their own and on one line, without inline", "threads", fig6, RATE, "reads of a line of memory"),
    ("fig7", "A context shared by so many of 16 threads", "threads that share", fig7, RATE, COUNTED),
    ("fig8", "A protection domain, a registration shared", "threads that share", fig8, RATE, COUNTED),
    ("fig9", "A completion queue shared", "threads that share", sharing("cq"), RATE, COUNTED),
    ("fig10", "A completion queue shared, by the period of signals: lists of 32 (left) and of 1", "requests for each signal", fig10, RATE, RATE),
    ("fig11", "A queue pair shared", "threads that share", sharing("qp"), RATE, COUNTED),
    ("fig12", "Global arrays by category, 16 threads", " · ".join(CATEGORIES), fig12, RATE, COUNTED),
    ("fig14", "A stencil of five points, ranks.threads", " · ".join(f"{r}.{t}" for r, t in SHAPES), fig14, RATE, "registers of all ranks"),
]


# ---- pictures ----

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999", "#7b3294", "#a6611a"]
WIDE, HIGH, EDGE = 520, 300, 52


def panel(left, lines, x_name, y_name):
    xs = sorted({x for _, points in lines for x, _ in points})
    most = max((y for _, points in lines for _, y in points), default=1) or 1
    across = lambda x: left + EDGE + (WIDE - EDGE - 10) * (xs.index(x) + 0.5) / len(xs)
    up = lambda y: HIGH - 30 - (HIGH - 60) * y / most
    parts = [f'<rect x="{left + EDGE}" y="30" width="{WIDE - EDGE - 10}" height="{HIGH - 60}" fill="none" stroke="#888"/>']
    for tick in range(5):
        value = most * tick / 4
        parts.append(f'<text x="{left + EDGE - 4}" y="{up(value) + 4:.0f}" text-anchor="end">{value:.3g}</text>')
    parts += [f'<text x="{across(x):.0f}" y="{HIGH - 16}" text-anchor="middle">{x}</text>' for x in xs]
    parts.append(f'<text x="{left + EDGE}" y="22">{html.escape(y_name)}</text>')
    parts.append(f'<text x="{left + WIDE - 10}" y="{HIGH - 2}" text-anchor="end">{html.escape(x_name)}</text>')
    for at, (label, points) in enumerate(lines):
        colour = COLOURS[at % len(COLOURS)]
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(f'<text x="{left + EDGE}" y="{HIGH + 16 + 14 * at}" fill="{colour}">{html.escape(label)}</text>')
    return parts


def picture(title, x_name, halves):
    rows = max(len(lines) for lines, _ in halves)
    high = HIGH + 20 + 14 * rows
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDE} {high}" font-family="sans-serif" font-size="11">',
             f'<title>{html.escape(title)}</title>', '<rect width="100%" height="100%" fill="white"/>']
    for at, (lines, y_name) in enumerate(halves):
        parts += panel(at * WIDE, lines, x_name, y_name)
    return "\n".join([*parts, "</svg>\n"])


def main():
    ask = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ask.add_argument("out", nargs="?", default=ROOT / "target/bench/verbs", type=Path)
    ask.add_argument("--quick", action="store_true", help="few messages: counts are nearly the same, and so are rates")
    ask.add_argument("--headers", help="folder with infiniband/verbs.h")
    given = ask.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    body, rows = [], []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        build(folder, headers(given.headers, folder))
        programs, model = Programs(folder, 128 if given.quick else 1024), Model()
        for name, title, x_name, figure, left_name, right_name in FIGURES:
            left, right = figure(programs, model)
            (given.out / f"{name}.svg").write_text(picture(title, x_name, [(left, left_name), (right, right_name)]))
            for half, lines in [(left_name, left), (right_name, right)]:
                rows += [[name, half, label, x, f"{y:.6g}"] for label, points in lines for x, y in points]
            body.append(f'<h2>{name}: {html.escape(title)}</h2><img src="{name}.svg" alt="{html.escape(title)}">')
            print(f"{name}: {title}", flush=True)
    with (given.out / "figures.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["figure", "quantity", "line", "x", "value"], *rows])
    costs = html.escape((HERE / "costs.toml").read_text())
    text = "Objects and events are counted on the device in software. Rates are of a model, whose costs stand below."
    page = f"<!doctype html><title>Scalable endpoints</title><h1>Scalable endpoints</h1><p>{text}</p>{''.join(body)}<h2>Costs</h2><pre>{costs}</pre>"
    (given.out / "index.html").write_text(page)
    print(given.out / "index.html")


if __name__ == "__main__":
    main()
