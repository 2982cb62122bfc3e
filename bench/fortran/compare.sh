#!/bin/sh
# The latency of 8 bytes from Fortran (mpi_f08, contiguous) beside C, the two programs taking turns: compare.sh PREFIX [ROUNDS [TURNS]]. PREFIX is an
# install. Two ranks, each bound to a core; the machine should have nothing else to do. It prints each round, the best and the median of both, and what Fortran adds.
set -eu
prefix=$1 rounds=${2:-15} turns=${3:-20000}
here=$(dirname "$0")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$prefix/bin/mpicc" -O2 "$here/latency.c" -o "$out/c"
(cd "$out" && "$prefix/bin/mpifort" -O2 "$(cd - >/dev/null && cd "$here" && pwd)/latency.f90" -o "$out/f")
round=1
while [ "$round" -le "$rounds" ]; do
    for program in c f; do
        "$prefix/bin/mpirun" -n 2 --bind-to core "$out/$program" "$turns" >> "$out/$program.ns"
    done
    echo "round $round: C $(tail -n 1 "$out/c.ns") ns, mpi_f08 $(tail -n 1 "$out/f.ns") ns"
    round=$((round + 1))
done
best() { sort -n "$1" | head -n 1; }
median() { sort -n "$1" | sed -n "$(((rounds + 1) / 2))p"; }
for how in best median; do
    c=$($how "$out/c.ns") f=$($how "$out/f.ns")
    awk -v how=$how -v c="$c" -v f="$f" 'BEGIN {
        printf "%s: C %.2f ns, mpi_f08 %.2f ns: %.2f ns or %.1f %% more; at most 8 ns or 5 %%: %s\n",
            how, c, f, f - c, 100 * (f - c) / c, f - c <= 8 || f <= 1.05 * c ? "met" : "not met" }'
done
