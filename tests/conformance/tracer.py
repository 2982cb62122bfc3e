#!/usr/bin/env python3
"""Make a PMPI tool that notes which MPI functions are called, for any MPI library.

    tracer.py FUNCTIONS.tsv OUT.so [--cc gcc]

FUNCTIONS.tsv has a function a line: name, result, parameters. The tool defines every one of them, notes the call and
passes it on under its P name, which it looks up when first needed, so that one tool serves libraries that lack some.
Load it with LD_PRELOAD. It answers three calls of its own (use them through ctypes):

    int  mpi_trace_count(void);            how many functions it knows
    int  mpi_trace_take(int i);            calls of function i since it was last taken
    const char *mpi_trace_name(int i);

With MPI_TRACE_OUT=PATH in the environment a process writes, as it ends, a line for each function that was called since it was
last taken, name and number, into PATH.PID.
"""
import argparse, re, subprocess, sys, tempfile

HEAD = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *next(const char *name, void **slot) {
    void *f = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (!f) {
        f = dlsym(RTLD_NEXT, name);
        /* A library that was opened privately (Python does) is not in our scope: ask it by name. */
        static const char *const libs[] = {"libmpi_abi.so.1", "libmpi_abi.so", "libmpi.so", "libmpi.so.40", "libmpi.so.12"};
        for (unsigned i = 0; !f && i < sizeof libs / sizeof *libs; i++) {
            void *lib = dlopen(libs[i], RTLD_LAZY | RTLD_NOLOAD);
            if (lib) f = dlsym(lib, name);
        }
        if (!f) { fprintf(stderr, "tracer: the library has no %s\n", name); abort(); }
        __atomic_store_n(slot, f, __ATOMIC_RELEASE);
    }
    return f;
}
static int calls[COUNT];
"""
TAIL = r"""
int mpi_trace_count(void) { return COUNT; }
int mpi_trace_take(int i) { return __atomic_exchange_n(&calls[i], 0, __ATOMIC_RELAXED); }
const char *mpi_trace_name(int i) { return names[i]; }
__attribute__((destructor)) static void write_down(void) {
    const char *path = getenv("MPI_TRACE_OUT");
    char mine[4096];
    if (!path || snprintf(mine, sizeof mine, "%s.%d", path, (int)getpid()) >= (int)sizeof mine) return;
    FILE *out = fopen(mine, "w");
    if (!out) { perror(mine); return; }
    for (int i = 0; i < COUNT; i++)
        if (calls[i]) fprintf(out, "%s %d\n", names[i], calls[i]);
    if (fclose(out)) perror(mine);
}
"""
# By size and register class alone: what passes calls on need not know the types.
WIDE = ("MPI_Aint", "MPI_Offset", "MPI_Count")
BY_VALUE = ("MPI_T_cb_safety", "MPI_T_source_order")


def c_type(text):
    """The C type, as an integer or pointer, of one parameter or result."""
    if "*" in text or "[" in text or "_function" in text or "_fn" in text:
        return "void *"
    word = text.split()[0]
    if word == "double":
        return "double"
    if word in WIDE:
        return "int64_t"
    if word in ("int", "MPI_Fint", *BY_VALUE):
        return "int"
    return "void *"  # every handle is a pointer


def read(path):
    for line in open(path):
        if line.startswith("#") or not line.strip():
            continue
        f = [x.strip() for x in line.rstrip("\n").split("\t")]
        name = next((x for x in f if re.fullmatch(r"MPI_\w+", x)), None)
        if name is None:
            continue
        i = f.index(name)
        yield name, f[i + 1], f[i + 2] if len(f) > i + 2 else "void"


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("functions"); ap.add_argument("out"); ap.add_argument("--cc", default="gcc")
    o = ap.parse_args()
    fns = list(read(o.functions))
    if not fns:
        sys.exit(f"{o.functions}: no functions found")
    src = [f"#define COUNT {len(fns)}", HEAD, "static const char *const names[] = {" + ", ".join(f'"{n}"' for n, _, _ in fns) + "};"]
    for i, (name, result, params) in enumerate(fns):
        p = [c_type(x.strip()) for x in params.split(",") if x.strip() not in ("void", "", "...")]
        args = ", ".join(f"{t} a{k}" for k, t in enumerate(p)) or "void"
        r = c_type(result)
        src.append(f"{r} {name}({args}) {{ static void *slot; __atomic_fetch_add(&calls[{i}], 1, __ATOMIC_RELAXED); "
                   f"return (({r} (*)({', '.join(p) or 'void'}))next(\"P{name}\", &slot))({', '.join(f'a{k}' for k in range(len(p)))}); }}")
    src.append(TAIL)
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write("\n".join(src)); f.flush()
        subprocess.run([o.cc, "-O1", "-w", "-shared", "-fPIC", f.name, "-o", o.out, "-ldl"], check=True)


if __name__ == "__main__":
    main()
