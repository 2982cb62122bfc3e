#!/usr/bin/env python3
"""Runs rate, dgemm and stencil with every category and every object shared, and prints tables beside those of the paper
(Scalable Communication Endpoints for MPI+Threads Applications, ICPADS 2018).

    tables.py FOLDER [--quick]        FOLDER has the programs

Rates over a device in software say something of that device alone; counts are the driver's rules.
"""
import subprocess
import sys

THREADS = 16
CATEGORIES = ["mpi_everywhere", "td_per_context", "2xdynamic", "dynamic", "shared_dynamic", "static", "mpi_threads"]
FEATURES = ["", "inline", "blueflame", "postlist", "unsignaled"]
OBJECTS = ["buffer", "context", "pd", "mr", "cq", "qp"]


def closed_form(category, t):
    """Contexts, queue pairs, completion queues, pages, registers and kilobytes of the paper's model."""
    pairs = {"2xdynamic": 2 * t, "mpi_threads": 1}.get(category, t)
    contexts = t if category in CATEGORIES[:2] else 1
    pages = {
        "mpi_everywhere": 8 * t,
        "td_per_context": 9 * t,
        "2xdynamic": 8 + 2 * t,
        "dynamic": 8 + t,
        "shared_dynamic": 8 + (t + 1) // 2,
    }.get(category, 8)
    return {
        "contexts": contexts,
        "qps": pairs,
        "cqs": pairs,
        "uar_pages": pages,
        "uuars": 2 * pages,
        "kilobytes": 256 * contexts + 89 * pairs,
    }


def run(folder, program, *arguments):
    command = [f"{folder}/{program}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    pairs = (word.split("=", 1) for word in done.stdout.split() if "=" in word)
    return {name: float(value) for name, value in pairs if name not in [*OBJECTS, "without"]}


def row(cells):
    print("| " + " | ".join(str(c) for c in cells) + " |")


def table(title, heads):
    print(f"\n## {title}\n")
    row(heads)
    row(["---"] * len(heads))


def resources(folder, messages):
    names = list(closed_form("static", THREADS))
    table(f"Resources of {THREADS} threads: counted (paper)", ["category", *names, "rate of dynamic's"])
    all_of = {c: run(folder, "rate", "-t", THREADS, "-c", c, "-n", messages) for c in CATEGORIES}
    for category, got in all_of.items():
        form = closed_form(category, THREADS)
        cells = [f"{got[n]:.0f} ({form[n]})" if n in got else f"? ({form[n]})" for n in names]
        row([category, *cells, f"{got['rate'] / all_of['dynamic']['rate']:.2f}"])


def sharing(folder, messages):
    heads = ["object", "ways", *(f"without {f}" if f else "all features" for f in FEATURES), "QP, uUAR, CQ locks a message"]
    table("An object shared: rate of that of a domain and context each", heads)
    base = {f: run(folder, "rate", "-t", THREADS, "-n", messages, *(["-w", f] if f else []))["rate"] for f in FEATURES}
    for name in OBJECTS:
        ways = 2
        while ways <= THREADS:
            cells, locks = [], ""
            for f in FEATURES:
                got = run(folder, "rate", "-t", THREADS, "-n", messages, "-S", f"{name}={ways}", *(["-w", f] if f else []))
                cells.append(f"{got['rate'] / base[f]:.2f}")
                if not f and "qp_locks" in got:
                    locks = f"{got['qp_locks']:.3f}, {got['uuar_locks']:.3f}, {got['cq_locks']:.3f}"
            row([name, ways, *cells, locks])
            ways *= 2


def completion_queues(folder, messages):
    periods = [1, 4, 16, 64]
    table("A completion queue shared (fig. 10): rate by the period of signals", ["postlist", "ways", *periods])
    for postlist in [1, 32]:
        base = None
        for ways in [1, 2, 4, 8, 16]:
            options = ["-t", THREADS, "-n", messages, "-p", postlist, "-S", f"cq={ways}"]
            rates = [run(folder, "rate", *options, "-q", q)["rate"] for q in periods]
            base = base or rates
            row([postlist, ways, *(f"{r / b:.2f}" for r, b in zip(rates, base))])


def applications(folder):
    table("Global arrays (16 threads) and stencil: seconds, requests' locks and doorbells", ["category", "dgemm", "locks", "doorbells",
          "stencil 16.1", "8.2", "4.4", "2.8", "1.16", "pages of a rank of 4.4"])
    for category in CATEGORIES:
        product = run(folder, "dgemm", "-t", THREADS, "-c", category)
        grids = [run(folder, "stencil", "-r", r, "-t", t, "-c", category) for r, t in [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)]]
        row([category, f"{product['seconds']:.3f}", product.get("locks", ""), product.get("doorbells", ""),
             *(f"{g['seconds']:.3f}" for g in grids), f"{grids[2].get('uar_pages', 0):.0f}"])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder, quick = sys.argv[1], "--quick" in sys.argv
    messages = 64 if quick else 4000
    print("# Endpoints by verbs")
    resources(folder, messages)
    if not quick:
        sharing(folder, messages)
        completion_queues(folder, messages)
    applications(folder)


if __name__ == "__main__":
    main()
