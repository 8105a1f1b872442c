#!/bin/sh
# sh tests/systems/run.sh SUITE MIRROR [COMMAND]
# Runs COMMAND (make demo && make test) on another Debian or Ubuntu, in a clone of this checkout: SUITE is the name of
# its version, MIRROR the address of its packages. As root; needs debootstrap. The system has the essential packages,
# make, git and certificates. debootstrap checks the signature of the packages if the keyring of that system is
# installed. It lies in build/systems/SUITE (5 GB with all packages and builds); the next run reuses it.
set -eu

suite=${1:?usage: sh tests/systems/run.sh SUITE MIRROR [COMMAND]} mirror=${2:?the address of the packages is missing}
command=${3:-make demo && make test}
cd "$(dirname "$0")/../.."
root=$PWD/build/systems/$suite

if [ ! -e "$root/complete" ]; then
  case $mirror in
    *ubuntu*) components=main,universe script=gutsy ;; # debootstrap's name for any Ubuntu
    *) components=main script=sid ;;
  esac
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase --components="$components" --include=make,git,ca-certificates \
    "$suite" "$root" "$mirror" "/usr/share/debootstrap/scripts/$script"
  touch "$root/complete"
fi

leave() { for folder in dev/pts dev sys proc; do umount "$root/$folder" 2>/dev/null || true; done; }
trap leave EXIT
mount -t proc proc "$root/proc"
mount -t sysfs sys "$root/sys"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"
cp /etc/resolv.conf "$root/etc/"
rm -rf "$root/root/crochet"
git clone -q . "$root/root/crochet"
chroot "$root" sh -c "cd /root/crochet && $command"
