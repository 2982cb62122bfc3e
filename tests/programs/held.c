/* Leaves a file in the folder given before MPI_Init and another behind it. */
#include "check.h"
#include <unistd.h>

static void mark(const char *folder, const char *what, int number) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%s.%d", folder, what, number);
    FILE *file = fopen(name, "w");
    CHECK(file != NULL, "cannot write %s", name);
    fclose(file);
}

int main(int argc, char **argv) {
    int rank, size;
    if (argc < 2) return 2;
    mark(argv[1], "before", (int)getpid());
    begin(&argc, &argv, &rank, &size);
    mark(argv[1], "behind", rank);
    return end();
}
