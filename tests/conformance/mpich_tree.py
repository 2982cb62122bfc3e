"""What mpich_suite.py knows of the tree: the header that its configure would write, ROMIO's programs, and how to read a
Makefile.am."""
import re

CONF = """
#ifndef MPITESTCONF_H_INCLUDED
#define MPITESTCONF_H_INCLUDED
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_STRINGS_H 1
#define HAVE_MEMORY_H 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_PTHREAD_H 1
#define HAVE_PTHREAD_BARRIER_INIT 1
#define HAVE_STRDUP 1
#define HAVE_USLEEP 1
#define HAVE_GETRUSAGE 1
#define HAVE_H_ADDR_LIST 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_LONG 1
#define HAVE__BOOL 1
#define HAVE_ATOMIC 1
#define HAVE_FLOAT__COMPLEX 1
#define HAVE_DOUBLE__COMPLEX 1
#define HAVE_LONG_DOUBLE__COMPLEX 1
#define USE_LONG_DOUBLE_COMPLEX 1
#define HAVE_MPI_IO 1
#define HAVE_MPI_SPAWN 1
#define HAVE_MPI_WIN_CREATE 1
#define SIZEOF_INT 4
#define SIZEOF_LONG 8
#define SIZEOF_LONG_LONG 8
#define SIZEOF_SHORT 2
#define SIZEOF_VOID_P 8
#define SIZEOF_MPI_OFFSET 8
#define POINTERINT_t long
#define MPIO_USES_MPI_REQUEST 1
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
#define THREAD_PACKAGE_INVALID 0
#define THREAD_PACKAGE_NONE 1
#define THREAD_PACKAGE_POSIX 2
#define THREAD_PACKAGE_SOLARIS 3
#define THREAD_PACKAGE_WIN 4
#define THREAD_PACKAGE_UTI 5
#define THREAD_PACKAGE_ARGOBOTS 6
#define THREAD_PACKAGE_QTHREADS 7
%s
#endif
"""


# ROMIO's own programs, in src/mpi/romio/test: name, processes, arguments. They
# print no common line at the end, so only their exit status and words count. Left
# out: coll_perf, large_array and large_file (big files), syshints (ROMIO's own hints), and
# the four noncontig ones, which use MPI_LB and MPI_UB, gone since MPI 3.0.
ROMIO = [(p, 4, "-fname F") for p in
         ("simple psimple perf async async-multiple atomicity coll_test excl file_info "
          "misc shared_fp ordered_fp split_coll").split()]
ROMIO += [("error", 1, "-fname F"), ("status", 1, "-fname F"), ("aggregation1", 4, "-f F"),
          ("aggregation2", 4, "F"), ("hindexed", 4, "F"), ("types_with_zeros", 2, "F"),
          ("darray_read", 4, "F"), ("creat_excl", 4, "-fname F"), ("external32", 1, "F"), ("big_extents", 4, "F")]


class Make:
    """What one Makefile.am says about its programs."""

    def __init__(self, path, true_conditions):
        text = open(path, errors="replace").read().replace("\\\n", " ")
        self.vars, keep = {}, [True]
        self.threads = "Makefile_threads" in text
        for line in text.splitlines():
            s = line.strip()
            if m := re.match(r"if\s+(!?)(\w+)", s):
                keep.append(keep[-1] and ((m[2] in true_conditions) != bool(m[1])))
            elif s == "else":
                keep[-1] = keep[-2] and not keep[-1]
            elif re.match(r"endif\b", s):
                keep.pop()
            elif keep[-1] and not s.startswith("#"):
                if m := re.match(r"([\w.]+)\s*(\+?=)\s*(.*)", s):
                    value = re.sub(r"\s#.*", "", m[3])
                    if m[2] == "+=":
                        value = self.vars.get(m[1], "") + " " + value
                    self.vars[m[1]] = value
        # Sources that make copies from elsewhere in the tree.
        self.copies = {new: old for old, new in re.findall(r"\tcp \$\(srcdir\)/\.\./\.\./(\S+)\s+(\S+)", text)}
        self.programs = (self.vars.get("noinst_PROGRAMS", "") + " " +
                         self.vars.get("EXTRA_PROGRAMS", "")).split()
        # One program in C whose source configure writes is a check of configure.
        made = [p for p in self.programs if self.vars.get("nodist_" + p + "_SOURCES", "").endswith(".c")]
        self.programs = [p for p in self.programs if p not in made]

    def sources(self, prog):
        listed = self.vars.get(prog + "_SOURCES")
        return [f for f in listed.split() if f.endswith(".c")] if listed else [prog + ".c"]

    def all_sources(self, prog):
        """Those in Fortran, too, and those that make would write."""
        listed = self.vars.get(prog + "_SOURCES") or self.vars.get("nodist_" + prog + "_SOURCES")
        return listed.split() if listed else [prog + self.vars.get("AM_DEFAULT_SOURCE_EXT", ".c").strip()]

    def is_c(self, prog):
        return all(f.endswith(".c") for f in self.all_sources(prog))

    def defines(self, prog):
        flags = self.vars.get(prog + "_CPPFLAGS", "") + " " + self.vars.get("AM_CPPFLAGS", "")
        return [f for f in flags.split() if f.startswith("-D")]

    def wants_dtypes(self, prog):
        return "LDADDDATA" in self.vars.get(prog + "_LDADD", "")
