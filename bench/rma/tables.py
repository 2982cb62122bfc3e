#!/usr/bin/env python3
"""Makes the tables of Hjelm et al. (ICPP 2018) of what the driver measured.

    tables.py FOLDER [--out FOLDER] [--most-threads 32]

FOLDER has the driver's rma-put-fence.csv to rma-get-flush.csv, perhaps fig5.5-*.csv, rma-cg.csv and rma-patches.csv. Printed, as
Markdown:

* Tables 1 to 3: osc-rdma against osc-pt2pt of our library as 48 pairs of means, over all that the table does not tell apart: put
  and get (8 pairs), threads (24 with six numbers of them), synchronisation (16); messages up to 16 KiB and longer ones; bandwidth, and
  latency by the mean of threads. Behind each the difference in per cent, its sign (+ rdma is better, - worse, = it rounds to
  nothing), and the paper's.
* The full matrix: put, get x synchronisation x threads x size class x bandwidth, latency. Written to matrix.csv, too.
* Tables 4 and 5: libraries beside each other by medians, with flush, up to 64 bytes, up to 16 KiB and above; latency is the slowest
  thread's. Ours is osc-rdma.
* Figure 1: bandwidth and latency under lock_all by bytes and threads, medians and standard deviations.
* Figure 5.5 of the dissertation: puts by assignment and progress, and what the library counts for each put.
* Conjugate gradients and patches: every quantity of each form, by ranks or threads; whether all forms end at the same residual.

Cells that nothing was measured for are marked "?", and their number is told. Standard library only.
"""

import argparse
import collections
import csv
import pathlib
import statistics
import sys

OPERATIONS = ("get", "put")
# Those of tables 1 to 3; tables 4 and 5 have flush as well.
SYNCS = ("fence", "lock", "lock_all", "pscw")
SMALL = 16384
CLASSES = (("small", "up to 16 KiB"), ("large", "above 16 KiB"))
BINS = (("up to 64 B", 0, 64), ("up to 16 KiB", 65, SMALL), ("above 16 KiB", SMALL + 1, float("inf")))
COMPONENTS = ("pt2pt", "rdma")
LATENCY = {"mean": "latency", "slowest": "latency of the slowest thread"}

# Values that the paper prints, in per cent of pt2pt: bandwidth small, large, latency small, large.
PAPER = {
    "get": (92, 40, -11, -35),
    "put": (98, 54, -8, -28),
    1: (194, 21, -24, -19),
    2: (138, 30, -18, -23),
    4: (32, 53, 3, -32),
    8: (-29, 68, 4, -35),
    16: (-42, 83, 1, -33),
    32: (-56, 102, -13, -33),
    "fence": (79, 77, 15, -24),
    "lock": (107, 43, -24, -36),
    "lock_all": (97, 41, -18, -35),
    "pscw": (79, 77, 0, -32),
}


# Whole programs: title, and how their x is called.
PROGRAMS = {"rma-cg": ("Figures 1e and 1f: conjugate gradients", "ranks"), "rma-patches": ("Figure 2: patches", "threads")}


class Point(collections.namedtuple("Point", "library component operation sync threads bytes")):
    """Where something was measured; `component` is empty for other libraries."""


class Data:
    """Values by point and quantity (`bandwidth` or a latency), each a list with one for each round."""

    def __init__(self):
        self.values = collections.defaultdict(dict)
        self.counted = []
        self.programs = {}
        self.unverified = 0

    def read(self, folder):
        """All files of a folder that the driver wrote. Raises ValueError with the place of what is no such file."""
        found = 0
        for path in sorted(pathlib.Path(folder).glob("*.csv")):
            if path.name.startswith("rma-") and path.stem.count("-") == 2:
                found += 1
                self.read_case(path)
            elif path.name.startswith("fig5.5"):
                self.counted += rows_of(path)
            elif path.stem in PROGRAMS:
                self.programs[path.stem] = rows_of(path)
        if not found:
            raise ValueError(f"{folder}: no rma-put-fence.csv or the like")
        return self

    def read_case(self, path):
        _, operation, sync = path.stem.split("-")
        for number, row in enumerate(rows_of(path), 2):
            if not row["median"]:
                continue
            try:
                # "rdma, 8 threads" of ours, "8 threads" of others.
                component, _, threads = row["series"].rpartition(", ")
                threads = int(threads.removesuffix(" threads"))
                values = [float(value) for value in row["values"].split()] or [float(row["median"])]
                point = Point(row["library"], component, operation, sync, threads, int(row["x"]))
            except (KeyError, ValueError) as error:
                raise ValueError(f"{path}:{number}: {error}") from error
            if row["quantity"] == "value":
                self.unverified += row["verified"] != "true"
            quantity = "bandwidth" if row["quantity"] == "value" else row["quantity"]
            self.values[point][quantity] = values

    def select(self, quantity, **wanted):
        """Medians of the rounds at all points that are as wanted; a value may be a function that says yes."""
        found = []
        for point, quantities in self.values.items():
            if quantity in quantities and all(
                want(getattr(point, name)) if callable(want) else getattr(point, name) == want
                for name, want in wanted.items()
            ):
                found.append(statistics.median(quantities[quantity]))
        return found

    def all(self, name, **wanted):
        """What there is of a field, in order."""
        return sorted({getattr(p, name) for p in self.values if all(getattr(p, k) == v for k, v in wanted.items())})


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def in_class(name):
    return (lambda n: n <= SMALL) if name == "small" else (lambda n: n > SMALL)


def sign(per_cent, more_is_better):
    """Of a difference as it is printed."""
    rounded = round(per_cent)
    if rounded == 0:
        return "="
    return "+" if (rounded > 0) == more_is_better else "-"


class Pair:
    """rdma against pt2pt in one cell: a mean of each, or nothing."""

    def __init__(self, data, quantity, **wanted):
        of = [data.select(quantity, component=component, **wanted) for component in COMPONENTS]
        self.pt2pt, self.rdma = (statistics.fmean(values) if values else None for values in of)
        self.more_is_better = quantity == "bandwidth"

    @property
    def per_cent(self):
        if self.pt2pt is None or self.rdma is None or self.pt2pt == 0:
            return None
        return (self.rdma / self.pt2pt - 1) * 100

    @property
    def sign(self):
        return "?" if self.per_cent is None else sign(self.per_cent, self.more_is_better)

    def text(self, paper=None):
        if self.per_cent is None:
            return "?"
        text = f"{number(self.pt2pt)} : {number(self.rdma)}, {round(self.per_cent):+d} % ({self.sign})"
        if paper is not None:
            text += f" [{paper:+d} % ({sign(paper, self.more_is_better)})]"
        return text


def number(value):
    """Three digits that count."""
    if value is None:
        return "?"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def score(pairs):
    count = collections.Counter(pair.sign for pair in pairs)
    missing = f", {count['?']} not measured" if count["?"] else ""
    return f"{len(pairs)} pairs: rdma wins {count['+']}, loses {count['-']}, ties {count['=']}{missing}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


COLUMNS = [
    (what, quantity, size) for what, quantity in (("MiB/s", "bandwidth"), ("us", LATENCY["mean"])) for size, _ in CLASSES
]


def means(data, field, keys, most_threads, library):
    """A row for each key, and all pairs."""
    pairs, rows = [], []
    for key in keys:
        row = []
        for place, (_, quantity, size) in enumerate(COLUMNS):
            wanted = {"library": library, "sync": lambda s: s in SYNCS, "threads": lambda t: t <= most_threads, field: key}
            pair = Pair(data, quantity, bytes=in_class(size), **wanted)
            pairs.append(pair)
            row.append(pair.text(PAPER[key][place] if key in PAPER else None))
        rows.append([f"{key} threads" if field == "threads" else key] + row)
    return pairs, rows


def ours(data):
    found = data.all("library", component="rdma")
    return found[0] if found else None


def tables_1_to_3(data, most_threads):
    library = ours(data)
    threads = [t for t in data.all("threads", library=library) if t <= most_threads]
    head = [f"{size}, {what}" for what, _, size in COLUMNS]
    text, every = [], []
    for title, field, keys in (
        ("Table 1: put and get", "operation", OPERATIONS),
        ("Table 2: threads", "threads", threads),
        ("Table 3: synchronisation", "sync", SYNCS),
    ):
        pairs, rows = means(data, field, keys, most_threads, library)
        every += pairs
        text.append(f"## {title}\n\npt2pt : rdma, difference (sign) [the paper's]\n\n" + table([""] + head, rows))
    text.append(f"Tables 1 to 3, {score(every)}. The paper's 48: wins 40, loses 7, ties 1.\n")
    return "\n".join(text)


def matrix(data, most_threads):
    """Every cell by itself, as text and as rows for a file."""
    library = ours(data)
    threads = [t for t in data.all("threads", library=library) if t <= most_threads]
    pairs, rows, cells = [], [], []
    for operation in OPERATIONS:
        for sync in SYNCS:
            for count in threads:
                row = []
                for _, quantity, size in COLUMNS:
                    where = {"operation": operation, "sync": sync, "threads": count, "library": library}
                    pair = Pair(data, quantity, bytes=in_class(size), **where)
                    pairs.append(pair)
                    row.append(pair.text())
                    cells.append([operation, sync, count, size, quantity, pair.pt2pt, pair.rdma, pair.per_cent, pair.sign])
                rows.append([operation, sync, str(count)] + row)
    head = ["", "", "threads"] + [f"{size}, {what}" for what, _, size in COLUMNS]
    text = "## The full matrix\n\npt2pt : rdma, difference (sign)\n\n" + table(head, rows)
    return f"{text}\nThe matrix, {score(pairs)}.\n", cells


def libraries(data):
    """Those of tables 4 and 5: the peers, then ours by osc-rdma."""
    own = ours(data)
    peers = [(name, "") for name in data.all("library", component="")]
    return peers + ([(own, "rdma")] if own else [])


def tables_4_and_5(data):
    beside, text = libraries(data), []
    head = [f"{title}: {name}" for title, _, _ in BINS for name, _ in beside]
    for quantity, what in (("bandwidth", "MiB/s"), (LATENCY["slowest"], "latency of the slowest thread, us")):
        for title, field, keys in (
            ("Table 4", "operation", OPERATIONS),
            ("Table 5", "threads", data.all("threads")),
        ):
            rows = []
            for key in keys:
                row = [f"{key} threads" if field == "threads" else key]
                for _, least, most in BINS:
                    for library, component in beside:
                        where = {"library": library, "component": component, field: key}
                        values = data.select(quantity, bytes=lambda n, a=least, b=most: a <= n <= b, **where)
                        row.append(number(statistics.median(values) if values else None))
                rows.append(row)
            text.append(f"## {title}: {what}\n\nMedians.\n\n" + table([""] + head, rows))
    return "\n".join(text)


def figure_1(data):
    beside, rows = libraries(data), []
    for point in sorted(data.values, key=lambda p: (p.operation, p.threads, p.bytes, p.library)):
        if point.sync != "lock_all" or (point.library, point.component) not in beside:
            continue
        row = [point.operation, str(point.threads), str(point.bytes), point.library]
        for quantity in ("bandwidth", LATENCY["slowest"]):
            values = data.values[point].get(quantity, [])
            row.append(f"{number(statistics.median(values))} ± {number(statistics.pstdev(values))}" if values else "?")
        rows.append(row)
    head = ["", "threads", "bytes", "library", "MiB/s", "latency of the slowest thread, us"]
    return "## Figure 1: lock_all\n\nMedian ± standard deviation of the rounds.\n\n" + table(head, rows)


def figure_5_5(data):
    """Rates of puts, and counters of the library for each put."""
    if not data.counted:
        return ""
    cells, counters = collections.defaultdict(dict), []
    for row in data.counted:
        if not row["median"]:
            continue
        key = (row["case"].removeprefix("fig5.5-"), row["library"], row["series"], int(row["x"]))
        cells[key][row["quantity"]] = float(row["median"])
        if row["quantity"].endswith(" per operation") and row["quantity"] not in counters:
            counters.append(row["quantity"])
    # Counters that nothing moved say nothing.
    counters = [name for name in sorted(counters) if any(cell.get(name) for cell in cells.values())]
    order = sorted(cells, key=lambda key: (int(key[0]), *key[1:]))
    rows = [
        [*map(str, key), number(cells[key].get("value"))] + [number(cells[key].get(name)) for name in counters] for key in order
    ]
    head = ["bytes", "library", "", "threads", "puts/s"] + [name.removesuffix(" per operation") for name in counters]
    return "## Figure 5.5 (dissertation): puts, and what is counted for each\n\n" + table(head, rows)


def programs(data):
    """A table for each whole program: a column for each quantity, the driver's `value` first."""
    text = []
    for name, (title, what) in PROGRAMS.items():
        cells = collections.defaultdict(dict)
        for row in data.programs.get(name, []):
            if row["median"]:
                cells[row["library"], row["series"], int(row["x"])][row["quantity"]] = float(row["median"])
                data.unverified += row["quantity"] == "value" and row["verified"] != "true"
        if not cells:
            continue
        names = sorted({quantity for cell in cells.values() for quantity in cell}, key=lambda q: (q != "value", q))
        rows = [[*map(str, key)] + [number(cell.get(q)) for q in names] for key, cell in sorted(cells.items())]
        text.append(f"## {title}\n\nMedians.\n\n" + table(["library", "", what, *names], rows))
        if any("residual" in cell for cell in cells.values()):
            by_x = collections.defaultdict(set)
            for (_, _, x), cell in cells.items():
                by_x[x].add(cell.get("residual"))
            same = all(len(residuals) == 1 for residuals in by_x.values())
            text.append(f"All forms end at {'the same residual' if same else '**different residuals**'}.\n")
    return "\n".join(text)


def report(data, most_threads):
    """The whole text, and the rows of the matrix."""
    full, cells = matrix(data, most_threads)
    parts = [tables_1_to_3(data, most_threads), full, tables_4_and_5(data), figure_1(data), figure_5_5(data), programs(data)]
    if data.unverified:
        parts.insert(0, f"**{data.unverified} measurements were not verified.**\n")
    return "\n".join(part for part in parts if part), cells


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder")
    parser.add_argument("--out", help="folder for tables.md and matrix.csv; printed alone where there is none")
    parser.add_argument("--most-threads", type=int, default=32, help="of tables 1 to 3 and the matrix (32, as published)")
    options = parser.parse_args(arguments)
    try:
        text, cells = report(Data().read(options.folder), options.most_threads)
        if options.out:
            out = pathlib.Path(options.out)
            (out / "tables.md").write_text(text, encoding="utf-8")
            with open(out / "matrix.csv", "w", encoding="utf-8", newline="") as file:
                head = ["operation", "sync", "threads", "class", "quantity", "pt2pt", "rdma", "per cent", "sign"]
                csv.writer(file).writerows([head, *cells])
    except (OSError, ValueError) as error:
        sys.exit(f"tables.py: {error}")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
