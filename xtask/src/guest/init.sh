#!/bin/busybox sh
# First process of the guest: the host's tree, read-only, under an overlay in memory; the job's folder, writable; then main.sh of it.
PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
while read -r module; do
    insmod "/modules/$module" 2>/dev/null || echo "module $module is not loaded"
done < /modules/order
mkdir -p /host /over /new
mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=524288 host /host
mount -t tmpfs over /over
mkdir /over/upper /over/work
mount -t overlay -o lowerdir=/host,upperdir=/over/upper,workdir=/over/work root /new
mkdir -p /new/job
mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288 job /new/job
for folder in proc sys dev; do mount --move /$folder /new/$folder; done
exec switch_root /new /bin/sh /job/main.sh
