#!/usr/bin/env python3
"""The whole table of the matching engines: bandwidth and latency behind posted receives and time to receive what
has arrived behind unexpected messages, with cold caches, by engine and lane width, and the length from which on each engine
beats the list.

    engines.py [--mpicc MPICC] [--mpirun MPIRUN] [--longest 8192] [--rounds 10] [--out FILE]

Compiles queue.c, runs it on two ranks for every set of instructions the processor has, and prints one
Markdown table for each. Takes minutes; `--longest 16 --rounds 1` is for trying it out."""
import argparse
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINES = "list,perpeer,vector,fuzzy32,fuzzy16,fuzzy8,hash,adaptive"
# Those whose comparisons are made by such instructions.
COMPARING = "list,vector,fuzzy32,fuzzy16,fuzzy8"
LEVELS = ["avx512", "avx2", "neon", "scalar"]
KINDS = [
    ("Bandwidth of messages of 1 byte, behind posted receives", ["-b", "-s", "1"]),
    ("Bandwidth of messages of 4 KiB, behind posted receives", ["-b", "-s", "4096"]),
    ("Latency of 8 bytes, behind posted receives", ["-l"]),
    ("Receiving 8 bytes that have arrived behind unexpected messages", ["-l", "-u"]),
]


def run(mpirun, level, program, arguments):
    """The output, or None where the processor lacks the instructions."""
    command = [*mpirun, "-n", "2", *(["--mca", "pml_ob1_matching_simd", level] if level else []), program, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if ended.returncode == 0:
        return ended.stdout
    if level and "matching_simd" in ended.stderr:
        return None
    sys.exit(f"{shlex.join(command)} ended with {ended.returncode}:\n{ended.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpicc", default="mpicc")
    parser.add_argument("--mpirun", default="mpirun", help="with its options")
    parser.add_argument("--longest", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--out", help="write to this file, too")
    given = parser.parse_args()
    text = []

    def say(line=""):
        print(line, flush=True)
        text.append(line)

    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "queue")
        source = os.path.join(HERE, "queue.c")
        subprocess.run([*shlex.split(given.mpicc), "-O2", source, "-o", program, "-lm"], check=True)
        mpirun = shlex.split(given.mpirun)
        size = ["-m", str(given.longest), "-i", str(given.rounds)]
        for title, kind in KINDS:
            for level in [None, *LEVELS]:
                engines = COMPARING if level else ENGINES
                out = run(mpirun, level, program, [*kind, *size, "-k", engines])
                if out is None:
                    continue
                say(f"## {title}" + (f", {level}" if level else ""))
                say()
                say("```")
                say(out.rstrip())
                say("```")
                say()
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            file.write("\n".join(text))


main()
