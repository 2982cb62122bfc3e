/* Messages of middling length that are answered one by one, for so long that a library that tries several ways for them has
 * tried each: what comes is what was sent, whole and in order with short messages of the same tag. */
#include "check.h"

enum { MOST = 70000, TIMES = 1200 };
static unsigned char out[MOST], in[MOST];

static void look(int who, int turn, int size, const MPI_Status *status) {
    int count;
    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK(count == size, "%d bytes of %d came", count, size);
    long at = differs(in, size, who + turn * 2);
    CHECK(at < 0, "turn %d, %d bytes: wrong from byte %ld on", turn, size, at);
}

int main(int argc, char **argv) {
    const int sizes[] = {30000, 32768, 40000, 65536, MOST};
    int me, ranks;
    begin(&argc, &argv, &me, &ranks);
    CHECK(ranks == 2, "%d ranks", ranks);
    const int other = 1 - me;
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int pattern = 0; pattern < 2; pattern++)
            for (int turn = 0; turn < TIMES; turn++) {
                /* Some are written anew, most are sent again as they are. */
                const int size = sizes[s], old = turn / 16 * 16;
                MPI_Status status;
                if (turn == old) fill(out, size, me + old * 2);
                if (pattern == 1) {
                    MPI_Sendrecv(out, size, MPI_BYTE, other, 3, in, MOST, MPI_BYTE, other, 3, MPI_COMM_WORLD, &status);
                    look(other, old, size, &status);
                    continue;
                }
                int word = -1;
                for (int half = 0; half < 2; half++) {
                    if (half == me) {
                        MPI_Send(out, size, MPI_BYTE, other, 3, MPI_COMM_WORLD);
                        MPI_Send(&turn, 1, MPI_INT, other, 3, MPI_COMM_WORLD);
                    } else {
                        MPI_Recv(in, MOST, MPI_BYTE, other, 3, MPI_COMM_WORLD, &status);
                        look(other, old, size, &status);
                        MPI_Recv(&word, 1, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                        CHECK(word == turn, "%d came instead of %d", word, turn);
                    }
                }
            }
    return end();
}
