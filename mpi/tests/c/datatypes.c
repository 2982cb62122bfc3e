/* Constructors, what they say of themselves, external32, and wrong arguments. */
#include "check.h"
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

struct record {
    char tag;
    double value[2];
    short pair[3];
};

static MPI_Datatype record_type(void) {
    MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, plain, type;
    MPI_Aint at[] = {offsetof(struct record, tag), offsetof(struct record, value), offsetof(struct record, pair)};
    MPI_Type_create_struct(3, (int[]){1, 2, 3}, at, parts, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct record), &type);
    MPI_Type_free(&plain);
    MPI_Type_commit(&type);
    return type;
}

static void structures(void) {
    MPI_Datatype type = record_type(), inner, got[3];
    int size, ni, na, nd, how, ints[4], elements;
    MPI_Aint lb, extent, at[3];
    MPI_Count nc, cni, cna, cnd, counts[7], long_elements;
    MPI_Type_size(type, &size);
    CHECK(size == 1 + 16 + 6);
    MPI_Type_get_true_extent(type, &lb, &extent);
    CHECK(lb == 0 && extent == offsetof(struct record, pair) + 6);
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK(lb == 0 && extent == sizeof(struct record));
    MPI_Type_get_contents(type, 0, 2, 1, NULL, at, &inner);
    CHECK(at[0] == 0 && at[1] == sizeof(struct record));
    MPI_Type_get_envelope(inner, &ni, &na, &nd, &how);
    CHECK(ni == 4 && na == 3 && nd == 3 && how == MPI_COMBINER_STRUCT);
    MPI_Type_get_contents(inner, 4, 3, 3, ints, at, got);
    CHECK(ints[0] == 3 && ints[1] == 1 && ints[3] == 3 && at[1] == offsetof(struct record, value));
    CHECK(got[0] == MPI_CHAR && got[1] == MPI_DOUBLE && got[2] == MPI_SHORT);
    FAILS(MPI_ERR_ARG, MPI_Type_get_contents(inner, 4, 3, 2, ints, at, got));
    MPI_Type_free(&inner);

    MPI_Status status;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements(&status, type, 5); /* one record has six */
    MPI_Get_elements(&status, type, &elements);
    CHECK(elements == 5);
    MPI_Get_count(&status, MPI_BYTE, &elements);
    CHECK(elements == 1 + 16 + 2 * 2);
    MPI_Get_count(&status, type, &elements);
    CHECK(elements == MPI_UNDEFINED);
    MPI_Status_set_elements_c(&status, type, 6 * ((MPI_Count)1 << 33) + 2);
    MPI_Get_elements_c(&status, type, &long_elements);
    CHECK(long_elements == 6 * ((MPI_Count)1 << 33) + 2);
    MPI_Get_elements(&status, type, &elements);
    CHECK(elements == MPI_UNDEFINED);

    struct record from[7], to[7];
    char buffer[7 * 23];
    int position = 0;
    memset(from, 3, sizeof from);
    memset(to, 9, sizeof to);
    for (int i = 0; i < 7; i++) from[i].tag = i, from[i].value[1] = i / 8., from[i].pair[2] = 100 * i;
    MPI_Pack(from, 7, type, buffer, sizeof buffer, &position, MPI_COMM_SELF);
    CHECK(position == sizeof buffer);
    position = 0;
    MPI_Unpack(buffer, sizeof buffer, &position, to, 7, type, MPI_COMM_SELF);
    for (int i = 0; i < 7; i++)
        CHECK(to[i].tag == i && to[i].value[1] == i / 8. && to[i].pair[2] == 100 * i && ((char *)&to[i])[1] == 9);
    MPI_Type_free(&type);

    MPI_Type_create_struct_c(2, (MPI_Count[]){1, (MPI_Count)1 << 40}, (MPI_Count[]){0, 8},
                             (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &type);
    MPI_Type_get_envelope_c(type, &cni, &cna, &nc, &cnd, &how);
    CHECK(cni == 0 && cna == 0 && nc == 5 && cnd == 2 && how == MPI_COMBINER_STRUCT);
    FAILS(MPI_ERR_TYPE, MPI_Type_get_envelope(type, &ni, &na, &nd, &how));
    MPI_Type_get_contents_c(type, 0, 0, 5, 2, NULL, NULL, counts, got);
    CHECK(counts[0] == 2 && counts[2] == (MPI_Count)1 << 40 && counts[4] == 8 && got[1] == MPI_DOUBLE);
    MPI_Type_size(type, &size);
    CHECK(size == MPI_UNDEFINED);
    MPI_Type_size_c(type, &nc);
    CHECK(nc == 4 + ((MPI_Count)1 << 43));
    MPI_Type_free(&type);
}

static void arrays(void) {
    MPI_Datatype type, got[1];
    int matrix[4][5], out[6], position = 0, ints[20], ni, na, nd, how;
    MPI_Count nc, cni, cna, cnd, counts[20];
    for (int i = 0; i < 20; i++) matrix[i / 5][i % 5] = i;
    MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Pack(matrix, 1, type, out, sizeof out, &position, MPI_COMM_SELF);
    CHECK(out[0] == 7 && out[2] == 9 && out[3] == 12 && out[5] == 14);
    MPI_Type_get_envelope(type, &ni, &na, &nd, &how);
    CHECK(ni == 8 && na == 0 && nd == 1 && how == MPI_COMBINER_SUBARRAY);
    MPI_Type_get_contents(type, 8, 0, 1, ints, NULL, got);
    CHECK(ints[0] == 2 && ints[2] == 5 && ints[4] == 3 && ints[6] == 2 && ints[7] == MPI_ORDER_C);
    MPI_Type_free(&type);
    MPI_Type_create_subarray_c(2, (MPI_Count[]){4, 5}, (MPI_Count[]){2, 3}, (MPI_Count[]){1, 2}, MPI_ORDER_FORTRAN,
                               MPI_INT, &type);
    MPI_Type_get_envelope_c(type, &cni, &cna, &nc, &cnd, &how);
    CHECK(cni == 2 && cna == 0 && nc == 6 && cnd == 1);
    MPI_Type_get_contents_c(type, 2, 0, 6, 1, ints, NULL, counts, got);
    CHECK(ints[0] == 2 && ints[1] == MPI_ORDER_FORTRAN && counts[1] == 5 && counts[5] == 2);
    MPI_Type_free(&type);
    FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 3}, (int[]){1, 3}, MPI_ORDER_C, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 0}, (int[]){1, 3}, MPI_ORDER_C, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(0, NULL, NULL, NULL, MPI_ORDER_C, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(1, (int[]){4}, (int[]){2}, (int[]){1}, 77, MPI_INT, &type));

    int one[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, dargs[] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
    MPI_Type_create_darray(4, 3, 2, (int[]){4, 5}, one, dargs, (int[]){2, 2}, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    position = 0;
    MPI_Pack(matrix, 1, type, out, sizeof out, &position, MPI_COMM_SELF);
    CHECK(position == 16 && out[0] == 12 && out[1] == 13 && out[2] == 17 && out[3] == 18);
    MPI_Type_get_envelope(type, &ni, &na, &nd, &how);
    CHECK(ni == 12 && na == 0 && nd == 1 && how == MPI_COMBINER_DARRAY);
    MPI_Type_get_contents(type, 12, 0, 1, ints, NULL, got);
    CHECK(ints[0] == 4 && ints[1] == 3 && ints[4] == 5 && ints[8] == 2 && ints[10] == 2 && ints[11] == MPI_ORDER_C);
    MPI_Type_free(&type);
    FAILS(MPI_ERR_ARG, MPI_Type_create_darray(5, 3, 2, (int[]){4, 5}, one, dargs, (int[]){2, 2}, MPI_ORDER_C, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_darray(4, 4, 2, (int[]){4, 5}, one, dargs, (int[]){2, 2}, MPI_ORDER_C, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_darray(4, 3, 2, (int[]){4, 5}, one, (int[]){1, 2}, (int[]){2, 2}, MPI_ORDER_C, MPI_INT, &type));
}

static void portable(void) {
    struct record from = {1, {1.0, -2.0}, {1, -2, 3}}, back;
    unsigned char out[64];
    MPI_Datatype type = record_type();
    MPI_Aint position = 0, size;
    MPI_Pack_external_size("external32", 2, type, &size);
    CHECK(size == 46);
    MPI_Pack_external("external32", &from, 1, type, out, sizeof out, &position);
    CHECK(position == 23 && out[0] == 1 && out[1] == 0x3f && out[2] == 0xf0 && out[9] == 0xc0 && out[18] == 1 && out[20] == 0xfe);
    memset(&back, 0, sizeof back);
    position = 0;
    MPI_Unpack_external("external32", out, 23, &position, &back, 1, type);
    CHECK(position == 23 && back.tag == 1 && back.value[1] == -2.0 && back.pair[1] == -2 && back.pair[2] == 3);
    MPI_Type_free(&type);

    long number = -5, far = 1L << 40, got = 0;
    position = 0;
    MPI_Pack_external("external32", &number, 1, MPI_LONG, out, sizeof out, &position);
    CHECK(position == 4 && out[0] == 0xff && out[3] == 0xfb);
    position = 0;
    MPI_Unpack_external("external32", out, 4, &position, &got, 1, MPI_LONG);
    CHECK(got == -5);
    position = 0;
    FAILS(MPI_ERR_CONVERSION, MPI_Pack_external("external32", &far, 1, MPI_LONG, out, sizeof out, &position));
    CHECK(position == 0);
    FAILS(MPI_ERR_TRUNCATE, MPI_Pack_external("external32", &number, 1, MPI_LONG, out, 3, &position));
    FAILS(MPI_ERR_UNSUPPORTED_DATAREP, MPI_Pack_external("native", &number, 1, MPI_LONG, out, sizeof out, &position));
    long double wide = -0.1L, same = 0;
    MPI_Pack_external("external32", &wide, 1, MPI_LONG_DOUBLE, out, sizeof out, &position);
    CHECK(position == 16);
    position = 0;
    MPI_Unpack_external("external32", out, 16, &position, &same, 1, MPI_LONG_DOUBLE);
    CHECK(same == wide);
    wchar_t letter = 0x20ac, letter_back = 0;
    position = 0;
    MPI_Pack_external("external32", &letter, 1, MPI_WCHAR, out, sizeof out, &position);
    CHECK(position == 2 && out[0] == 0x20 && out[1] == 0xac);
    position = 0;
    MPI_Unpack_external("external32", out, 2, &position, &letter_back, 1, MPI_WCHAR);
    CHECK(letter_back == letter);
}

static void fortran(void) {
    MPI_Datatype real, again, other;
    int ni, na, nd, how, ints[2], size;
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &real);
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &again);
    MPI_Type_size(real, &size);
    CHECK(size == 8 && real == again);
    MPI_Type_get_envelope(real, &ni, &na, &nd, &how);
    CHECK(ni == 2 && na == 0 && nd == 0 && how == MPI_COMBINER_F90_REAL);
    MPI_Type_get_contents(real, 2, 0, 0, ints, NULL, NULL);
    CHECK(ints[0] == 12 && ints[1] == MPI_UNDEFINED);
    again = real;
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&again));
    double sum[2] = {1, 2}, more[2] = {3, 4};
    CHECK(MPI_Reduce_local(sum, more, 2, real, MPI_SUM) == MPI_SUCCESS && more[1] == 6);
    MPI_Type_create_f90_complex(3, 3, &other);
    MPI_Type_size(other, &size);
    CHECK(size == 8);
    MPI_Type_create_f90_integer(12, &other);
    MPI_Type_get_envelope(other, &ni, &na, &nd, &how);
    CHECK(ni == 1 && how == MPI_COMBINER_F90_INTEGER);
    MPI_Type_size(other, &size);
    CHECK(size == 8);
    FAILS(MPI_ERR_ARG, MPI_Type_create_f90_real(99, 10, &other));
    FAILS(MPI_ERR_ARG, MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &other));
    FAILS(MPI_ERR_ARG, MPI_Type_create_f90_integer(50, &other));
}

static void large_and_odd(void) {
    MPI_Datatype type, nest, empty;
    MPI_Count size;
    MPI_Aint lb, extent;
    /* Thirty levels, each twice the one below, with gaps. */
    MPI_Type_dup(MPI_INT, &nest);
    for (int level = 0; level < 30; level++) {
        MPI_Type_get_extent(nest, &lb, &extent);
        MPI_Type_create_hvector(2, 1, extent + 4, nest, &type);
        MPI_Type_free(&nest);
        nest = type;
    }
    MPI_Type_size_c(nest, &size);
    CHECK(size == (MPI_Count)4 << 30);
    MPI_Type_free(&nest);
    /* Blocks of nothing, negative strides, lower bounds below zero. */
    MPI_Type_vector(3, 2, -4, MPI_SHORT, &type);
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK(lb == -16 && extent == 20);
    MPI_Type_free(&type);
    MPI_Type_indexed(3, (int[]){0, 2, 0}, (int[]){100, 1, 200}, MPI_INT, &type);
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK(lb == 4 && extent == 8);
    MPI_Type_free(&type);
    MPI_Type_create_struct(0, NULL, NULL, NULL, &empty);
    MPI_Type_size_c(empty, &size);
    CHECK(size == 0);
    MPI_Type_contiguous(1000, empty, &type);
    MPI_Type_size_c(type, &size);
    CHECK(size == 0);
    MPI_Type_free(&type);
    MPI_Type_free(&empty);
    /* Sizes that are no numbers. */
    MPI_Type_contiguous_c((MPI_Count)1 << 60, MPI_BYTE, &type);
    FAILS(MPI_ERR_ARG, MPI_Type_contiguous(INT_MAX, type, &nest));
    MPI_Type_free(&type);
    FAILS(MPI_ERR_COUNT, MPI_Type_contiguous(-1, MPI_INT, &type));
    FAILS(MPI_ERR_TYPE, MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_struct(1, (int[]){1}, (MPI_Aint[]){0}, (MPI_Datatype[]){MPI_DATATYPE_NULL}, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_struct(1, NULL, (MPI_Aint[]){0}, (MPI_Datatype[]){MPI_INT}, &type));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    structures();
    arrays();
    portable();
    fortran();
    large_and_odd();
    return finish();
}
