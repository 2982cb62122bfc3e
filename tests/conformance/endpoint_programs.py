#!/usr/bin/env python3
"""Run MPI programs whose ranks are endpoints, several of each process: a compiler and a launcher.

    endpoint_programs.py cc FUNCTIONS.tsv PREFIX ARGUMENTS ...      in the place of mpicc
    endpoint_programs.py run EACH NP COMMAND ...                    COMMAND has {n} where the number of processes goes

A program is linked as a shared object, PROGRAM.so, and PROGRAM becomes a runner: it makes the endpoints, loads a private copy of the object
for each of them, and calls each copy's main in a thread. In a copy MPI_COMM_WORLD is the endpoint, MPI_COMM_SELF a communicator of it
alone, and MPI_Init and MPI_Finalize are those of the runner. The last process has fewer endpoints where NP is no multiple of EACH.
"""
import os, re, subprocess, sys

from tracer import c_type, read

COPY = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
static MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
static pthread_t owner;
static int is_up, is_over;
static void *of(void *comm) {
    return comm == (void *)MPI_COMM_WORLD ? (void *)world : comm == (void *)MPI_COMM_SELF ? (void *)self : comm;
}
/* The runner's, in the copy's own thread. */
void endpoint_begins(MPI_Comm endpoint) {
    int rank;
    world = endpoint, owner = pthread_self();
    PMPI_Comm_rank(world, &rank);
    PMPI_Comm_split(world, rank, 0, &self);
    PMPI_Comm_set_name(self, "MPI_COMM_SELF");
}
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    (void)argc, (void)argv, (void)required, is_up = 1;
    if (provided) *provided = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}
int MPI_Init(int *argc, char ***argv) { return MPI_Init_thread(argc, argv, 0, NULL); }
/* Attributes of MPI_COMM_SELF are deleted, first of all. */
int MPI_Finalize(void) {
    PMPI_Comm_free(&self);
    is_over = 1;
    return PMPI_Barrier(world);
}
int MPI_Initialized(int *flag) { *flag = is_up; return MPI_SUCCESS; }
int MPI_Finalized(int *flag) { *flag = is_over; return MPI_SUCCESS; }
/* The C library has one sequence for all copies, which ranks could not draw alike. */
static unsigned long drawn = 1;
void srand(unsigned seed) { drawn = seed; }
int rand(void) { return (int)((drawn = drawn * 6364136223846793005ul + 1442695040888963407ul) >> 33); }
/* And one place in the string that is taken apart. */
char *strtok(char *string, const char *delimiters) {
    static char *rest;
    return strtok_r(string, delimiters, &rest);
}
int MPI_Is_thread_main(int *flag) { *flag = pthread_equal(owner, pthread_self()) != 0; return MPI_SUCCESS; }
"""

RUNNER = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <mpi-ext.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
struct copy { int argc, result; char **argv; int (*main)(int, char **); MPI_Comm world; void (*begins)(MPI_Comm); };
static void fail(const char *what, const char *why) { fprintf(stderr, "%s: %s\n", what, why); exit(125); }
static void *load(const char *path) {
    int from = open(path, O_RDONLY), to = memfd_create("program", 0);
    struct stat s;
    if (from < 0 || to < 0 || fstat(from, &s)) fail(path, "cannot be read");
    for (off_t done = 0; done < s.st_size;)
        if (sendfile(to, from, &done, s.st_size - done) <= 0) fail(path, "cannot be copied");
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", to);
    void *object = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!object) fail(path, dlerror());
    close(from);
    return object;
}
static void *run(void *arg) {
    struct copy *c = arg;
    c->begins(c->world);
    c->result = c->main(c->argc, c->argv);
    return NULL;
}
int main(int argc, char **argv) {
    const char *each_text = getenv("ENDPOINTS_EACH"), *all_text = getenv("ENDPOINTS_ALL");
    if (!each_text || !all_text) fail(argv[0], "ENDPOINTS_EACH and ENDPOINTS_ALL are not set");
    const int each = atoi(each_text), all = atoi(all_text);
    int rank, provided, result = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int n = all - each * rank < each ? all - each * rank : each;
    MPI_Comm *worlds = malloc(each * sizeof *worlds);
    if (MPIX_Comm_create_endpoints(MPI_COMM_WORLD, n, MPI_INFO_NULL, worlds)) fail(argv[0], "no endpoints");
    for (int i = 0; i < n; i++) MPI_Comm_set_name(worlds[i], "MPI_COMM_WORLD");
    char path[4096];
    snprintf(path, sizeof path, "%s.so", argv[0]);
    struct copy *copies = calloc(n, sizeof *copies);
    pthread_t *threads = malloc(n * sizeof *threads);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 20);
    for (int i = 0; i < n; i++) {
        void *object = load(path);
        copies[i].world = worlds[i];
        copies[i].begins = (void (*)(MPI_Comm))dlsym(object, "endpoint_begins");
        copies[i].main = (int (*)(int, char **))dlsym(object, "main");
        if (!copies[i].begins || !copies[i].main) fail(path, dlerror());
        copies[i].argc = argc;
        copies[i].argv = calloc(argc + 1, sizeof *copies[i].argv);
        for (int a = 0; a < argc; a++) copies[i].argv[a] = strdup(argv[a]);
    }
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], &attr, run, &copies[i])) fail(argv[0], "no thread");
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        if (copies[i].result) result = copies[i].result;
    }
    for (int i = 0; i < n; i++) MPI_Comm_free(&worlds[i]);
    MPI_Finalize();
    return result;
}
"""
# Errors on no communicator go by the handlers of the process's own.
HANDLERS = ("MPI_Comm_set_errhandler", "MPI_Errhandler_set")
OWN = re.findall(r"int (MPI_\w+)\(", COPY)


def wrapper(name, result, params):
    """The function with its communicators replaced; nothing where it takes none."""
    texts = [x.strip() for x in params.split(",") if x.strip() not in ("void", "", "...")]
    named = [bool(re.fullmatch(r"MPI_Comm\s+\w+", x)) for x in texts]
    if not any(named) or name in OWN:
        return None
    types, r = [c_type(x) for x in texts], c_type(result)
    declared = ", ".join(f"{t} a{k}" for k, t in enumerate(types))
    passed = ", ".join(f"of(a{k})" if comm else f"a{k}" for k, comm in enumerate(named))
    also = f"if (of(a0) != a0) next_{name}(a0, a1); " if name in HANDLERS else ""
    # The asm names keep the header's prototypes out of the way.
    return (f"extern {r} next_{name}({', '.join(types)}) __asm__(\"P{name}\");\n"
            f"extern {r} own_{name}({declared}) __asm__(\"{name}\");\n"
            f"{r} own_{name}({declared}) {{ {also}return next_{name}({passed}); }}")


def call(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL).returncode


def support(functions, mpicc, folder):
    """The object that goes into each copy, and the runner; made once in the folder."""
    copy, runner = os.path.join(folder, "endpoint_copy.o"), os.path.join(folder, "endpoint_runner")
    if not (os.path.exists(copy) and os.path.exists(runner)):
        parts = [x for x in (wrapper(*f) for f in read(functions)) if x]
        for name, text in (("endpoint_copy", COPY + "\n".join(parts)), ("endpoint_runner", RUNNER)):
            with open(os.path.join(folder, name + ".c"), "w") as f:
                f.write(text)
        bad = call([mpicc, "-w", "-O1", "-fPIC", "-c", copy[:-2] + ".c", "-o", copy])
        bad = bad or call([mpicc, "-w", "-O1", runner + ".c", "-o", runner, "-ldl", "-lpthread"])
        if bad:
            sys.exit("the runner of endpoints does not build")
    return copy, runner


def cc(functions, prefix, args):
    mpicc = os.path.join(prefix, "bin/mpicc")
    if "-c" in args or "-E" in args or "-o" not in args:
        return call([mpicc, "-fPIC"] + args)
    out = args[args.index("-o") + 1]
    if out == "/dev/null":
        return call([mpicc] + args)
    folder = os.environ.get("ENDPOINT_PROGRAMS", os.path.dirname(os.path.abspath(out)))
    copy, runner = support(functions, mpicc, folder)
    args = [out + ".so" if a == out else a for a in args]
    bad = call([mpicc, "-fPIC", "-shared", "-Wl,-Bsymbolic"] + args + [copy])
    if not bad:
        if os.path.lexists(out):
            os.unlink(out)
        os.link(runner, out)
    return bad


def run(each, np, command):
    env = dict(os.environ, ENDPOINTS_EACH=str(each), ENDPOINTS_ALL=str(np))
    command = [a.replace("{n}", str(-(-np // each))) for a in command]
    os.execvpe(command[0], command, env)


if __name__ == "__main__":
    if sys.argv[1] == "cc":
        sys.exit(cc(sys.argv[2], sys.argv[3], sys.argv[4:]))
    run(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
