#!/usr/bin/env python3
"""Which memory orders the models would miss: each is weakened in turn, and the models are run.

    tests/models/weakened.py PACKAGE FILTER FILE...

FILEs are paths below the repository, PACKAGE the crate whose models are run, FILTER what their names have in common. A copy of
the sources is made in which every `Ordering` of the FILEs and every fence is chosen by the environment variable MUTANT, so it is
compiled once. One line for each weakened order: the models that failed, or SURVIVES. What survives stands in docs/models.md with a
reason; everything else is a bug in a model or an order that nothing needs.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 600
# Chooses at run time; `{strong}` unless this is the mutant asked for.
CHOICE = """
extern crate std;
pub fn mutant() -> u32 {
    static M: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *M.get_or_init(|| std::env::var("MUTANT").ok().and_then(|t| t.parse().ok()).unwrap_or(0))
}
pub fn weakened(first: u32, strong: Ordering, weaker: &[Ordering]) -> Ordering {
    let which = mutant().wrapping_sub(first) as usize;
    weaker.get(which).copied().unwrap_or(strong)
}
"""
WEAKER = {"AcqRel": ["Release", "Acquire"], "Acquire": ["Relaxed"], "Release": ["Relaxed"], "SeqCst": ["Relaxed"]}


class File:
    """A file whose orders become choices."""

    def __init__(self, name, first):
        self.name, self.next, self.mutants = name, first, []

    def place(self, line, function, what):
        self.mutants.append((self.next, f"{self.name}:{line} {function}: {what}"))
        self.next += 1

    def rewrite(self, text):
        lines, out, function, tests = text.split("\n"), [], "?", False
        for number, line in enumerate(lines, 1):
            after = lines[number].strip() if number < len(lines) else ""
            tests |= "#[cfg(test)]" in line or "#[cfg(all(test" in line
            tests |= "#[cfg(loom)]" in line and after.startswith(("mod ", "pub mod "))
            found = re.search(r"\bfn (\w+)", line)
            function = found.group(1) if found else function
            if not tests and not line.strip().startswith("//") and not re.match(r"\s*(pub )?use ", line):
                line = self.weaken(line, number, function)
            out.append(line)
        return "\n".join(out)

    def weaken(self, line, number, function):
        fence = re.match(r"(\s*)((?:compiler_|full_)?fence)\((?:Ordering::SeqCst)?\);", line)
        if fence:
            self.place(number, function, f"{fence[2]} left out")
            return f"{fence[1]}if oxmpi_mca::sync::mutant() != {self.next - 1} {{ {line.strip()} }}"

        def choice(found):
            strong, first = found[1], self.next
            for weaker in WEAKER[strong]:
                self.place(number, function, f"{strong} -> {weaker}")
            weaker = ", ".join(f"Ordering::{w}" for w in WEAKER[strong])
            return f"oxmpi_mca::sync::weakened({first}, Ordering::{strong}, &[{weaker}])"

        return re.sub(r"\bOrdering::(AcqRel|Acquire|Release|SeqCst)\b", choice, line)


def copy(to):
    for entry in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0"):
        if entry and (ROOT / entry).is_file():
            (to / entry).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / entry, to / entry)


def build(copied, package, environment):
    command = ["cargo", "test", "--release", "-p", package, "--lib", "--no-run"]
    done = subprocess.run(command, cwd=copied, env=environment, capture_output=True, text=True)
    program = re.search(r"Executable .* \((.*)\)", done.stderr)
    if done.returncode or not program:
        sys.exit(done.stderr)
    return copied / program[1]


def run(program, wanted, environment, mutant):
    command = [program, wanted, "--test-threads=1"]
    environment = dict(environment, MUTANT=str(mutant))
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "found: it does not end"
    if done.returncode == 0:
        return "SURVIVES"
    failed = re.findall(r"^test (\S+) \.\.\. FAILED", done.stdout, re.M)
    # A wrong pointer ends the process in the middle of a model.
    failed = failed or re.findall(r"^test (\S+) \.\.\. *$", done.stdout, re.M)
    return "found by " + ", ".join(name.split("::")[-1] for name in failed)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    package, wanted, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder)
        copy(copied)
        sync = copied / "framework/mca/src/sync/mod.rs"
        sync.write_text(sync.read_text() + CHOICE)
        # A FILE of that crate names it as the others do.
        crate = copied / "framework/mca/src/lib.rs"
        crate.write_text(crate.read_text() + "extern crate self as oxmpi_mca;\n")
        mutants = []
        for name in names:
            file = File(name, 1 + len(mutants))
            (copied / name).write_text(file.rewrite((copied / name).read_text()))
            mutants += file.mutants
        target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target/loom"))
        flags = "--cfg loom --cap-lints allow"
        environment = dict(os.environ, RUSTFLAGS=flags, CARGO_TARGET_DIR=target, LOOM_MAX_PREEMPTIONS="3")
        program = build(copied, package, environment)
        whole = run(program, wanted, environment, 0)
        if whole != "SURVIVES":
            sys.exit(f"the models fail as they are: {whole}")
        for number, what in mutants:
            print(f"{what}: {run(program, wanted, environment, number)}", flush=True)


if __name__ == "__main__":
    main()
