"""Opens shared libraries that were made from Fortran as Python opens modules, so that none sees another's names, and calls the
procedures of each. Arguments: own, if each library is to have constants of its own, or any; then FILE PREFIX pairs. Every rank
says ok, or what is wrong."""
import ctypes
import os
import sys

own, words = sys.argv[1] == "own", sys.argv[2:]
libraries = [(ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL), prefix) for path, prefix in zip(words[::2], words[1::2])]
wrong = []
addresses = []
for library, prefix in libraries:
    at = ctypes.c_long()
    getattr(library, prefix + "_address_")(ctypes.byref(at))
    if own and at.value in addresses:
        wrong.append(prefix + " and another have one MPI_IN_PLACE: this program shows nothing")
    addresses.append(at.value)
error = ctypes.c_int()
libraries[0][0].mpi_init_(ctypes.byref(error))
if error.value:
    sys.exit(f"MPI_Init: {error.value}")
for library, prefix in libraries:
    bits = ctypes.c_int(-1)
    getattr(library, prefix + "_check_")(ctypes.byref(bits))
    if bits.value:
        wrong.append(f"{prefix}: {bits.value:x} is wrong")
libraries[0][0].mpi_finalize_(ctypes.byref(error))
print(wrong or "ok", flush=True)
