/* Collective access to one file in the patterns of IOR and in blocks of an array of four dimensions.
 *
 *   files PATTERN write|read|both TURNS PATH
 *
 *   segments  4 segments, one behind the other, of 1 MiB for each rank, a call for each
 *   strided   4 MiB a rank in pieces of 4 KiB, ranks in turn, one call by a view
 *   blocks    16 MiB of doubles, 32 x 32 x 32 x 64, whose last two dimensions are shared out among the ranks; one call by a view of a subarray
 *
 * Prints the least seconds of TURNS accesses of all ranks, of writes, reads or each; TURNS 0 opens and closes the file alone. Rank 0 compares once what was written, by plain
 * reads, and each rank what it has read with what it wrote. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS 4
#define MIB (1 << 20)
#define PIECE 4096

static const int shape[4] = {32, 32, 32, 64};
static int me, ranks, grid[4] = {1, 1, 0, 0}, part[4], start[4];
static const char *pattern;
static char *data, *back;
static long bytes;
static MPI_File file;

static void stop(const char *why) {
    fprintf(stderr, "files: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The byte at a place of the file. */
static char byte_at(long place) {
    return (char)(place * 7 + place / PIECE * 13 + place / MIB);
}

/* Where the byte at `i` of this rank's data is in the file. */
static long place_of(long i) {
    if (!strcmp(pattern, "segments"))
        return (i / MIB * ranks + me) * MIB + i % MIB;
    if (!strcmp(pattern, "strided"))
        return (i / PIECE * ranks + me) * PIECE + i % PIECE;
    long element = i / 8, place = 0, scale = 1;
    for (int d = 3; d >= 0; d--) {
        place += (element % part[d] + start[d]) * scale;
        element /= part[d];
        scale *= shape[d];
    }
    return place * 8 + i % 8;
}

static void set_view(void) {
    MPI_Datatype piece, type;
    if (!strcmp(pattern, "segments"))
        return;
    if (!strcmp(pattern, "strided")) {
        MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
        MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * ranks, &type);
        MPI_Type_free(&piece);
    } else {
        MPI_Type_create_subarray(4, shape, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    }
    MPI_Type_commit(&type);
    long first = strcmp(pattern, "strided") ? 0 : (long)me * PIECE;
    MPI_Datatype element = strcmp(pattern, "strided") ? MPI_DOUBLE : MPI_BYTE;
    if (MPI_File_set_view(file, first, element, type, "native", MPI_INFO_NULL))
        stop("MPI_File_set_view failed");
    MPI_Type_free(&type);
}

static void move(int writes, char *memory) {
    int calls = strcmp(pattern, "segments") ? 1 : SEGMENTS;
    for (int i = 0; i < calls; i++) {
        MPI_Offset at = calls == 1 ? 0 : ((MPI_Offset)i * ranks + me) * MIB;
        char *part_of_it = memory + (long)i * MIB;
        int len = (int)(bytes / calls), moved, failed;
        MPI_Status status;
        if (writes)
            failed = MPI_File_write_at_all(file, at, part_of_it, len, MPI_BYTE, &status);
        else
            failed = MPI_File_read_at_all(file, at, part_of_it, len, MPI_BYTE, &status);
        if (failed || MPI_Get_count(&status, MPI_BYTE, &moved) || moved != len)
            stop(writes ? "a write failed" : "a read failed");
    }
}

static double least(int writes, int turns) {
    double best = 1e9;
    for (int i = -1; i < turns; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begun = MPI_Wtime();
        move(writes, writes ? data : back);
        double mine = MPI_Wtime() - begun, all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (i >= 0 && all < best)
            best = all;
    }
    return best;
}

static void compare(const char *path) {
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        FILE *plain = fopen(path, "rb");
        char *all = malloc(MIB);
        for (long at = 0; at < bytes * ranks; at += MIB) {
            if (!plain || fread(all, 1, MIB, plain) != MIB)
                stop("the file is too short");
            for (long i = 0; i < MIB; i++)
                if (all[i] != byte_at(at + i))
                    stop("the file is wrong");
        }
        fclose(plain);
        free(all);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5)
        stop("usage: files segments|strided|blocks write|read|both TURNS PATH");
    pattern = argv[1];
    int turns = atoi(argv[3]);
    const char *path = argv[4];
    MPI_Dims_create(ranks, 4, grid);
    for (int d = 0, rest = me; d < 4; d++) {
        if (shape[d] % grid[d])
            stop("the array cannot be shared out among so many ranks");
        part[d] = shape[d] / grid[d];
        start[d] = rest % grid[d] * part[d];
        rest /= grid[d];
    }
    bytes = strcmp(pattern, "blocks") ? (long)SEGMENTS * MIB : 16L * MIB / ranks;
    data = malloc(bytes);
    back = malloc(bytes);
    for (long i = 0; i < bytes; i++)
        data[i] = byte_at(place_of(i));
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file))
        stop("MPI_File_open failed");
    set_view();
    if (turns > 0) {
        double writes = 0, reads = 0;
        if (strcmp(argv[2], "read"))
            writes = least(1, turns);
        else
            move(1, data);
        compare(path);
        if (strcmp(argv[2], "write")) {
            reads = least(0, turns);
            if (memcmp(data, back, bytes))
                stop("what was read is wrong");
        }
        if (me == 0)
            printf("write %.6f read %.6f bytes %ld\n", writes, reads, bytes * ranks);
    }
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        remove(path);
    MPI_Finalize();
    return 0;
}
