#!/bin/sh
# The paper's experiments through proxies: what one command costs, table I and figures 4 to 9, overlap. By hand, on an idle machine.
#
#   report.sh PREFIX [ENDPOINTS]     an install with liboxmpi_ep.so; processors decide how much the numbers say
#
# LIBRARY=/path/to/lib LAUNCH="mpiexec" runs the same binaries over another library with the standard ABI. ROUNDS scales all.
set -eu
prefix=${1:?usage: report.sh PREFIX [ENDPOINTS]}
most=${2:-2}
rounds=${ROUNDS:-1000}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LD_LIBRARY_PATH="${LIBRARY:-$prefix/lib}"
export OXMPI_EP_PROXY_CPUS="${OXMPI_EP_PROXY_CPUS:-auto}"
launch=${LAUNCH:-$prefix/bin/mpirun --oversubscribe}
for name in command streams dslash fft; do
    "$prefix/bin/mpicc" -O2 -pthread "$here/$name.c" -o "$folder/$name" -loxmpi_ep -lm
done
# Processes, proxies, program and arguments.
job() {
    processes=$1 proxies=$2 program=$3
    shift 3
    if [ "$proxies" -gt 0 ]; then
        $launch -n "$processes" "$folder/$program" "$@" : -n "$proxies" "$prefix/bin/oxmpi-ep-server"
    else
        $launch -n "$processes" "$folder/$program" "$@"
    fi
}

echo "# $(nproc) processors; load $(cut -d' ' -f1 /proc/loadavg)"
echo "# One command: lines that change caches are the ring's cell, the record's command, and the record's answer"
job 1 1 command $((rounds * 100))
if command -v perf > /dev/null 2>&1; then
    perf stat -e cache-misses,context-switches $launch -n 1 "$folder/command" $((rounds * 100)) : -n 1 "$prefix/bin/oxmpi-ep-server" 2>&1 |
        grep -E 'misses|switches' || true
fi

echo "# Figure 4: latency; by threads; by an endpoint with shared and with copied buffers"
for bytes in 8 1024 16384 262144; do
    job 2 0 streams latency -b $bytes -k "$rounds"
    job 2 2 streams latency -b $bytes -k "$rounds" -e -s
    job 2 2 streams latency -b $bytes -k "$rounds" -e
done

echo "# Figures 5 and 6: bandwidth and rate of processes, threads and endpoints"
workers=1
while [ $workers -le "$most" ]; do
    for bytes in 8 4096 65536; do
        job $((2 * workers)) 0 streams rate -b $bytes -k $((rounds / 10))
        job 2 0 streams rate -b $bytes -k $((rounds / 10)) -w $workers
        job 2 $((2 * workers)) streams rate -b $bytes -k $((rounds / 10)) -w $workers -e -s
    done
    workers=$((2 * workers))
done

echo "# Table I and figure 7: Dslash by the master thread and by endpoints, as processes grow and the lattice does not"
slices=16
for processes in 1 2 4; do
    for how in "-t $most -c master" "-e $most"; do
        proxies=0
        case $how in -e*) proxies=$((most * processes)) ;; esac
        job $processes $proxies dslash -l 8,8,8,$((slices / processes)) -k $((rounds / 50 + 1)) $how
    done
done
echo "# Figure 8: Dslash by threads that share MPI_COMM_WORLD"
for talkers in 1 "$most"; do
    job 2 0 dslash -l 8,8,8,$((slices / 2)) -k $((rounds / 50 + 1)) -t "$most" -m "$talkers"
done

echo "# Figure 9: the exchange of the FFT by the master thread and by endpoints"
for log in 8 12 16; do
    job 2 0 fft -n $log -b 4 -k $((rounds / 50 + 1)) -t 2
    job 2 4 fft -n $log -b 4 -k $((rounds / 50 + 1)) -g 2 -e
done

echo "# Overlap of an exchange with a computation of the same length, without and with proxies"
for bytes in 4096 262144 4194304; do
    job 2 0 streams overlap -b $bytes -k $((rounds / 50 + 1))
    job 2 2 streams overlap -b $bytes -k $((rounds / 50 + 1)) -e -s
    OXMPI_EP_PROGRESS=call job 2 2 streams overlap -b $bytes -k $((rounds / 50 + 1)) -e -s
done
