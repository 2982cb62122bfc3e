/* The part of the Fortran library that stands in each executable and shared library that is linked with it: libmpifort_abi.so, which
 * linkers read, is a script that names this object file and libmpifort_abi.so.1.
 *
 * It says the addresses of the COMMON blocks that this executable or shared library sees (fortran/src/sentinels.rs): one that is loaded with
 * RTLD_LOCAL has blocks of its own. And it has linkers warn of procedures that MPI 3.0 removed (MPI 5.0 16.1) where one is used. */

extern const char mpifort_constants_[], mpifort_statuses_[];
extern void mpifort_object_begins(const void *constants, const void *statuses);
extern void mpifort_object_ends(const void *constants, const void *statuses);

__attribute__((constructor)) static void begin(void) {
    mpifort_object_begins(mpifort_constants_, mpifort_statuses_);
}

__attribute__((destructor)) static void end(void) {
    mpifort_object_ends(mpifort_constants_, mpifort_statuses_);
}

/* GNU linkers print the text of a section .gnu.warning.SYMBOL where SYMBOL is used. */
#define WARNING(symbol, text) \
    static const char warning_##symbol[] __attribute__((used, section(".gnu.warning." #symbol))) = text
#define REMOVED(procedure, successor)                                                                     \
    WARNING(mpi_##procedure##_, "MPI 3.0 has removed mpi_" #procedure "; mpi_" successor " took its place"); \
    WARNING(pmpi_##procedure##_, "MPI 3.0 has removed pmpi_" #procedure "; pmpi_" successor " took its place")

REMOVED(address, "get_address");
REMOVED(errhandler_create, "comm_create_errhandler");
REMOVED(errhandler_get, "comm_get_errhandler");
REMOVED(errhandler_set, "comm_set_errhandler");
REMOVED(type_extent, "type_get_extent");
REMOVED(type_hindexed, "type_create_hindexed");
REMOVED(type_hvector, "type_create_hvector");
REMOVED(type_lb, "type_get_extent");
REMOVED(type_struct, "type_create_struct");
REMOVED(type_ub, "type_get_extent");
