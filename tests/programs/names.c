/* Names of services at a server that comes, goes, and dies: what each call says then. */
#include "check.h"

#include <unistd.h>

static int rank, size;

static int class_of(int code) {
    MPI_Error_class(code, &code);
    return code;
}

/* Tells the test that this process has come so far, and waits until the test has gone on. */
static void tell(const char *folder, const char *what) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, what);
    FILE *f = fopen(path, "w");
    CHECK(f, "cannot write %s", path);
    fclose(f);
}

static void await(const char *folder, const char *what) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, what);
    for (int i = 0; i < 60000 && access(path, F_OK) != 0; i++) usleep(1000);
    CHECK(access(path, F_OK) == 0, "waited for %s", path);
}

static MPI_Info scope(const char *global) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_global_scope", global);
    return info;
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    const char *what = argc > 1 ? argv[1] : "", *folder = argc > 2 ? argv[2] : "";
    char name[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int code;
    if (strcmp(what, "scopes") == 0) {
        /* A name of this mpirun's alone, and one for all, which all ranks find; then until the test has looked. */
        MPI_Info local = scope("false"), global = scope("true");
        if (rank == 0) {
            MPI_Open_port(MPI_INFO_NULL, name);
            CHECK(MPI_Publish_name("local", local, name) == MPI_SUCCESS, "local");
            CHECK(MPI_Publish_name("global", global, name) == MPI_SUCCESS, "global");
            code = MPI_Publish_name("global", global, name);
            CHECK(class_of(code) == MPI_ERR_SERVICE, "twice: %d", code);
        }
        MPI_Bcast(name, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
        for (int i = 0; i < 2; i++) {
            code = MPI_Lookup_name(i ? "global" : "local", i ? global : local, found);
            CHECK(code == MPI_SUCCESS && strcmp(found, name) == 0, "%d: %d %s", i, code, found);
        }
        if (rank == 0) tell(folder, "published");
        await(folder, "go on");
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            CHECK(MPI_Unpublish_name("local", local, name) == MPI_SUCCESS, "local");
            CHECK(MPI_Unpublish_name("global", global, name) == MPI_SUCCESS, "global");
            code = MPI_Unpublish_name("global", global, name);
            CHECK(class_of(code) == MPI_ERR_SERVICE, "taken back twice: %d", code);
            MPI_Close_port(name);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        code = MPI_Lookup_name("global", global, found);
        CHECK(class_of(code) == MPI_ERR_NAME, "it is there: %d", code);
        MPI_Info_free(&local);
        MPI_Info_free(&global);
    } else if (strcmp(what, "other") == 0) {
        /* Another job: it finds what is for all, and cannot have its name. */
        code = MPI_Lookup_name("local", MPI_INFO_NULL, found);
        CHECK(class_of(code) == MPI_ERR_NAME, "local: %d", code);
        CHECK(MPI_Lookup_name("global", MPI_INFO_NULL, found) == MPI_SUCCESS && *found, "global");
        MPI_Open_port(MPI_INFO_NULL, name);
        code = MPI_Publish_name("global", MPI_INFO_NULL, name);
        CHECK(class_of(code) == MPI_ERR_SERVICE, "it is taken: %d", code);
        code = MPI_Unpublish_name("global", MPI_INFO_NULL, name);
        CHECK(class_of(code) == MPI_ERR_SERVICE, "another's: %d", code);
        code = MPI_Lookup_name("global", MPI_INFO_NULL, name);
        CHECK(code == MPI_SUCCESS && strcmp(found, name) == 0, "it stays: %d", code);
    } else if (strcmp(what, "dies") == 0) {
        /* Publishes and is killed. */
        MPI_Open_port(MPI_INFO_NULL, name);
        CHECK(MPI_Publish_name("left", MPI_INFO_NULL, name) == MPI_SUCCESS, "publish");
        tell(folder, "published");
        for (;;) pause();
    } else if (strcmp(what, "again") == 0) {
        /* The name of a process that has died is free, soon. */
        MPI_Open_port(MPI_INFO_NULL, name);
        for (int i = 0; i < 60000; i++) {
            code = MPI_Publish_name("left", MPI_INFO_NULL, name);
            if (code == MPI_SUCCESS) break;
            CHECK(class_of(code) == MPI_ERR_SERVICE, "%d", code);
            usleep(1000);
        }
        CHECK(code == MPI_SUCCESS, "it stays taken");
        CHECK(MPI_Unpublish_name("left", MPI_INFO_NULL, name) == MPI_SUCCESS, "unpublish");
    } else if (strcmp(what, "killed") == 0) {
        /* The server is killed before, or while, these are under way. */
        MPI_Open_port(MPI_INFO_NULL, name);
        if (argc > 3) CHECK(MPI_Publish_name("kept", MPI_INFO_NULL, name) == MPI_SUCCESS, "publish");
        tell(folder, "up");
        await(folder, "go on");
        code = MPI_Lookup_name("nobody's", MPI_INFO_NULL, found);
        CHECK(class_of(code) == MPI_ERR_NAME, "look up: %d", code);
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        code = MPI_Publish_name("new", MPI_INFO_NULL, name);
        CHECK(class_of(code) == MPI_ERR_SERVICE, "publish: %d", code);
        code = MPI_Unpublish_name("nobody's", MPI_INFO_NULL, name);
        CHECK(class_of(code) == MPI_ERR_SERVICE, "unpublish: %d", code);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return end();
}
