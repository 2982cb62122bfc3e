/* Opens three shared libraries that were made from Fortran so that none sees another's names, as Python opens modules, and calls the procedures of each. The program
 * itself knows nothing of MPI. Arguments: own, if each library is to have constants of its own, or any; then FILE PREFIX pairs. Every rank says ok, or what is wrong. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*procedure)(int *);

static void *open_one(const char *file) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return library;
}

static void *find(void *library, const char *prefix, const char *name) {
    char symbol[100];
    snprintf(symbol, sizeof symbol, "%s%s", prefix, name);
    void *at = dlsym(library, symbol);
    if (!at) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return at;
}

static int check(void *library, const char *prefix) {
    int wrong = -1;
    ((procedure)find(library, prefix, "_check_"))(&wrong);
    if (wrong) printf("%s: %x is wrong\n", prefix, wrong);
    return wrong;
}

int main(int argc, char **argv) {
    void *libraries[8] = {0};
    long at[8] = {0};
    int n = 0, wrong = 0, error = 0, own = argc > 1 && !strcmp(argv[1], "own");
    for (int i = 2; i + 1 < argc; i += 2, n++) {
        libraries[n] = open_one(argv[i]);
        ((void (*)(long *))find(libraries[n], argv[i + 1], "_address_"))(&at[n]);
        for (int j = 0; j < n; j++)
            if (own && at[j] == at[n]) {
                printf("%s and another have one MPI_IN_PLACE: this program shows nothing\n", argv[i + 1]);
                wrong++;
            }
    }
    ((procedure)find(libraries[0], "", "mpi_init_"))(&error);
    for (int i = 0; i < n; i++) wrong += check(libraries[i], argv[2 * i + 3]);
    /* A library that comes late, where another was. */
    for (int round = 0; round < 3; round++) {
        dlclose(libraries[n - 1]);
        libraries[n - 1] = open_one(argv[2 * n]);
        for (int i = 0; i < n; i++) wrong += check(libraries[i], argv[2 * i + 3]);
    }
    ((procedure)find(libraries[0], "", "mpi_finalize_"))(&error);
    if (!wrong && !error) printf("ok\n");
    return 0;
}
