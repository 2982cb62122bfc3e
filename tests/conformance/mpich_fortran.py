"""Builds the Fortran programs of MPICH's suite, and those of C and Fortran, for mpich_suite.py.

The suite's configure finds out facts of the compiler and writes a few files from them, and its make writes the programs of
files from a template. This file does both into the build folder, so that the tree is only read.
"""
import os, re, shlex, shutil, subprocess

# Folders of this name, at the top and below errors/, have the programs of one interface: mpif.h, mpi, mpi_f08.
LANGUAGES = {"f77": ".f", "f90": ".f90", "f08": ".f90"}

# Types of the addresses and offsets in Fortran 77, by the names that the .h.in files have for them. Both are eight bytes in the
# standard ABI (MPI 5.0 §20.3.1) and on every 64-bit machine.
INTEGERS = {"@F77_MPI_ADDRESS@": "integer*8", "@F77_MPI_OFFSET@": "integer*8"}

# C parts name their procedures as Fortran does: lower case and one underscore, which every compiler for Linux does and
# which are the names in libmpifort_abi.
NAMES = "-DF77_NAME_LOWER_USCORE=1"

PLAIN = """\
      program main
      end
"""

# Calls one external procedure with arguments of two types, as every user of mpif.h does.
MISMATCH = """\
      program main
      integer i
      real r
      i = 1
      r = 1.0
      call anything(i)
      call anything(r)
      end
      subroutine anything(x)
      integer x
      end
"""

CRAY_POINTER = """\
      program main
      real a
      pointer (p, a(10))
      p = 0
      end
"""


# Programs with modules that call a procedure of their own with arguments of several types.
MISMATCHED = {"f08/attr/attrlangf08"}


def language(d):
    """The interface that the programs of folder `d` use; None: they are in C."""
    return next((part for part in d.split("/") if part in LANGUAGES), None)


class Fortran:
    """Compiles with the words `fc`; `suite` has the tree, the build folder, the environment and the C compiler."""

    def __init__(self, suite, fc):
        self.suite, self.fc = suite, shlex.split(fc)
        self.folder = os.path.join(suite.build, "fortran")
        self.flags, self.mismatch, self.helpers = {}, [], {}

    def missing(self):
        """Why no Fortran program can be built; None: there is a compiler. An install that cannot build programs with a
        compiler at hand has failed; that is not for this function to excuse."""
        if not self.fc:
            return "no Fortran compiler was given (--mpifort)"
        if not shutil.which(self.fc[0]):
            return f"there is no {self.fc[0]}"
        p = subprocess.run(self.fc + ["-show"], env=self.suite.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
        said = p.stdout.strip().splitlines() or [f"exit status {p.returncode}"]
        if p.returncode:
            return f"{shlex.join(self.fc)} -show: {said[-1]}"
        words = shlex.split(said[-1])
        return None if words and shutil.which(words[0]) else f"{said[-1]!r} needs a compiler that is not there"

    def compile(self, args, cwd):
        """Runs the compiler in `cwd`, where every compiler puts and looks for the files of modules."""
        p = subprocess.run(self.fc + args, env=self.suite.env, cwd=cwd, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return p.returncode == 0, p.stdout

    # ---- what configure would do ---------------------------------------
    def support(self):
        """Finds the flags and compiles each interface's own copy of the suite's helpers."""
        os.makedirs(self.folder, exist_ok=True)
        common = ["-O1"] + self.accepted(PLAIN, ["-w"], []) + self.accepted(CRAY_POINTER, [], ["-fcray-pointer"])
        self.flags = {lang: list(common) for lang in LANGUAGES}
        # Modules say which procedures take any type, so that programs with them get by without this; mpif.h cannot.
        self.mismatch = self.accepted(MISMATCH, [], ["-fallow-argument-mismatch"])
        self.flags["f77"] += self.mismatch
        for lang, ending in LANGUAGES.items():
            cwd = os.path.join(self.folder, lang)
            os.makedirs(cwd, exist_ok=True)
            source = os.path.join(self.suite.tree, "util", "mtest_" + lang + ending)
            helper = os.path.join(cwd, "mtest.o")
            self.helpers[lang] = helper, *self.compile(self.flags[lang] + ["-c", source, "-o", helper], cwd)

    def accepted(self, program, *choices):
        """The first of these lists of flags with which the program compiles; [] if it does with none."""
        path = os.path.join(self.folder, "probe.f")
        with open(path, "w") as f:
            f.write(program)
        for flags in choices:
            if self.compile([*flags, "-c", path, "-o", path[:-2] + ".o"], self.folder)[0]:
                return flags
        return []

    def headers(self, d):
        """Writes what a folder's .h.in files become."""
        source = os.path.join(self.suite.tree, d)
        for name in os.listdir(source):
            if not name.endswith(".h.in"):
                continue
            text = open(os.path.join(source, name)).read()
            for word, integer in INTEGERS.items():
                text = text.replace(word, integer)
            with open(os.path.join(self.suite.build, d, name[:-3]), "w") as f:
                f.write(text)

    # ---- what make would do --------------------------------------------
    def prepare(self, d):
        """Makes the files of a folder that are not in the tree. Call it before `build` of the folder's programs, once."""
        self.headers(d)
        if os.path.basename(d) == "io" and not d.startswith("errors/"):
            self.merge(d)

    def merge(self, d):
        """Programs of files: the suite's own script (in perl) puts the pieces of ioharness.defn into ioharness.tlt."""
        tree, out = self.suite.tree, os.path.join(self.suite.build, d)
        pieces, template = (self.harness(d, name) for name in ("ioharness.defn", "ioharness.tlt"))
        script = open(os.path.join(tree, "maint/testmerge.in")).read()
        # Its first line names the perl that configure would have found.
        script = script.split("\n", 1)[1]
        subprocess.run(["perl", "-", "-defn=" + os.path.join(tree, "maint/common.defn"), pieces, template], input=script,
                       cwd=out, text=True, stdout=subprocess.DEVNULL, check=True)

    def harness(self, d, name):
        """The path of a file of the template; the folder of f90 has none and takes that of f77 with other words."""
        path = os.path.join(self.suite.tree, d, name)
        if os.path.exists(path):
            return path
        text = open(os.path.join(self.suite.tree, "f77/io", name)).read()
        text = re.sub(r'filename="(\w+)\.f"', r'filename="\g<1>90.f90"', text)
        text = re.sub(r"(?m)^.*\binclude\b.*iooffset.*$", "      integer (kind=MPI_OFFSET_KIND) offset", text)
        if name.endswith(".tlt"):
            # USE stands before every declaration, IMPLICIT NONE with them.
            text = re.sub(r"(?m)^.*\bimplicit\s+none\b.*\n", "", text)
            text = re.sub(r"(?m)^(\s*)include\b.*mpif.*$", r"\1use mpi", text)
            text = re.sub(r"(?m)^C", "!", text).replace("fheader", "f90header")
        path = os.path.join(self.suite.build, d, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    # ---- one program -----------------------------------------------------
    def find(self, d, name):
        """Where a source is; None: nowhere. Some C parts are in the tree twice, and where make says that one is a copy of the
        other, only that other one compiles."""
        tree = self.suite.tree
        if copied := self.suite.make_of(d).copies.get(name):
            return os.path.join(tree, copied)
        paths = [os.path.join(root, d, name) for root in (tree, self.suite.build)]
        return next((path for path in paths if os.path.exists(path)), None)

    def build(self, d, prog, sources):
        """Whether the program was built, and what the compilers said. Each has a folder of its own for objects and the
        files of modules, whose names several programs share."""
        lang = language(d)
        helper, ok, said = self.helpers[lang]
        if not ok:
            return False, f"the suite's helper for {lang} does not compile:\n{said}"
        cwd = os.path.join(self.folder, d, prog)
        shutil.rmtree(cwd, ignore_errors=True)
        os.makedirs(cwd)
        # rma's programs include a file of attr's.
        folders = (os.path.join(self.suite.build, d), os.path.join(self.suite.build, os.path.dirname(d), "attr"))
        include = [word for folder in folders for word in ("-I", folder)]
        # C parts include ../../include/mpitestconf.h, which is in the build folder.
        seen = ["-I", folders[0]]
        flags = self.flags[lang] + (self.mismatch if f"{d}/{prog}" in MISMATCHED else [])
        objects = []
        for name in sources:
            path = self.find(d, name)
            if not path:
                return False, "no source " + name
            obj = os.path.join(cwd, os.path.splitext(name)[0] + ".o")
            if name.endswith(".c"):
                ok, said = self.suite.compile(self.suite.flags + seen + [NAMES, "-c", path, "-o", obj])
            else:
                ok, said = self.compile(flags + include + ["-c", path, "-o", obj], cwd)
            if not ok:
                return False, said
            objects.append(obj)
        return self.compile(objects + [helper, "-o", os.path.join(self.suite.build, d, prog)], cwd)
