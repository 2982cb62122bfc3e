/* Every predefined operation on every predefined datatype: the right values where MPI 5.0 §6.9.2 and §6.9.4 define it, MPI_ERR_OP
 * where not. */
#include "check.h"
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

enum kind { INTEGER = 1, FORTRAN = 2, FLOATING = 4, LOGICAL = 8, COMPLEX = 16, BYTE = 32, LANGUAGES = 64, PAIR = 128, NONE = 256 };
enum op { MAX, MIN, SUM, PROD, LAND, LOR, LXOR, BAND, BOR, BXOR, MAXLOC, MINLOC, OPS };

static const enum kind defined[OPS] = {
    [MAX] = INTEGER | FORTRAN | FLOATING | LANGUAGES, [MIN] = INTEGER | FORTRAN | FLOATING | LANGUAGES,
    [SUM] = INTEGER | FORTRAN | FLOATING | COMPLEX | LANGUAGES, [PROD] = INTEGER | FORTRAN | FLOATING | COMPLEX | LANGUAGES,
    /* The standard's table leaves Fortran's integers and MPI_AINT out here; programs know it from other libraries. */
    [LAND] = INTEGER | FORTRAN | LANGUAGES | LOGICAL, [LOR] = INTEGER | FORTRAN | LANGUAGES | LOGICAL,
    [LXOR] = INTEGER | FORTRAN | LANGUAGES | LOGICAL,
    [BAND] = INTEGER | FORTRAN | BYTE | LANGUAGES, [BOR] = INTEGER | FORTRAN | BYTE | LANGUAGES, [BXOR] = INTEGER | FORTRAN | BYTE | LANGUAGES,
    [MAXLOC] = PAIR, [MINLOC] = PAIR,
};

static MPI_Op handle(enum op op) {
    const MPI_Op all[OPS] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
    return all[op];
}

enum { N = 37 };

/* The data of a test: small values, so that sums and products fit every type; all bits get used. */
static int left_of(int i) { return i % 7; }
static int right_of(int i) { return i % 5 + (i % 3 == 0); }

static int tried, refused;

static void not_defined(MPI_Datatype type, enum op op) {
    char a[64 * N] = {0}, b[64 * N] = {0};
    int code = MPI_Reduce_local(a, b, 1, type, handle(op)), class = -1;
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_OP) {
        char name[MPI_MAX_OBJECT_NAME];
        int length;
        MPI_Type_get_name(type, name, &length);
        printf("operation %d on %s: class %d\n", op, name, class);
        failures++;
    }
    refused++;
}

#define SAME(type, what)                                                       \
    do {                                                                       \
        int code_ = MPI_Reduce_local(a, b, N, mpi, handle(op));                \
        for (int i = 0; i < N && code_ == MPI_SUCCESS; i++) {                  \
            type x = (type)left_of(i), y = (type)right_of(i), z = (type)(what); \
            (void)x, (void)y;                                                  \
            if (b[i] != z) {                                                   \
                printf("operation %d on %s, element %d\n", op, #type, i);      \
                failures++;                                                    \
                break;                                                         \
            }                                                                  \
        }                                                                      \
        if (code_ != MPI_SUCCESS) printf("operation %d on %s: %d\n", op, #type, code_), failures++; \
        tried++;                                                               \
    } while (0)

#define FILL(type)                                                             \
    type a[N], b[N];                                                           \
    for (int i = 0; i < N; i++) a[i] = (type)left_of(i), b[i] = (type)right_of(i)

#define ORDERED(type) \
    case MAX: SAME(type, x > y ? x : y); break; \
    case MIN: SAME(type, x < y ? x : y); break;
#define ARITHMETIC(type) \
    case SUM: SAME(type, x + y); break; \
    case PROD: SAME(type, x * y); break;
/* Of Fortran's LOGICALs one of the two comes out as it was, or 0: compilers have different values for true. */
#define TRUTH(type, fortran) \
    case LAND: SAME(type, (fortran) ? (x != 0 ? y : 0) : (x != 0) && (y != 0)); break; \
    case LOR: SAME(type, (fortran) ? (x != 0 ? x : y) : (x != 0) || (y != 0)); break; \
    case LXOR: SAME(type, (fortran) ? (x == 0 ? y : y == 0 ? x : 0) : (x != 0) != (y != 0)); break;
#define BITS(type) \
    case BAND: SAME(type, x & y); break; \
    case BOR: SAME(type, x | y); break; \
    case BXOR: SAME(type, x ^ y); break;

#define WHOLE(name, type)                                                      \
    static void name(MPI_Datatype mpi, enum kind kind) {                       \
        for (enum op op = 0; op < OPS; op++) {                                 \
            FILL(type);                                                        \
            if (!(defined[op] & kind)) { not_defined(mpi, op); continue; }     \
            switch (op) { ORDERED(type) ARITHMETIC(type) TRUTH(type, kind == LOGICAL) BITS(type) default: break; } \
        }                                                                      \
    }
#define FLOATS(name, type)                                                     \
    static void name(MPI_Datatype mpi, enum kind kind) {                       \
        for (enum op op = 0; op < OPS; op++) {                                 \
            FILL(type);                                                        \
            if (!(defined[op] & kind)) { not_defined(mpi, op); continue; }     \
            switch (op) { ORDERED(type) ARITHMETIC(type) default: break; }     \
        }                                                                      \
    }
#define COMPLEXES(name, type, part)                                            \
    static void name(MPI_Datatype mpi, enum kind kind) {                       \
        for (enum op op = 0; op < OPS; op++) {                                 \
            type a[N], b[N];                                                   \
            for (int i = 0; i < N; i++) a[i] = left_of(i) + (part)(i % 3) * I, b[i] = right_of(i) - (part)(i % 4) * I; \
            if (!(defined[op] & kind)) { not_defined(mpi, op); continue; }     \
            int code = MPI_Reduce_local(a, b, N, mpi, handle(op));             \
            CHECK(code == MPI_SUCCESS);                                        \
            for (int i = 0; i < N; i++) {                                      \
                type x = left_of(i) + (part)(i % 3) * I, y = right_of(i) - (part)(i % 4) * I; \
                CHECK(b[i] == (op == SUM ? x + y : x * y));                    \
            }                                                                  \
            tried++;                                                           \
        }                                                                      \
    }
#define PAIRS(name, first, second)                                             \
    static void name(MPI_Datatype mpi) {                                       \
        struct { first value; second at; } a[N], b[N], c;                      \
        for (enum op op = 0; op < OPS; op++) {                                 \
            if (!(defined[op] & PAIR)) { not_defined(mpi, op); continue; }     \
            memset(a, 0, sizeof a);                                            \
            memset(b, 0, sizeof b);                                            \
            for (int i = 0; i < N; i++) {                                      \
                a[i].value = (first)left_of(i), a[i].at = (second)(i % 4);     \
                b[i].value = (first)right_of(i), b[i].at = (second)(3 - i % 4); \
            }                                                                  \
            CHECK(MPI_Reduce_local(a, b, N, mpi, handle(op)) == MPI_SUCCESS);  \
            for (int i = 0; i < N; i++) {                                      \
                first x = (first)left_of(i), y = (first)right_of(i);           \
                second p = (second)(i % 4), q = (second)(3 - i % 4);           \
                int mine = op == MAXLOC ? x > y : x < y;                       \
                c.value = mine ? x : y;                                        \
                c.at = x == y ? (p < q ? p : q) : mine ? p : q;                \
                CHECK(b[i].value == c.value && b[i].at == c.at);               \
            }                                                                  \
            tried++;                                                           \
        }                                                                      \
    }

WHOLE(whole_i8, int8_t) WHOLE(whole_i16, int16_t) WHOLE(whole_i32, int32_t) WHOLE(whole_i64, int64_t)
WHOLE(whole_u8, uint8_t) WHOLE(whole_u16, uint16_t) WHOLE(whole_u32, uint32_t) WHOLE(whole_u64, uint64_t)
FLOATS(whole_float, float) FLOATS(whole_double, double) FLOATS(whole_long_double, long double)
COMPLEXES(complex_float, float complex, float) COMPLEXES(complex_double, double complex, double)
COMPLEXES(complex_long_double, long double complex, long double)
PAIRS(float_int, float, int) PAIRS(double_int, double, int) PAIRS(long_int, long, int) PAIRS(two_int, int, int)
PAIRS(short_int, short, int) PAIRS(long_double_int, long double, int) PAIRS(two_real, float, float)
PAIRS(two_double, double, double)

#ifdef __SIZEOF_INT128__
WHOLE(whole_i128, __int128)
#endif

#if defined __SIZEOF_FLOAT128__ && defined __SIZEOF_INT128__
typedef unsigned __int128 bits;

/* Any bits at all, exponents often near each other or at an edge. */
static bits any(void) {
    static uint64_t state = 88172645463325252u;
    bits x = 0;
    for (int i = 0; i < 2; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        x = x << 64 | state;
    }
    static const int near[] = {0, 1, 2, 60, 113, 8191, 16383, 16384, 16400, 16440, 16495, 24575, 32765, 32766, 32767};
    unsigned at = (unsigned)(x >> 100) % 20;
    if (at < 15) x = (x & ~((bits)0x7fff << 112)) | (bits)near[at] << 112;
    if ((unsigned)(x >> 90) % 8 == 0) x = x >> 40 << 40;
    return x;
}

/* Against the compiler's arithmetic. */
static void quad(void) {
    for (int turn = 0; turn < 200000; turn++) {
        bits a = any(), b = any(), got, want;
        __float128 x, y, z;
        memcpy(&x, &a, 16), memcpy(&y, &b, 16);
        for (enum op op = MAX; op <= PROD; op++) {
            z = op == MAX ? (x > y ? x : y) : op == MIN ? (x < y ? x : y) : op == SUM ? x + y : x * y;
            memcpy(&want, &z, 16), got = b;
            if (MPI_Reduce_local(&a, &got, 1, MPI_REAL16, handle(op)) != MPI_SUCCESS || (got != want && z == z)) {
                printf("operation %d on MPI_REAL16: %016llx%016llx, %016llx%016llx\n", op, (long long)(a >> 64), (long long)a,
                       (long long)(b >> 64), (long long)b);
                failures++;
                return;
            }
            memcpy(&y, &got, 16);
            CHECK((z != z) == (y != y)); /* no number stays none */
            memcpy(&y, &b, 16);
        }
    }
    tried += 4;
    for (enum op op = 0; op < OPS; op++) {
        __float128 left[2] = {3, -2}, right[2] = {5, 7};
        if (!(defined[op] & FLOATING)) not_defined(MPI_REAL16, op);
        if (!(defined[op] & COMPLEX)) { not_defined(MPI_COMPLEX32, op); continue; }
        CHECK(MPI_Reduce_local(left, right, 1, MPI_COMPLEX32, handle(op)) == MPI_SUCCESS);
        CHECK(op == SUM ? right[0] == 8 && right[1] == 5 : right[0] == 29 && right[1] == 11);
        tried++;
    }
}
#else
static void quad(void) {}
#endif

/* bool: what is true is 1. */
static void booleans(MPI_Datatype mpi) {
    for (enum op op = 0; op < OPS; op++) {
        FILL(bool);
        if (!(defined[op] & LOGICAL)) { not_defined(mpi, op); continue; }
        switch (op) { TRUTH(bool, 0) default: break; }
    }
}

static void integers(MPI_Datatype type, enum kind kind) {
    int size = 0;
    MPI_Type_size(type, &size);
    switch (size) {
    case 1: whole_i8(type, kind); break;
    case 2: whole_i16(type, kind); break;
    case 4: whole_i32(type, kind); break;
    case 8: whole_i64(type, kind); break;
#ifdef __SIZEOF_INT128__
    case 16: whole_i128(type, kind); break;
#endif
    default: CHECK(!"an integer of another size");
    }
}

static void naturals(MPI_Datatype type, enum kind kind) {
    int size = 0;
    MPI_Type_size(type, &size);
    switch (size) {
    case 1: whole_u8(type, kind); break;
    case 2: whole_u16(type, kind); break;
    case 4: whole_u32(type, kind); break;
    case 8: whole_u64(type, kind); break;
    default: CHECK(!"an integer of another size");
    }
}

/* A type that this platform has: optional ones have no size where it has not. */
static int there(MPI_Datatype type) {
    int size = MPI_UNDEFINED;
    return type != MPI_DATATYPE_NULL && MPI_Type_size(type, &size) == MPI_SUCCESS && size != MPI_UNDEFINED && size > 0;
}

/* Numbers that C may not know: 1 and 2 by their bytes. */
static void by_bytes(MPI_Datatype type, int bytes, const char *one, const char *two, enum kind kind) {
    if (!there(type)) return;
    for (enum op op = 0; op < OPS; op++) {
        char a[32], b[32];
        memcpy(a, one, bytes), memcpy(b, one, bytes);
        if (!(defined[op] & kind)) { not_defined(type, op); continue; }
        int code = MPI_Reduce_local(a, b, 1, type, handle(op));
        CHECK(code == MPI_SUCCESS);
        if (op == SUM) CHECK(memcmp(b, two, bytes) == 0);
        if (op == PROD || op == MAX || op == MIN) CHECK(memcmp(b, one, bytes) == 0);
        tried++;
    }
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype c_integers[] = {MPI_INT, MPI_LONG, MPI_SHORT, MPI_LONG_LONG, MPI_LONG_LONG_INT, MPI_SIGNED_CHAR, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T};
    MPI_Datatype c_naturals[] = {MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_SHORT, MPI_UNSIGNED_LONG_LONG, MPI_UNSIGNED_CHAR, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T};
    MPI_Datatype fortran[] = {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER16};
    MPI_Datatype languages[] = {MPI_AINT, MPI_COUNT, MPI_OFFSET};
    MPI_Datatype none[] = {MPI_WCHAR, MPI_CHARACTER, MPI_PACKED};
#define EACH(list, call) for (unsigned i = 0; i < sizeof list / sizeof *list; i++) if (there(list[i])) call
    /* Beyond the standard: char with the arithmetic of the integer it is. */
    if ((char)-1 < 0) integers(MPI_CHAR, INTEGER);
    else naturals(MPI_CHAR, INTEGER);
    EACH(c_integers, integers(c_integers[i], INTEGER));
    EACH(c_naturals, naturals(c_naturals[i], INTEGER));
    EACH(fortran, integers(fortran[i], FORTRAN));
    EACH(languages, integers(languages[i], LANGUAGES));
    EACH(none, for (enum op op = 0; op < OPS; op++) not_defined(none[i], op));
    naturals(MPI_BYTE, BYTE);
    whole_float(MPI_FLOAT, FLOATING);
    whole_float(MPI_REAL, FLOATING);
    if (there(MPI_REAL4)) whole_float(MPI_REAL4, FLOATING);
    whole_double(MPI_DOUBLE, FLOATING);
    whole_double(MPI_DOUBLE_PRECISION, FLOATING);
    if (there(MPI_REAL8)) whole_double(MPI_REAL8, FLOATING);
    whole_long_double(MPI_LONG_DOUBLE, FLOATING);
    /* Half precision: 1 and 2 in IEEE's format. */
    by_bytes(MPI_REAL2, 2, "\0\x3c", "\0\x40", FLOATING);
    by_bytes(MPI_COMPLEX4, 4, "\0\x3c\0\0", "\0\x40\0\0", COMPLEX);
    quad();
    complex_float(MPI_C_COMPLEX, COMPLEX);
    complex_float(MPI_C_FLOAT_COMPLEX, COMPLEX);
    complex_float(MPI_CXX_FLOAT_COMPLEX, COMPLEX);
    complex_float(MPI_COMPLEX, COMPLEX);
    if (there(MPI_COMPLEX8)) complex_float(MPI_COMPLEX8, COMPLEX);
    complex_double(MPI_C_DOUBLE_COMPLEX, COMPLEX);
    complex_double(MPI_CXX_DOUBLE_COMPLEX, COMPLEX);
    complex_double(MPI_DOUBLE_COMPLEX, COMPLEX);
    if (there(MPI_COMPLEX16)) complex_double(MPI_COMPLEX16, COMPLEX);
    complex_long_double(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX);
    complex_long_double(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX);
    booleans(MPI_C_BOOL);
    booleans(MPI_CXX_BOOL);
    /* Fortran's logical values are integers here. */
    MPI_Datatype logical[] = {MPI_LOGICAL, MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8, MPI_LOGICAL16};
    EACH(logical, integers(logical[i], LOGICAL));
    float_int(MPI_FLOAT_INT);
    double_int(MPI_DOUBLE_INT);
    long_int(MPI_LONG_INT);
    two_int(MPI_2INT);
    short_int(MPI_SHORT_INT);
    long_double_int(MPI_LONG_DOUBLE_INT);
    two_real(MPI_2REAL);
    two_double(MPI_2DOUBLE_PRECISION);
    two_int(MPI_2INTEGER);
    CHECK(tried > 250 && refused > 250);
    /* MPI_REPLACE and MPI_NO_OP are for one-sided operations only (§12.3.4). */
    int one = 1, two = 2;
    FAILS(MPI_ERR_OP, MPI_Reduce_local(&one, &two, 1, MPI_INT, MPI_REPLACE));
    FAILS(MPI_ERR_OP, MPI_Reduce_local(&one, &two, 1, MPI_INT, MPI_NO_OP));
    FAILS(MPI_ERR_OP, MPI_Reduce_local(&one, &two, 1, MPI_INT, MPI_OP_NULL));
    FAILS(MPI_ERR_COUNT, MPI_Reduce_local(&one, &two, -1, MPI_INT, MPI_SUM));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce_local(&one, &one, 1, MPI_INT, MPI_SUM));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce_local(NULL, &one, 1, MPI_INT, MPI_SUM));
    CHECK(MPI_Reduce_local_c(&one, &two, 1, MPI_INT, MPI_SUM) == MPI_SUCCESS && two == 3);
    /* A datatype that a program made has no predefined operation. */
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (enum op op = 0; op < OPS; op++) not_defined(pair, op);
    MPI_Type_free(&pair);
    return finish();
}
