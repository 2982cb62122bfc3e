/* Linked to an MPI program that runs over the verbs device in software: prints at MPI_Finalize what the device counted for this process, in the form in which
 * the library's own counters are printed. Takes the device's file from the parameter that named it to the library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int MPI_Finalize(void) {
    static const char *const names[] = {"doorbells", "qp_locks", "uuar_locks", "cq_locks",  "shared_doorbells", "shared_pages",
                                        "packets",   "retries",  "rnr_naks",   "violations"};
    const char *file = getenv("OMPI_MCA_btl_verbs_library");
    if (!file) file = getenv("OXMPI_MCA_btl_verbs_library");
    /* It is there already, or this process has not used it. */
    void *device = file ? dlopen(file, RTLD_NOW | RTLD_NOLOAD) : NULL;
    unsigned long (*counter)(const char *) = NULL;
    if (device) *(void **)&counter = dlsym(device, "oxmpi_fake_verbs_counter");
    char text[1024];
    int length = 0, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    length += snprintf(text, sizeof text, "rank %d: counters of the verbs device\n", rank);
    for (size_t i = 0; counter && i < sizeof names / sizeof *names; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "    device_%s -> %lu\n", names[i], counter(names[i]));
    if (counter) fputs(text, stderr);
    if (device) dlclose(device);
    return PMPI_Finalize();
}
