/* Questions about the binary interface: versions, sizes, and what Fortran has told (MPI 5.0, chapter 20). They may be
 * asked before MPI_Init. */
#include "check.h"
#include <stdint.h>

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static long number(MPI_Info info, const char *key) {
    char value[64];
    int room = sizeof value, flag;
    MPI_Info_get_string(info, key, &room, value, &flag);
    CHECK(flag, "%s is there", key);
    return atol(value);
}

static void sizes(void) {
    MPI_Info info;
    int major = -1, minor = -1;
    MPI_Abi_get_version(&major, &minor);
    CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION, "%d.%d", major, minor);
    MPI_Abi_get_info(&info);
    CHECK(number(info, "mpi_aint_size") == sizeof(MPI_Aint), "aint");
    CHECK(number(info, "mpi_count_size") == sizeof(MPI_Count), "count");
    CHECK(number(info, "mpi_offset_size") == sizeof(MPI_Offset), "offset");
    MPI_Info_free(&info);
}

/* Nothing is known; then two sizes of LOGICAL, each once. */
static void booleans(void) {
    int is_set = 7;
    uint32_t yes = 5, no = 6, one = 1, zero = 0;
    uint64_t wide = ~0ull, nothing = 0, yes8, no8;
    MPI_Abi_get_fortran_booleans(4, &yes, &no, &is_set);
    CHECK(!is_set && yes == 5 && no == 6, "%d: %u %u", is_set, yes, no);
    CHECK(!MPI_Abi_set_fortran_booleans(4, &one, &zero), "set");
    CHECK(!MPI_Abi_set_fortran_booleans(8, &wide, &nothing), "set");
    CHECK(class_of(MPI_Abi_set_fortran_booleans(4, &zero, &one)) == MPI_ERR_ABI, "twice");
    MPI_Abi_get_fortran_booleans(4, &yes, &no, &is_set);
    CHECK(is_set && yes == 1 && no == 0, "%d: %u %u", is_set, yes, no);
    MPI_Abi_get_fortran_booleans(8, &yes8, &no8, &is_set);
    CHECK(is_set && yes8 == wide && no8 == 0, "%d", is_set);
    MPI_Abi_get_fortran_booleans(2, &yes, &no, &is_set);
    CHECK(!is_set && yes == 1, "%d", is_set);
    yes = 9;
    CHECK(class_of(MPI_Abi_get_fortran_booleans(4, &yes, NULL, &is_set)) == MPI_ERR_ARG && yes == 9, "null");
    CHECK(class_of(MPI_Abi_get_fortran_booleans(4, &yes, &no, NULL)) == MPI_ERR_ARG && yes == 9, "null");
    CHECK(class_of(MPI_Abi_get_fortran_booleans(3, &yes, &no, &is_set)) == MPI_ERR_ARG, "no such size");
}

static void fortran(void) {
    MPI_Info info = (MPI_Info)MPI_INFO_ENV, given;
    MPI_Abi_get_fortran_info(&info);
    CHECK(info == MPI_INFO_NULL, "nothing is known");
    MPI_Info_create(&given);
    MPI_Info_set(given, "mpi_logical_size", "4");
    MPI_Info_set(given, "mpi_integer_size", "4");
    CHECK(!MPI_Abi_set_fortran_info(given), "set");
    CHECK(class_of(MPI_Abi_set_fortran_info(given)) == MPI_ERR_ABI, "twice");
    MPI_Info_free(&given);
    MPI_Abi_get_fortran_info(&info);
    CHECK(number(info, "mpi_logical_size") == 4 && number(info, "mpi_integer_size") == 4, "as it was given");
    MPI_Info_free(&info);
}

int main(int argc, char **argv) {
    int rank, size;
    /* Errors before MPI_Init would end the job. */
    sizes();
    begin(&argc, &argv, &rank, &size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    sizes();
    booleans();
    fortran();
    return end();
}
