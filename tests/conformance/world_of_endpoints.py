#!/usr/bin/env python3
"""Make a PMPI tool that gives programs a communicator of endpoints, one of each process, in place of MPI_COMM_WORLD.

    world_of_endpoints.py FUNCTIONS.tsv PREFIX [--cc gcc]

PREFIX is an install of oxmpi; the tool becomes PREFIX/lib/libworld_of_endpoints.so, which LD_PRELOAD finds by that name. It defines each function
that takes a communicator, and passes the call on with the endpoint where the program names the world. Programs that get a handle back
(callbacks) see the endpoint's.
"""
import argparse, os, re, subprocess, tempfile

from tracer import c_type, read

HEAD = r"""
#include <mpi.h>
#include <mpi-ext.h>
#include <stdint.h>
static MPI_Comm endpoint = MPI_COMM_WORLD;
/* The world's own while MPI does not run, so that errors are those of the library. */
static void *of(void *comm) { return comm == (void *)MPI_COMM_WORLD ? (void *)endpoint : comm; }
static int began(int error) {
    if (error == MPI_SUCCESS && PMPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, &endpoint) == MPI_SUCCESS)
        PMPI_Comm_set_name(endpoint, "MPI_COMM_WORLD");
    return error;
}
int MPI_Init(int *argc, char ***argv) { return began(PMPI_Init(argc, argv)); }
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) { return began(PMPI_Init_thread(argc, argv, required, provided)); }
int MPI_Finalize(void) {
    if (endpoint != MPI_COMM_WORLD) PMPI_Comm_free(&endpoint);
    endpoint = MPI_COMM_WORLD;
    return PMPI_Finalize();
}
"""


HANDLERS = ("MPI_Comm_set_errhandler", "MPI_Errhandler_set")
# The world's own number, so that a program that turns it back has the name that it turned.
NUMBERS = ("MPI_Comm_c2f", "MPI_Comm_toint")


def wrapper(name, result, params):
    """The function with its communicators replaced; nothing where it takes none."""
    texts = [x.strip() for x in params.split(",") if x.strip() not in ("void", "", "...")]
    named = [bool(re.fullmatch(r"MPI_Comm\s+\w+", x)) for x in texts]
    if not any(named) or name in NUMBERS:
        return None
    types = [c_type(x) for x in texts]
    declared = ", ".join(f"{t} a{k}" for k, t in enumerate(types))
    passed = ", ".join(f"of(a{k})" if comm else f"a{k}" for k, comm in enumerate(named))
    r = c_type(result)
    # Errors on no communicator go by the world's own handler.
    also = f"if (a0 == (void *)MPI_COMM_WORLD) next_{name}(a0, a1); " if name in HANDLERS else ""
    # The asm names keep the header's prototypes out of the way.
    return (f"extern {r} next_{name}({', '.join(types)}) __asm__(\"P{name}\");\n"
            f"extern {r} own_{name}({declared}) __asm__(\"{name}\");\n"
            f"{r} own_{name}({declared}) {{ {also}return next_{name}({passed}); }}")


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("functions"); ap.add_argument("prefix"); ap.add_argument("--cc", default="gcc")
    o = ap.parse_args()
    wrappers = [w for w in (wrapper(*f) for f in read(o.functions)) if w]
    # The tool finds the library from any folder.
    o.prefix = os.path.abspath(o.prefix)
    out = f"{o.prefix}/lib/libworld_of_endpoints.so"
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write("\n".join([HEAD, *wrappers])); f.flush()
        subprocess.run([o.cc, "-O1", "-w", "-shared", "-fPIC", f"-I{o.prefix}/include", f.name, "-o", out, f"-L{o.prefix}/lib", "-lmpi_abi",
                        f"-Wl,-rpath,{o.prefix}/lib"], check=True)
    print(f"{out}: {len(wrappers)} functions with MPI_COMM_WORLD replaced")


if __name__ == "__main__":
    main()
