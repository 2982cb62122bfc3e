# In the guest, on the host's programs: a network device, soft-RoCE over it, /job/run.sh within a limit, its output in /job/out and its status
# in /job/status; then the end.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
address=192.168.77.1 device='' limit=90 shown=''
. /job/settings
# A /tmp of its own, and in it what it is to see of the host's.
mkdir -p /mnt/tmp
mount --bind /tmp /mnt/tmp
mount -t tmpfs own /tmp
for folder in $shown; do
    case $folder in /tmp/*) mkdir -p "$folder" && mount --bind "/mnt/tmp/${folder#/tmp/}" "$folder" ;; esac
done
mkdir -p /dev/shm /dev/pts /run
mount -t tmpfs own /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs own /run
ln -sf /proc/self/fd /dev/fd
busybox hostname "$name"
ip link set lo up
# Alone it has no cable: a device without one carries what goes to itself.
[ -n "$device" ] || { device=cable0 && ip link add "$device" type dummy; }
ip link set "$device" mtu 4200 2>/dev/null
ip link set "$device" up
ip addr add "$address/24" dev "$device"
rdma link add rxe0 type rxe netdev "$device"
ulimit -l unlimited
ulimit -n 4096
timeout -k 5 "$limit" sh /job/run.sh > /job/out 2>&1 < /dev/null
echo $? > /job/status
sync
echo o > /proc/sysrq-trigger
while :; do sleep 1; done
