/* Opens and closes a session, opens one again, and leaves with it "closed" or "open". */
#include "check.h"

int main(int argc, char **argv) {
    MPI_Session session;
    for (int turn = 0; turn < 2; turn++) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        if (turn == 1 && argc > 1 && strcmp(argv[1], "open") == 0) break;
        MPI_Session_finalize(&session);
    }
    return 0;
}
