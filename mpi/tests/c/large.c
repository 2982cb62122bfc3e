/* Values that do not fit where a function is to store them are MPI_UNDEFINED (MPI 5.0 §3.2.5, §5.1.5, §5.1.11, §5.2, §5.3), never
 * an error and never cut off. Nothing here needs the memory that it counts. */
#include "check.h"

#include <limits.h>

static int class_of(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

enum { FITS = INT_MAX };
static const MPI_Count ABOVE = (MPI_Count)INT_MAX + 1;

static int int_or_undefined(MPI_Count value) { return value > FITS ? MPI_UNDEFINED : (int)value; }

static void packed(MPI_Datatype type, int count, MPI_Count each) {
    MPI_Count large = -7, external = -7;
    int small = -7;
    CHECK(MPI_Pack_size(count, type, MPI_COMM_SELF, &small) == MPI_SUCCESS);
    CHECK(small == int_or_undefined(each * count));
    CHECK(MPI_Pack_size_c(count, type, MPI_COMM_SELF, &large) == MPI_SUCCESS && large == each * count);
    CHECK(MPI_Pack_external_size("external32", count, type, &external) == MPI_SUCCESS && external == each * count);
}

static void counted(MPI_Datatype type, MPI_Count count) {
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Count large = -7, elements = -7;
    int small = -7, small_elements = -7;
    MPI_Wait(&none, &status);
    CHECK(MPI_Status_set_elements_c(&status, type, count) == MPI_SUCCESS);
    CHECK(MPI_Get_count(&status, type, &small) == MPI_SUCCESS && small == int_or_undefined(count));
    CHECK(MPI_Get_elements(&status, type, &small_elements) == MPI_SUCCESS && small_elements == int_or_undefined(count));
    CHECK(MPI_Get_count_c(&status, type, &large) == MPI_SUCCESS && large == count);
    CHECK(MPI_Get_elements_c(&status, type, &elements) == MPI_SUCCESS && elements == count);
    elements = -7;
    CHECK(MPI_Get_elements_x(&status, type, &elements) == MPI_SUCCESS && elements == count);
}

int main(void) {
    MPI_Count large = -7, size = -7;
    int small = -7, ints, addresses, types, combiner;
    MPI_Datatype chunk, huge, made_large;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    /* On both sides of what an int holds. */
    packed(MPI_BYTE, FITS, 1), packed(MPI_INT, FITS / 4, 4), packed(MPI_INT, FITS / 4 + 1, 4), packed(MPI_DOUBLE, FITS, 8), packed(MPI_DOUBLE, 0, 8);
    counted(MPI_BYTE, FITS), counted(MPI_BYTE, ABOVE), counted(MPI_INT, FITS), counted(MPI_DOUBLE, 3 * ABOVE);

    /* A type of 2^52 bytes: 2^11 of them exceed what a count holds. */
    MPI_Type_contiguous(1 << 26, MPI_BYTE, &chunk);
    MPI_Type_contiguous(1 << 26, chunk, &huge);
    MPI_Type_commit(&huge);
    CHECK(MPI_Type_size(huge, &small) == MPI_SUCCESS && small == MPI_UNDEFINED);
    CHECK(MPI_Type_size_c(huge, &size) == MPI_SUCCESS && size == (MPI_Count)1 << 52);
    size = -7;
    CHECK(MPI_Type_size_x(huge, &size) == MPI_SUCCESS && size == (MPI_Count)1 << 52);
    packed(huge, 1, (MPI_Count)1 << 52), packed(huge, 2047, (MPI_Count)1 << 52);
    small = -7;
    CHECK(MPI_Pack_size(1 << 11, huge, MPI_COMM_SELF, &small) == MPI_SUCCESS && small == MPI_UNDEFINED);
    CHECK(MPI_Pack_size_c(1 << 11, huge, MPI_COMM_SELF, &large) == MPI_SUCCESS && large == MPI_UNDEFINED);
    large = -7;
    CHECK(MPI_Pack_size_c(LLONG_MAX, huge, MPI_COMM_SELF, &large) == MPI_SUCCESS && large == MPI_UNDEFINED);
    large = -7;
    CHECK(MPI_Pack_external_size("external32", 1 << 11, huge, &large) == MPI_SUCCESS && large == MPI_UNDEFINED);
    large = -7;
    CHECK(MPI_Pack_external_size_c("external32", LLONG_MAX, huge, &large) == MPI_SUCCESS && large == MPI_UNDEFINED);

    /* Wrong arguments stay errors, and nothing is stored. */
    small = -7;
    CHECK(class_of(MPI_Pack_size(-1, MPI_INT, MPI_COMM_SELF, &small)) == MPI_ERR_COUNT && small == -7);
    CHECK(class_of(MPI_Pack_size(1, MPI_DATATYPE_NULL, MPI_COMM_SELF, &small)) == MPI_ERR_TYPE && small == -7);
    CHECK(class_of(MPI_Pack_size(1, MPI_INT, MPI_COMM_NULL, &small)) == MPI_ERR_COMM && small == -7);

    /* How a type was made with large counts cannot be told without them (§5.1.13). */
    MPI_Type_contiguous_c(3, MPI_INT, &made_large);
    CHECK(class_of(MPI_Type_get_envelope(made_large, &ints, &addresses, &types, &combiner)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Type_get_contents(made_large, 9, 9, 9, (int[9]){0}, (MPI_Aint[9]){0}, (MPI_Datatype[9]){0})) == MPI_ERR_TYPE);
    MPI_Type_free(&made_large), MPI_Type_free(&huge), MPI_Type_free(&chunk);
    return finish();
}
