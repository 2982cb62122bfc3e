#!/bin/sh
# The paper's experiments: tables 1 to 5 and figure 1, the dissertation's figure 5.5, conjugate gradients and patches. By hand, on a
# machine that does nothing else.
#
#   report.sh PREFIX [PEERS [OUT]]     our install; a folder with installs named openmpi and mpich; where results go (target/bench)
#
# ROUNDS (5) says how often all libraries take their turn; QUICK=1 only looks whether everything works; DRIVER is an oxmpi-bench that is built already
# (built here otherwise). It goes on where it was left: what is measured already is not measured again, unless OUT is another folder. Tables are in OUT/tables.md and OUT/matrix.csv, figures in
# OUT/rma-*.svg; bench/results/lock_all.svg is counted by a test.
set -eu
prefix=$(cd "${1:?usage: report.sh PREFIX [PEERS [OUT]]}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${3:-$root/target/bench}
set -- --ours "$prefix" ${2:+--peers "$2"} --out "$out"
if [ -n "${QUICK:-}" ]; then
    set -- "$@" --quick
else
    set -- "$@" --rounds "${ROUNDS:-5}"
fi
mkdir -p "$out"
cd "$root"
driver() {
    if [ -n "${DRIVER:-}" ]; then "$DRIVER" "$@"; else cargo run --release --quiet -p oxmpi-bench -- "$@"; fi
}
# By itself: a failure in the loop's head would be no failure.
cases=$(driver --list rma fig5.5)
for case in $(printf '%s\n' "$cases" | awk '{print $1}'); do
    [ -f "$out/$case.json" ] || driver "$@" "$case"
done
python3 "$here/tables.py" "$out" --out "$out"
