/* Info objects keep values byte for byte (MPI 5.0 §10): in C nothing strips blanks, which is for Fortran's fixed-length strings. The same before
 * MPI_Init, inside and after MPI_Finalize. */
#include "check.h"

static int class_of(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static void keeps(MPI_Info info, const char *key, const char *value) {
    char got[MPI_MAX_INFO_VAL], old[MPI_MAX_INFO_VAL + 1];
    int length = 0, found = 0, room = (int)strlen(value) + 1;
    CHECK(MPI_Info_set(info, key, value) == MPI_SUCCESS);
    CHECK(MPI_Info_get_string(info, key, &length, NULL, &found) == MPI_SUCCESS && found && length == room);
    /* Every length of a buffer up to the right one, and what stands behind it. */
    for (int have = 1; have <= room; have += have < 8 || have + 8 > room ? 1 : 7) {
        memset(got, '#', sizeof got);
        length = have, found = 0;
        CHECK(MPI_Info_get_string(info, key, &length, got, &found) == MPI_SUCCESS && found && length == room);
        CHECK(strncmp(got, value, (size_t)have - 1) == 0 && got[have - 1] == 0 && (have == (int)sizeof got || got[have] == '#'));
    }
    CHECK(MPI_Info_get_valuelen(info, key, &length, &found) == MPI_SUCCESS && found && length == room - 1);
    memset(old, '#', sizeof old);
    CHECK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, old, &found) == MPI_SUCCESS && found && strcmp(old, value) == 0);
}

/* Errors end a program that has no error handler yet, or none any more. */
static void all(int inside) {
    static char longest[MPI_MAX_INFO_VAL + 2];
    const char *values[] = {"v", "", " ", "   ", " before", "behind ", "  both  ", "in  between", "\ttabs\t", "\nlines\n", " \t mixed \n "};
    enum { MANY = sizeof values / sizeof *values };
    MPI_Info info, copy;
    char key[MPI_MAX_INFO_KEY], got[MPI_MAX_INFO_VAL];
    int n = -1, length, found;
    CHECK(MPI_Info_create(&info) == MPI_SUCCESS);
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof key, "key %d", i);
        keeps(info, key, values[i]);
    }
    /* The longest value there may be, blanks at both ends; one more is too long, blanks or not. */
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = ' ', longest[MPI_MAX_INFO_VAL - 2] = ' ', longest[MPI_MAX_INFO_VAL - 1] = 0;
    keeps(info, "longest", longest);
    longest[MPI_MAX_INFO_VAL - 1] = ' ', longest[MPI_MAX_INFO_VAL] = 0;
    if (inside) CHECK(class_of(MPI_Info_set(info, "longest", longest)) == MPI_ERR_INFO_VALUE);
    length = sizeof got;
    CHECK(MPI_Info_get_string(info, "longest", &length, got, &found) == MPI_SUCCESS && found && length == MPI_MAX_INFO_VAL);

    /* The order of keys, also in a copy, which is a thing of its own. */
    CHECK(MPI_Info_dup(info, &copy) == MPI_SUCCESS);
    CHECK(MPI_Info_set(info, "key 0", " changed") == MPI_SUCCESS && MPI_Info_delete(info, "key 1") == MPI_SUCCESS);
    CHECK(MPI_Info_get_nkeys(copy, &n) == MPI_SUCCESS && n == MANY + 1);
    for (int i = 0; i < MANY; i++) {
        char due[MPI_MAX_INFO_KEY];
        snprintf(due, sizeof due, "key %d", i);
        CHECK(MPI_Info_get_nthkey(copy, i, key) == MPI_SUCCESS && strcmp(key, due) == 0);
        length = sizeof got;
        CHECK(MPI_Info_get_string(copy, key, &length, got, &found) == MPI_SUCCESS && found && strcmp(got, values[i]) == 0);
    }
    CHECK(MPI_Info_get_nkeys(info, &n) == MPI_SUCCESS && n == MANY);
    if (inside) {
        CHECK(class_of(MPI_Info_get_nthkey(info, n, key)) == MPI_ERR_ARG && class_of(MPI_Info_get_nthkey(info, -1, key)) == MPI_ERR_ARG);
        CHECK(class_of(MPI_Info_delete(info, "key 1")) == MPI_ERR_INFO_NOKEY);
        CHECK(class_of(MPI_Info_set(info, "", "x")) == MPI_ERR_INFO_KEY);
    }

    /* A key that is not there changes nothing but the flag. */
    length = 5, found = 1, got[0] = '#';
    CHECK(MPI_Info_get_string(info, "none", &length, got, &found) == MPI_SUCCESS && !found && length == 5 && got[0] == '#');
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS && info == MPI_INFO_NULL && MPI_Info_free(&copy) == MPI_SUCCESS);
}

int main(void) {
    all(0);
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    all(1);
    MPI_Finalize();
    all(0);
    if (failures == 0) printf("No Errors\n");
    return failures != 0;
}
