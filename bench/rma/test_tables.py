"""tables.py on data that are given: python3 -m unittest discover bench/rma"""

import csv
import io
import pathlib
import tempfile
import unittest
from contextlib import redirect_stdout

import tables

HEAD = "case figure library series x quantity median least most spread iterations verified failure values".split()
THREADS = (1, 2, 4, 8, 16, 32)


def write(folder, name, rows):
    with open(pathlib.Path(folder) / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, HEAD, restval="")
        out.writeheader()
        for row in rows:
            values = row.pop("values")
            median = sorted(values)[len(values) // 2] if values else ""
            out.writerow({"case": name, "verified": "true", "median": median, "values": " ".join(map(str, values)), **row})


def rows(library, component, threads, bandwidth, latency):
    series = f"{component}, {threads} threads" if component else f"{threads} threads"
    for size in (64, 65536):
        at = {"library": library, "series": series, "x": size}
        yield {**at, "quantity": "value", "values": [bandwidth, bandwidth * 0.5, bandwidth * 2]}
        yield {**at, "quantity": "latency", "values": [latency]}
        yield {**at, "quantity": "latency of the slowest thread", "values": [latency * 2]}


def world(folder, syncs=tables.SYNCS + ("flush",)):
    """rdma has twice the bandwidth of pt2pt, and its latency but with 32 threads; a peer in between."""
    for operation in tables.OPERATIONS:
        for sync in syncs:
            lines = []
            for threads in THREADS:
                lines += rows("ours", "pt2pt", threads, 100, 10)
                lines += rows("ours", "rdma", threads, 200, 12 if threads == 32 else 10)
                lines += rows("mpich", "", threads, 150, 11)
            write(folder, f"rma-{operation}-{sync}", lines)


class Tables(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name

    def read(self):
        return tables.Data().read(self.folder)

    def test_48_pairs_and_their_signs(self):
        world(self.folder)
        text = tables.tables_1_to_3(self.read(), 32)
        # Bandwidth: 24 wins. Latency: with 32 threads 20 % more; so the means of tables 1 and 3 are 3 % more.
        self.assertIn("48 pairs: rdma wins 24, loses 14, ties 10.", text)
        self.assertIn("| 32 threads | 100 : 200, +100 % (+) [-56 % (-)]", text)
        self.assertIn("10 : 12, +20 % (-) [-13 % (+)]", text)
        self.assertIn("10 : 10, +0 % (=) [+3 % (-)]", text)

    def test_the_papers_signs_are_its_own_count(self):
        better = (True, True, False, False)
        signs = [tables.sign(cell, more) for row in tables.PAPER.values() for cell, more in zip(row, better)]
        self.assertEqual((len(signs), signs.count("+"), signs.count("-"), signs.count("=")), (48, 40, 7, 1))

    def test_the_matrix_has_every_cell(self):
        world(self.folder)
        text, cells = tables.matrix(self.read(), 32)
        self.assertEqual(len(cells), 2 * 4 * 6 * 2 * 2)
        self.assertIn("192 pairs: rdma wins 96, loses 16, ties 80.", text)
        self.assertIn(["put", "lock_all", 32, "large", "latency", 10, 12, 20.0, "-"], [c[:7] + [round(c[7], 6)] + c[8:] for c in cells])

    def test_libraries_beside_each_other(self):
        world(self.folder)
        text = tables.tables_4_and_5(self.read())
        self.assertIn("up to 64 B: mpich | up to 64 B: ours", text)
        self.assertIn("| get | 150 | 200 | ? | ? | 150 | 200 |", text)
        self.assertIn("| 32 threads | 22 | 24 | ? | ? | 22 | 24 |", text)

    def test_medians_and_deviations_of_figure_1(self):
        world(self.folder)
        text = tables.figure_1(self.read())
        self.assertIn("| put | 8 | 64 | ours | 200 ± 125 | 20 ± 0 |", text)
        self.assertNotIn("fence", text)

    def test_what_is_missing_is_told(self):
        world(self.folder, syncs=("fence", "lock"))
        text, _ = tables.matrix(self.read(), 32)
        self.assertIn("96 not measured", text)
        self.assertIn("| put | pscw | 1 | ? | ? | ? | ? |", text)

    def test_counters_of_figure_5_5(self):
        world(self.folder)
        at = {"library": "ours", "series": "one CRI, serial progress", "x": 2}
        name = "runtime_cri_locks per operation"
        still = {**at, "quantity": "runtime_cri_turns per operation", "values": [0.0]}
        lines = [{**at, "quantity": "value", "values": [1e6]}, {**at, "quantity": name, "values": [2.0]}, still]
        write(self.folder, "fig5.5-8", lines)
        text = tables.figure_5_5(self.read())
        self.assertIn("| puts/s | runtime_cri_locks |", text)
        self.assertIn("| 8 | ours | one CRI, serial progress | 2 | 1000000 | 2 |", text)

    def test_whole_programs_and_their_residuals(self):
        world(self.folder)

        def cg(residual):
            for series, value in (("two-sided", 5), ("one-sided, rdma", 7)):
                at = {"library": "ours", "series": series, "x": 4}
                yield {**at, "quantity": "value", "values": [value]}
                yield {**at, "quantity": "residual", "values": [residual if value == 7 else 1e-9]}

        write(self.folder, "rma-cg", cg(1e-9))
        text = tables.programs(self.read())
        self.assertIn("| library |  | ranks | value | residual |", text)
        self.assertIn("| ours | one-sided, rdma | 4 | 7 | 1e-09 |", text)
        self.assertIn("the same residual", text)
        self.assertNotIn("patches", text)
        write(self.folder, "rma-cg", cg(2e-9))
        self.assertIn("**different residuals**", tables.programs(self.read()))

    def test_other_files_are_refused(self):
        with self.assertRaisesRegex(ValueError, "no rma-put-fence.csv"):
            self.read()
        write(self.folder, "rma-put-fence", [{"library": "a", "series": "many threads", "x": 1, "quantity": "value", "values": [1]}])
        with self.assertRaisesRegex(ValueError, "rma-put-fence.csv:2: "):
            self.read()

    def test_files_are_written(self):
        world(self.folder)
        with redirect_stdout(io.StringIO()) as out:
            tables.main([self.folder, "--out", self.folder])
        written = (pathlib.Path(self.folder) / "tables.md").read_text(encoding="utf-8")
        self.assertEqual(out.getvalue(), written + "\n")
        self.assertEqual(len((pathlib.Path(self.folder) / "matrix.csv").read_text().splitlines()), 193)
        # Read again, what was written is no measurement.
        self.assertEqual(len(self.read().all("sync")), 5)


if __name__ == "__main__":
    unittest.main()
