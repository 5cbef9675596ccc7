#!/usr/bin/env bash
# Builds the images that ship, without a Docker engine and without a registry:
# usage image.sh CONTEXT STORE. CONTEXT is what image-context.sh laid out, STORE a
# folder that takes the images localhost/fbl-poseworker and localhost/fbl-precheck.
# The Dockerfile's base is made from Debian's packages, which come from where this
# system's own packages come from. A second run goes on from the layers of the first.
#
# Exit status 3: images cannot be built on this machine, and the last line says why.
set -euo pipefail
cd "$(dirname "$0")/../.."
context=${1:?usage: image.sh CONTEXT STORE} store=${2:?usage: image.sh CONTEXT STORE}

say() { printf 'image: %s\n' "$*" >&2; }
cannot() { say "cannot be built here: $*"; exit 3; }

[ "$(uname -sm)" = "Linux x86_64" ] || cannot "the image is for linux/amd64, this machine is $(uname -sm)"
[ "$(id -u)" = 0 ] || cannot "building a file system with its owners needs root"
# shellcheck source=/dev/null
[ "$(. /etc/os-release && echo "$ID")" = debian ] || cannot "its base is made from Debian's packages, and this system has none"
if ! command -v buildah >/dev/null || ! command -v debootstrap >/dev/null; then
	say "installing buildah and debootstrap from the system's packages"
	DEBIAN_FRONTEND=noninteractive sh -c 'apt-get update && apt-get install -y --no-install-recommends buildah debootstrap' >/dev/null 2>&1 ||
		cannot "buildah and debootstrap could not be installed; run: apt-get install buildah debootstrap"
fi

mkdir -p "$store"
store=$(cd "$store" && pwd)
exec 9>"$store/lock"
flock 9
b() { buildah --root "$store/images" --runroot "$store/run" --storage-driver vfs "$@"; }
log=$store/build.log

# base makes the image that the Dockerfile begins with, under its name.
base() {
	local name=$1 release=${1##*:} tree=$store/base mirror container
	release=${release%-slim}
	# shellcheck disable=SC2016 # apt-get fills these in
	mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
		awk '$3 == "main" && $4 == "Debian" && $2 !~ /-/ { print $1; exit }')
	[ -n "$mirror" ] || cannot "the system's apt settings name no source of Debian's packages"
	say "making $name from Debian's packages"
	rm -rf "$tree"
	debootstrap --variant=minbase "$release" "$tree" "$mirror" >"$log" 2>&1 || { tail -n 5 "$log" >&2; cannot "debootstrap failed; its log is $log"; }
	# shellcheck disable=SC2016
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
		awk -v r="$release" '$4 == "main" && $5 == "Debian" && ($3 == r || index($3, r "-") == 1) { print $1, $2, $3, $4 }' |
		sort -u >"$store/sources"
	if [ -s "$store/sources" ]; then cp "$store/sources" "$tree/etc/apt/sources.list"; fi
	rm -rf "$tree"/var/cache/apt/* "$tree"/var/lib/apt/lists/* "$tree"/var/log/* "$tree"/usr/share/man/* "$tree"/usr/share/locale/*
	find "$tree/usr/share/doc" -type f ! -name copyright -delete # licences stay
	container=$(b from scratch)
	b add --quiet "$container" "$tree" / >/dev/null
	b config --cmd bash "$container"
	b run --isolation chroot "$container" -- /bin/true >"$log" 2>&1 || { tail -n 5 "$log" >&2; cannot "this machine does not let a program run in a tree of its own"; }
	b commit --quiet --rm "$container" "$name" >/dev/null
	rm -rf "$tree"
}

name=$(sed -n 's/^ARG BASE=//p' "$context/Dockerfile")
b inspect --type image "$name" >/dev/null 2>&1 || base "$name"
# The first is only for the next build: what it took minutes to compile stays.
for target in ffmpeg:ffmpeg poseworker:worker precheck:precheck; do
	say "building ${target%%:*}"
	b bud --layers --isolation chroot --pull-never --quiet --target "${target##*:}" --tag "localhost/fbl-${target%%:*}" "$context" >"$log" 2>&1 ||
		{ tail -n 20 "$log" >&2; say "the build failed; its log is $log"; exit 1; }
done
b rmi --prune >/dev/null 2>&1 || true # layers of an earlier build that nothing named uses

# The programs that decode, for `make bench` to measure with what is deployed.
container=$(b from localhost/fbl-poseworker)
root=$(b mount "$container")
mkdir -p "$store/ffmpeg"
install -m 0755 "$root/usr/local/bin/ffmpeg" "$root/usr/local/bin/ffprobe" "$store/ffmpeg"

# What is in it, in megabytes, and what a registry stores of it.
megabytes() { du -scB1 "${@/#/$root}" 2>/dev/null | awk 'END { printf "%.1f", $1 / 1e6 }'; }
printf '%-52s %7s MB\n' \
	"localhost/fbl-poseworker, unpacked" "$(megabytes /)" \
	"  the same, packed (gzip -1), as a registry stores it" "$(tar -C "$root" -c . | gzip -1 | wc -c | awk '{ printf "%.1f", $1 / 1e6 }')" \
	"  weights" "$(megabytes /opt/pose/models)" \
	"  ONNX Runtime" "$(megabytes /opt/pose/libonnxruntime.so.1)" \
	"  the worker" "$(megabytes /usr/local/bin/poseworker)" \
	"  ffmpeg and ffprobe" "$(megabytes /usr/local/bin/ffmpeg /usr/local/bin/ffprobe)" \
	"  their libraries beside the base's" "$(megabytes /usr/lib/x86_64-linux-gnu/libdav1d* /usr/lib/x86_64-linux-gnu/libzimg*)" \
	"  certificates" "$(megabytes /etc/ssl/certs /usr/share/ca-certificates)"
b rm "$container" >/dev/null
