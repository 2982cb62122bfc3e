/* Every combiner: the envelope tells how many of each, the contents are the arguments, and what is built anew from them is
 * the same type (MPI 5.0 §5.1.13); in both forms, since a type made by a _c function tells of large counts. */
#include "check.h"

enum { MOST = 40 };

struct told {
    int ni, na, nd, how;
    int integers[MOST];
    MPI_Aint addresses[MOST];
    MPI_Datatype types[MOST];
};

static struct told tell(MPI_Datatype type) {
    struct told t;
    memset(&t, 0, sizeof t);
    CHECK(MPI_Type_get_envelope(type, &t.ni, &t.na, &t.nd, &t.how) == MPI_SUCCESS);
    if (t.how != MPI_COMBINER_NAMED)
        CHECK(MPI_Type_get_contents(type, t.ni, t.na, t.nd, t.integers, t.addresses, t.types) == MPI_SUCCESS);
    return t;
}

/* Whether two types put the same bytes at the same places. */
static int same(MPI_Datatype a, MPI_Datatype b) {
    enum { ROOM = 8192, AT = 1024 };
    static unsigned char data[ROOM], one[ROOM], two[ROOM];
    MPI_Aint lb[2], extent[2];
    int size[2], n = 0, m = 0;
    MPI_Type_commit(&a), MPI_Type_commit(&b);
    MPI_Type_get_extent(a, &lb[0], &extent[0]);
    MPI_Type_get_extent(b, &lb[1], &extent[1]);
    MPI_Type_size(a, &size[0]), MPI_Type_size(b, &size[1]);
    for (int i = 0; i < ROOM; i++) data[i] = (unsigned char)(i * 7 + i / 256);
    MPI_Pack(data + AT, 2, a, one, ROOM, &n, MPI_COMM_SELF);
    MPI_Pack(data + AT, 2, b, two, ROOM, &m, MPI_COMM_SELF);
    return lb[0] == lb[1] && extent[0] == extent[1] && size[0] == size[1] && n == m && memcmp(one, two, n) == 0;
}

/* Builds a type from what another tells of itself. */
static MPI_Datatype rebuild(const struct told *t) {
    const int *i = t->integers;
    const MPI_Aint *a = t->addresses;
    MPI_Datatype made = MPI_DATATYPE_NULL, of = t->types[0];
    switch (t->how) {
    case MPI_COMBINER_DUP: MPI_Type_dup(of, &made); break;
    case MPI_COMBINER_CONTIGUOUS: MPI_Type_contiguous(i[0], of, &made); break;
    case MPI_COMBINER_VECTOR: MPI_Type_vector(i[0], i[1], i[2], of, &made); break;
    case MPI_COMBINER_HVECTOR: MPI_Type_create_hvector(i[0], i[1], a[0], of, &made); break;
    case MPI_COMBINER_INDEXED: MPI_Type_indexed(i[0], i + 1, i + 1 + i[0], of, &made); break;
    case MPI_COMBINER_HINDEXED: MPI_Type_create_hindexed(i[0], i + 1, a, of, &made); break;
    case MPI_COMBINER_INDEXED_BLOCK: MPI_Type_create_indexed_block(i[0], i[1], i + 2, of, &made); break;
    case MPI_COMBINER_HINDEXED_BLOCK: MPI_Type_create_hindexed_block(i[0], i[1], a, of, &made); break;
    case MPI_COMBINER_STRUCT: MPI_Type_create_struct(i[0], i + 1, a, t->types, &made); break;
    case MPI_COMBINER_SUBARRAY:
        MPI_Type_create_subarray(i[0], i + 1, i + 1 + i[0], i + 1 + 2 * i[0], i[1 + 3 * i[0]], of, &made);
        break;
    case MPI_COMBINER_DARRAY:
        MPI_Type_create_darray(i[0], i[1], i[2], i + 3, i + 3 + i[2], i + 3 + 2 * i[2], i + 3 + 3 * i[2], i[3 + 4 * i[2]], of, &made);
        break;
    case MPI_COMBINER_RESIZED: MPI_Type_create_resized(of, a[0], a[1], &made); break;
    case MPI_COMBINER_F90_REAL: MPI_Type_create_f90_real(i[0], i[1], &made); break;
    case MPI_COMBINER_F90_COMPLEX: MPI_Type_create_f90_complex(i[0], i[1], &made); break;
    case MPI_COMBINER_F90_INTEGER: MPI_Type_create_f90_integer(i[0], &made); break;
    default: CHECK(!"a combiner nobody asked for");
    }
    return made;
}

static void drop(MPI_Datatype type) {
    struct told t = tell(type);
    int made = t.how != MPI_COMBINER_NAMED && t.how != MPI_COMBINER_F90_REAL && t.how != MPI_COMBINER_F90_COMPLEX &&
               t.how != MPI_COMBINER_F90_INTEGER;
    /* MPI_Type_get_contents gives new handles of types that are not predefined. */
    for (int i = 0; i < t.nd; i++)
        if (t.types[i] != MPI_DATATYPE_NULL) {
            struct told inner = tell(t.types[i]);
            for (int j = 0; j < inner.nd; j++) {
                struct told deep = tell(inner.types[j]);
                if (deep.how != MPI_COMBINER_NAMED) MPI_Type_free(&inner.types[j]);
            }
            if (inner.how != MPI_COMBINER_NAMED) MPI_Type_free(&t.types[i]);
        }
    if (made) MPI_Type_free(&type);
}

static void is(MPI_Datatype type, int combiner, int ni, int na, int nd) {
    struct told t = tell(type);
    if (t.how != combiner || t.ni != ni || t.na != na || t.nd != nd) {
        printf("combiner %d, %d %d %d instead of %d, %d %d %d\n", t.how, t.ni, t.na, t.nd, combiner, ni, na, nd);
        failures++;
        return;
    }
    MPI_Datatype again = rebuild(&t);
    CHECK(again != MPI_DATATYPE_NULL && same(type, again));
    struct told u = tell(again);
    CHECK(u.how == t.how && memcmp(u.integers, t.integers, sizeof t.integers) == 0 &&
          memcmp(u.addresses, t.addresses, sizeof t.addresses) == 0);
    /* Too little room for any of them. */
    if (ni) FAILS(MPI_ERR_ARG, MPI_Type_get_contents(type, ni - 1, na, nd, t.integers, t.addresses, t.types));
    if (na) FAILS(MPI_ERR_ARG, MPI_Type_get_contents(type, ni, na - 1, nd, t.integers, t.addresses, t.types));
    if (nd) FAILS(MPI_ERR_ARG, MPI_Type_get_contents(type, ni, na, nd - 1, t.integers, t.addresses, t.types));
    drop(again);
    drop(type);
}

static void is_large(MPI_Datatype type, int combiner, MPI_Count ni, MPI_Count na, MPI_Count nc, MPI_Count nd) {
    MPI_Count gi = -1, ga = -1, gc = -1, gd = -1, counts[MOST];
    int how = -1, integers[MOST];
    MPI_Aint addresses[MOST];
    MPI_Datatype types[MOST];
    MPI_Type_get_envelope_c(type, &gi, &ga, &gc, &gd, &how);
    if (how != combiner || gi != ni || ga != na || gc != nc || gd != nd) {
        printf("large combiner %d, %d %d %d %d instead of %d, %d %d %d %d\n", how, (int)gi, (int)ga, (int)gc, (int)gd, combiner,
               (int)ni, (int)na, (int)nc, (int)nd);
        failures++;
    }
    CHECK(MPI_Type_get_contents_c(type, gi, ga, gc, gd, integers, addresses, counts, types) == MPI_SUCCESS);
    if (gc) FAILS(MPI_ERR_ARG, MPI_Type_get_contents_c(type, gi, ga, gc - 1, gd, integers, addresses, counts, types));
    int n;
    if (gc) FAILS(MPI_ERR_TYPE, MPI_Type_get_envelope(type, &n, &n, &n, &n));
    MPI_Type_free(&type);
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Datatype t, odd;
    int ints[] = {2, 1, 3}, at[] = {4, 0, 9}, sizes[] = {4, 5, 6}, part[] = {2, 2, 3}, from[] = {1, 2, 0};
    MPI_Aint bytes[] = {32, 0, 100};
    MPI_Count large[] = {2, 1, 3}, far[] = {4, 0, 9};
    CHECK(tell(MPI_DOUBLE).how == MPI_COMBINER_NAMED && tell(MPI_2INT).how == MPI_COMBINER_NAMED);
    FAILS(MPI_ERR_TYPE, MPI_Type_get_contents(MPI_INT, 9, 9, 9, ints, bytes, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_get_contents(MPI_DATATYPE_NULL, 9, 9, 9, ints, bytes, &t));
    /* Of a predefined type, and of one that has gaps and bounds of its own. */
    for (int derived = 0; derived < 2; derived++) {
        MPI_Datatype of = MPI_SHORT;
        if (derived) {
            MPI_Type_vector(2, 1, 3, MPI_SHORT, &odd);
            MPI_Type_create_resized(odd, -4, 24, &of);
            MPI_Type_free(&odd);
        }
        MPI_Type_dup(of, &t), is(t, MPI_COMBINER_DUP, 0, 0, 1);
        MPI_Type_contiguous(3, of, &t), is(t, MPI_COMBINER_CONTIGUOUS, 1, 0, 1);
        MPI_Type_vector(3, 2, 4, of, &t), is(t, MPI_COMBINER_VECTOR, 3, 0, 1);
        MPI_Type_create_hvector(3, 2, 70, of, &t), is(t, MPI_COMBINER_HVECTOR, 2, 1, 1);
        MPI_Type_indexed(3, ints, at, of, &t), is(t, MPI_COMBINER_INDEXED, 7, 0, 1);
        MPI_Type_create_hindexed(3, ints, bytes, of, &t), is(t, MPI_COMBINER_HINDEXED, 4, 3, 1);
        MPI_Type_create_indexed_block(3, 2, at, of, &t), is(t, MPI_COMBINER_INDEXED_BLOCK, 5, 0, 1);
        MPI_Type_create_hindexed_block(3, 2, bytes, of, &t), is(t, MPI_COMBINER_HINDEXED_BLOCK, 2, 3, 1);
        MPI_Type_create_struct(3, ints, bytes, (MPI_Datatype[]){of, MPI_CHAR, of}, &t), is(t, MPI_COMBINER_STRUCT, 4, 3, 3);
        MPI_Type_create_subarray(3, sizes, part, from, MPI_ORDER_C, of, &t), is(t, MPI_COMBINER_SUBARRAY, 11, 0, 1);
        MPI_Type_create_subarray(3, sizes, part, from, MPI_ORDER_FORTRAN, of, &t), is(t, MPI_COMBINER_SUBARRAY, 11, 0, 1);
        MPI_Type_create_darray(6, 3, 2, sizes, (int[]){MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
                               (int[]){1, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2, 3}, MPI_ORDER_C, of, &t);
        is(t, MPI_COMBINER_DARRAY, 12, 0, 1);
        MPI_Type_create_resized(of, -8, 64, &t), is(t, MPI_COMBINER_RESIZED, 0, 2, 1);
        MPI_Type_contiguous_c(3, of, &t), is_large(t, MPI_COMBINER_CONTIGUOUS, 0, 0, 1, 1);
        MPI_Type_vector_c(3, 2, 4, of, &t), is_large(t, MPI_COMBINER_VECTOR, 0, 0, 3, 1);
        MPI_Type_create_hvector_c(3, 2, 70, of, &t), is_large(t, MPI_COMBINER_HVECTOR, 0, 0, 3, 1);
        MPI_Type_indexed_c(3, large, far, of, &t), is_large(t, MPI_COMBINER_INDEXED, 0, 0, 7, 1);
        MPI_Type_create_hindexed_c(3, large, far, of, &t), is_large(t, MPI_COMBINER_HINDEXED, 0, 0, 7, 1);
        MPI_Type_create_indexed_block_c(3, 2, far, of, &t), is_large(t, MPI_COMBINER_INDEXED_BLOCK, 0, 0, 5, 1);
        MPI_Type_create_hindexed_block_c(3, 2, far, of, &t), is_large(t, MPI_COMBINER_HINDEXED_BLOCK, 0, 0, 5, 1);
        MPI_Type_create_resized_c(of, -8, 64, &t), is_large(t, MPI_COMBINER_RESIZED, 0, 0, 2, 1);
        MPI_Type_create_darray_c(6, 3, 2, (MPI_Count[]){4, 5}, (int[]){MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
                                 (int[]){1, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2, 3}, MPI_ORDER_C, of, &t);
        is_large(t, MPI_COMBINER_DARRAY, 10, 0, 2, 1);
        if (derived) MPI_Type_free(&of);
    }
    MPI_Type_create_f90_real(6, 30, &t), is(t, MPI_COMBINER_F90_REAL, 2, 0, 0);
    MPI_Type_create_f90_complex(12, MPI_UNDEFINED, &t), is(t, MPI_COMBINER_F90_COMPLEX, 2, 0, 0);
    MPI_Type_create_f90_integer(9, &t), is(t, MPI_COMBINER_F90_INTEGER, 1, 0, 0);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG, &t);
    if (t != MPI_DATATYPE_NULL) {
        struct told told = tell(t);
        CHECK((told.how == MPI_COMBINER_VALUE_INDEX && told.nd == 2 && told.types[0] == MPI_DOUBLE && told.types[1] == MPI_LONG) ||
              told.how == MPI_COMBINER_NAMED);
    }
    return finish();
}
