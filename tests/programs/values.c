/* Rank 0 prints every control variable as "name=value", after MPI has been started at the level that is asked for. Enumerated
 * values are printed by name. */
#include "check.h"

static void print(int index) {
    char name[256], text[65536];
    int name_len = sizeof name, verbosity, bind, scope, desc_len = 0, count;
    MPI_Datatype type;
    MPI_T_enum items;
    MPI_T_cvar_handle handle;
    CHECK(MPI_T_cvar_get_info(index, name, &name_len, &verbosity, &type, &items, NULL, &desc_len, &bind, &scope) == 0, "%d",
          index);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == 0 && count <= (int)sizeof text, "%s: %d", name, count);
    if (type == MPI_CHAR) {
        CHECK(MPI_T_cvar_read(handle, text) == 0, "%s", name);
        printf("%s=%s\n", name, text);
    } else if (type == MPI_INT) {
        int value, items_there = 0, at, number, len, kind = sizeof text;
        CHECK(MPI_T_cvar_read(handle, &value) == 0, "%s", name);
        if (items != MPI_T_ENUM_NULL) {
            char of[256];
            int of_len = sizeof of;
            CHECK(MPI_T_enum_get_info(items, &items_there, of, &of_len) == 0, "%s", name);
        }
        snprintf(text, sizeof text, "%d", value);
        for (at = 0; at < items_there; at++) {
            char word[256];
            len = sizeof word;
            CHECK(MPI_T_enum_get_item(items, at, &number, word, &len) == 0, "%s", name);
            if (number == value) snprintf(text, kind, "%s", word);
        }
        printf("%s=%s\n", name, text);
    } else if (type == MPI_UNSIGNED) {
        unsigned value;
        CHECK(MPI_T_cvar_read(handle, &value) == 0, "%s", name);
        printf("%s=%u\n", name, value);
    } else {
        unsigned long value;
        CHECK(type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG || type == MPI_COUNT, "%s: another type", name);
        CHECK(MPI_T_cvar_read(handle, &value) == 0, "%s", name);
        printf("%s=%lu\n", name, value);
    }
    CHECK(MPI_T_cvar_handle_free(&handle) == 0, "%s", name);
}

int main(int argc, char **argv) {
    int provided, number, level = argc > 1 && !strcmp(argv[1], "multiple") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == 0, "tools");
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank_);
    if (check_rank_ == 0) {
        CHECK(MPI_T_cvar_get_num(&number) == 0, "how many");
        for (int i = 0; i < number; i++) print(i);
    }
    MPI_Finalize();
    return MPI_T_finalize();
}
