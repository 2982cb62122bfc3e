/* Inter-communicators: made of two halves of the world (and of halves of different sizes), messages over them
 * with wildcards and probes, duplicates, parts, merging back, and every collective with a root on
 * either side. */
#include "check.h"

static int rank, size;

/* Which half, our rank in it, the sizes of both. */
static int side, me, mine, theirs;
static MPI_Comm inter, local;

static int world_rank(int of_side, int r) { return of_side == 0 ? r : (side == 0 ? mine : theirs) + r; }
static int left_size(void) { return side == 0 ? mine : theirs; }
static int number(int of_side, int r) { return of_side == 0 ? r : left_size() + r; }

static void shape(MPI_Comm comm) {
    int flag, n, r, m, result;
    MPI_Group group, remote, both;
    MPI_Comm_test_inter(comm, &flag);
    CHECK(flag == 1, "test_inter");
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &r);
    MPI_Comm_remote_size(comm, &m);
    CHECK(n == mine && r == me && m == theirs, "%d of %d, %d remote", r, n, m);
    MPI_Comm_group(comm, &group);
    MPI_Comm_remote_group(comm, &remote);
    MPI_Group_intersection(group, remote, &both);
    MPI_Group_compare(both, MPI_GROUP_EMPTY, &result);
    CHECK(result == MPI_IDENT, "the groups have nobody in common");
    MPI_Group_free(&group);
    MPI_Group_free(&remote);
    MPI_Comm_compare(comm, local, &result);
    CHECK(result == MPI_UNEQUAL, "inter and intra: %d", result);
}

/* Everybody sends to everybody of the other side; received with wildcards, probes and exactly. */
static void messages(MPI_Comm comm) {
    MPI_Request *reqs = need(sizeof *reqs * (size_t)theirs);
    int *out = need(sizeof *out * (size_t)theirs), *seen = need(sizeof *seen * (size_t)theirs);
    for (int r = 0; r < theirs; r++) {
        out[r] = 1000 * rank + r;
        seen[r] = 0;
        MPI_Isend(&out[r], 1, MPI_INT, r, r % 3, comm, &reqs[r]);
    }
    for (int i = 0; i < theirs; i++) {
        MPI_Status status;
        int got = -1, n;
        if (i % 2) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
            int source = status.MPI_SOURCE;
            MPI_Recv(&got, 1, MPI_INT, source, status.MPI_TAG, comm, &status);
            CHECK(status.MPI_SOURCE == source, "%d, not %d", status.MPI_SOURCE, source);
        } else {
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, me % 3, comm, &status);
        }
        int from = status.MPI_SOURCE;
        CHECK(from >= 0 && from < theirs && !seen[from], "source %d", from);
        seen[from] = 1;
        MPI_Get_count(&status, MPI_INT, &n);
        CHECK(n == 1 && status.MPI_TAG == me % 3, "tag %d", status.MPI_TAG);
        CHECK(got == 1000 * number(1 - side, from) + me, "%d of %d", got, from);
    }
    MPI_Waitall(theirs, reqs, MPI_STATUSES_IGNORE);
    MPI_Barrier(comm);
    /* Long ones, both ways at once, with the rank of the same number. */
    int partner = me;
    if (partner < theirs && me < mine) {
        enum { LONG = 300000 };
        unsigned char *a = need(LONG), *b = need(LONG);
        MPI_Status status;
        fill(a, LONG, rank);
        MPI_Sendrecv(a, LONG, MPI_BYTE, partner, 7, b, LONG, MPI_BYTE, partner, 7, comm, &status);
        CHECK(differs(b, LONG, number(1 - side, partner)) < 0, "a long message");
        CHECK(status.MPI_SOURCE == partner, "source %d", status.MPI_SOURCE);
        free(a);
        free(b);
    }
    free(reqs);
    free(out);
    free(seen);
}

static int sum_of(int s) {
    int sum = 0, n = s == side ? mine : theirs;
    for (int r = 0; r < n; r++) sum += number(s, r) + 1;
    return sum;
}

static void collectives(MPI_Comm comm) {
    int *in = need(sizeof *in * (size_t)(size + 1)), *out = need(sizeof *out * (size_t)(size + 1));
    int *counts = need(sizeof *counts * (size_t)(size + 1)), *displs = need(sizeof *displs * (size_t)(size + 1));
    MPI_Barrier(comm);
    for (int s = 0; s < 2; s++)
        for (int r = 0; r < (s == side ? mine : theirs); r++) {
            int is_root = s == side && r == me, root = s != side ? r : is_root ? MPI_ROOT : MPI_PROC_NULL;
            int value = is_root ? 77 + r : -1;
            MPI_Bcast(&value, 1, MPI_INT, root, comm);
            CHECK(value == (s != side || is_root ? 77 + r : -1), "bcast: %d", value);
            int one = rank + 1, sum = -1;
            MPI_Reduce(&one, is_root ? &sum : NULL, 1, MPI_INT, MPI_SUM, root, comm);
            CHECK(sum == (is_root ? sum_of(1 - side) : -1), "reduce: %d", sum);
            MPI_Gather(&one, 1, MPI_INT, in, 1, MPI_INT, root, comm);
            for (int i = 0; is_root && i < theirs; i++) CHECK(in[i] == number(1 - side, i) + 1, "gather");
            for (int i = 0; i < theirs; i++) out[i] = 50 * i + r;
            MPI_Scatter(out, 1, MPI_INT, &value, 1, MPI_INT, root, comm);
            CHECK(s == side || value == 50 * me + r, "scatter: %d", value);
            /* Rank i gives i + 1 elements, which stand in reverse order. */
            int n = is_root ? theirs : 0, at = 0;
            for (int i = n - 1; i >= 0; i--) { counts[i] = i + 1; displs[i] = at; at += i + 1; }
            int *from = need(sizeof *from * (size_t)(me + 1)), *to = need(sizeof *to * (size_t)(at + 1));
            for (int i = 0; i <= me; i++) from[i] = 100 * rank + i;
            MPI_Gatherv(from, me + 1, MPI_INT, to, counts, displs, MPI_INT, root, comm);
            for (int i = 0; i < n; i++)
                for (int k = 0; k <= i; k++)
                    CHECK(to[displs[i] + k] == 100 * number(1 - side, i) + k, "gatherv");
            for (int i = 0; i <= me; i++) from[i] = -1;
            MPI_Scatterv(to, counts, displs, MPI_INT, from, me + 1, MPI_INT, root, comm);
            for (int i = 0; s != side && i <= me; i++) CHECK(from[i] == 100 * rank + i, "scatterv: what was gathered");
            free(from);
            free(to);
        }
    int one = rank + 1, sum = -1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == sum_of(1 - side), "allreduce: %d", sum);
    MPI_Allgather(&one, 1, MPI_INT, in, 1, MPI_INT, comm);
    for (int i = 0; i < theirs; i++) CHECK(in[i] == number(1 - side, i) + 1, "allgather");
    for (int i = 0; i < theirs; i++) { out[i] = 100 * rank + i; counts[i] = 1; displs[i] = theirs - 1 - i; }
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    for (int i = 0; i < theirs; i++) CHECK(in[i] == 100 * number(1 - side, i) + me, "alltoall");
    MPI_Allgatherv(&one, 1, MPI_INT, in, counts, displs, MPI_INT, comm);
    for (int i = 0; i < theirs; i++) CHECK(in[displs[i]] == number(1 - side, i) + 1, "allgatherv");
    MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, comm);
    for (int i = 0; i < theirs; i++)
        CHECK(in[displs[i]] == 100 * number(1 - side, i) + mine - 1 - me, "alltoallv: %d", in[displs[i]]);
    int *all = need(sizeof *all * (size_t)(mine * theirs + 1)), *part = need(sizeof *part * (size_t)(theirs + 1));
    for (int i = 0; i < mine * theirs; i++) all[i] = (rank + 1) * (i + 1);
    MPI_Reduce_scatter_block(all, part, theirs, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < theirs; i++) CHECK(part[i] == sum_of(1 - side) * (me * theirs + i + 1), "reduce_scatter_block");
    for (int r = 0; r < mine; r++) counts[r] = r == mine - 1 ? mine * theirs : 0;
    int *whole = need(sizeof *whole * (size_t)(mine * theirs));
    MPI_Reduce_scatter(all, whole, counts, MPI_INT, MPI_SUM, comm);
    for (int i = 0; me == mine - 1 && i < mine * theirs; i++)
        CHECK(whole[i] == sum_of(1 - side) * (i + 1), "reduce_scatter");
    free(whole);
    free(all);
    free(part);
    free(in);
    free(out);
    free(counts);
    free(displs);
}

static void children(void) {
    MPI_Comm dup, split, part, merged;
    int result, n, r;
    MPI_Comm_dup(inter, &dup);
    MPI_Comm_compare(inter, dup, &result);
    CHECK(result == MPI_CONGRUENT, "a duplicate: %d", result);
    shape(dup);
    messages(dup);
    MPI_Comm_free(&dup);

    /* By parity, in reverse order; a parity that the other side has not gives nothing. */
    MPI_Comm_split(inter, me % 2, -me, &split);
    if (theirs == 1 && me % 2) {
        CHECK(split == MPI_COMM_NULL, "a colour nobody has on the other side");
    } else {
        int remote, mine_there = (mine + (me % 2 == 0)) / 2;
        MPI_Comm_size(split, &n);
        MPI_Comm_rank(split, &r);
        MPI_Comm_remote_size(split, &remote);
        CHECK(n == mine_there && r == mine_there - 1 - me / 2, "rank %d of %d", r, n);
        CHECK(remote == (theirs + (me % 2 == 0)) / 2, "remote %d", remote);
        MPI_Barrier(split);
        MPI_Comm_free(&split);
    }

    /* The first of each side. */
    MPI_Group group, first;
    int zero = 0;
    MPI_Comm_group(inter, &group);
    MPI_Group_incl(group, 1, &zero, &first);
    MPI_Comm_create(inter, first, &part);
    CHECK((part == MPI_COMM_NULL) == (me != 0), "who is in");
    if (me == 0) {
        int from = rank, to = -1;
        MPI_Sendrecv(&from, 1, MPI_INT, 0, 0, &to, 1, MPI_INT, 0, 0, part, MPI_STATUS_IGNORE);
        CHECK(to == world_rank(1 - side, 0), "the other first: %d", to);
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&first);

    for (int high = 0; high < 2; high++) {
        MPI_Intercomm_merge(inter, side ^ high, &merged);
        MPI_Comm_size(merged, &n);
        MPI_Comm_rank(merged, &r);
        int expected = side ^ high ? theirs + me : me;
        CHECK(n == size && r == expected, "rank %d of %d, not %d", r, n, expected);
        int sum;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
        CHECK(sum == size * (size - 1) / 2, "%d", sum);
        MPI_Comm_free(&merged);
    }
    MPI_Intercomm_merge(inter, 1, &merged);
    MPI_Comm_size(merged, &n);
    CHECK(n == size, "either order will do: %d", n);
    MPI_Comm_free(&merged);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    for (int cut = 1; cut < size; cut++) {
        side = rank >= cut;
        mine = side ? size - cut : cut;
        theirs = size - mine;
        MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local);
        MPI_Comm_rank(local, &me);
        /* The last of each half leads. */
        int leader = mine - 1, other = side ? cut - 1 : size - 1;
        MPI_Intercomm_create(local, leader, MPI_COMM_WORLD, other, 12 + cut, &inter);
        shape(inter);
        messages(inter);
        collectives(inter);
        children();
        MPI_Comm_free(&inter);
        MPI_Comm_free(&local);
    }
    return end();
}
