#!/bin/bash
# slurm.sh up N PORT | down: a Slurm of N nodes n1..nN, all of them on this machine. For root. Everything lies in the folder $W.
set -e
export SLURM_CONF=$W/slurm.conf
case ${1:-} in
up)
  mkdir -p "$W/state"
  name=$(hostname)
  {
    printf '%s\n' ClusterName=t "SlurmctldHost=$name(127.0.0.1)" "SlurmctldPort=$3" SlurmUser=root SlurmdUser=root \
      AuthType=auth/none CredType=cred/none "StateSaveLocation=$W/state" "SlurmctldPidFile=$W/slurmctld.pid" \
      "SlurmctldLogFile=$W/slurmctld.log" "SlurmdPidFile=$W/slurmd.%n.pid" "SlurmdSpoolDir=$W/spool.%n" \
      "SlurmdLogFile=$W/slurmd.%n.log" MpiDefault=none ProctrackType=proctrack/linuxproc TaskPlugin=task/none \
      SelectType=select/cons_tres SelectTypeParameters=CR_Core SchedulerType=sched/builtin \
      AccountingStorageType=accounting_storage/none JobAcctGatherType=jobacct_gather/none ReturnToService=2 \
      SlurmdParameters=config_overrides
    for i in $(seq "$2"); do
      mkdir -p "$W/spool.n$i"
      echo "NodeName=n$i NodeHostname=$name NodeAddr=127.0.0.1 Port=$(($3 + i)) CPUs=4 RealMemory=1000"
    done
    echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES"
  } > "$W/slurm.conf"
  printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n' > "$W/cgroup.conf"
  slurmctld
  for i in $(seq "$2"); do slurmd -N "n$i"; done
  for t in $(seq 200); do
    [ "$(sinfo -h -t idle -o %D)" = "$2" ] && exit 0
    sleep 0.1
  done
  sinfo -N >&2
  exit 1 ;;
down) for f in "$W"/*.pid; do [ -f "$f" ] && kill "$(cat "$f")" || true; done ;;
esac
