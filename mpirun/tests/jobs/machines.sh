#!/bin/bash
# machines.sh up N | down: N machines m1..mN on this one, each with a network, host name, memory, mounts and processes of its
# own and a real sshd. For root. Everything lies in the folder $W; the network is $NET.0/24 at the bridge $BR.
set -e
self=$(realpath "$0")
case ${1:-} in
_init) # the first process of a machine
  hostname "$2"
  mount -t tmpfs -o mode=1777,size=256m tmpfs /dev/shm
  mount --bind "$W/hosts" /etc/hosts
  mkdir -p /run/sshd
  : > "$W/$2.ready"
  exec /usr/sbin/sshd -D -e -f "$W/sshd_config" ;;
up)
  ssh-keygen -q -t ed25519 -N '' -f "$W/hostkey"
  ssh-keygen -q -t ed25519 -N '' -f "$W/id"
  echo "127.0.0.1 localhost" > "$W/hosts"
  printf '%s\n' "IdentityFile $W/id" 'IdentitiesOnly yes' "UserKnownHostsFile $W/known" 'GlobalKnownHostsFile /dev/null' \
    'LogLevel ERROR' > "$W/ssh_config"
  printf '%s\n' "HostKey $W/hostkey" "AuthorizedKeysFile $W/id.pub" 'StrictModes no' 'PermitRootLogin prohibit-password' \
    'PasswordAuthentication yes' 'UsePAM no' 'UseDNS no' 'PidFile none' 'PrintMotd no' > "$W/sshd_config"
  ip link add "$BR" type bridge
  ip addr add "$NET.1/24" dev "$BR"
  ip link set "$BR" up
  for i in $(seq "$2"); do
    n=m$i a=$NET.$((10 + i))
    echo "$a $n" >> "$W/hosts"
    echo "$n,$a $(cut -d' ' -f1,2 "$W/hostkey.pub")" >> "$W/known"
    printf 'Host %s\n  HostName %s\n' "$n" "$a" >> "$W/ssh_config"
  done
  for i in $(seq "$2"); do
    n=m$i s=$BR-$i
    ip netns add "$s"
    ip link add "$s" type veth peer name eth0 netns "$s"
    ip link set "$s" master "$BR" up
    ip -n "$s" addr add "$NET.$((10 + i))/24" dev eth0
    ip -n "$s" link set lo up
    ip -n "$s" link set eth0 up
    setsid ip netns exec "$s" unshare --uts --ipc --mount --pid --fork --kill-child --mount-proc --propagation private \
      bash "$self" _init "$n" > "$W/$n.log" 2>&1 < /dev/null &
    echo $! > "$W/$n.unshare"
  done
  for i in $(seq "$2"); do
    for t in $(seq 400); do
      p=$(pgrep -P "$(cat "$W/m$i.unshare")") && [ -f "$W/m$i.ready" ] && break
      sleep 0.02
    done
    echo "$p" > "$W/m$i.pid"
  done ;;
down)
  for f in "$W"/m*.pid; do
    [ -f "$f" ] && kill -KILL "$(cat "$f")" 2> /dev/null || true
  done
  sleep 0.1
  for s in $(ip netns list | cut -d' ' -f1 | grep "^$BR-"); do ip netns del "$s" || true; ip link del "$s" 2> /dev/null || true; done
  ip link del "$BR" 2> /dev/null || true ;;
esac
