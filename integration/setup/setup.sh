#!/usr/bin/env bash
# Installs what the project needs beside Go and Node: the pinned npm parts, and
# from the system's packages ffmpeg, a C compiler and, with --tests, the PDF tools
# and a browser. The tests that drive the browser are skipped by name without it.
# Does nothing when all is there. Says the one line to run where it may not
# install something itself.
set -euo pipefail
cd "$(dirname "$0")/../.."

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

command -v go >/dev/null || die "Go is missing; install the version that go.mod names (go.dev/doc/install), then run this again"
command -v npm >/dev/null || die "Node.js with npm is missing; install Node.js 20 or later, then run this again"

# command -> package of Debian and Ubuntu
need=(ffmpeg:ffmpeg ffprobe:ffmpeg cc:gcc)
if [ "${1:-}" = --tests ]; then
	need+=(pdftotext:poppler-utils pdftoppm:poppler-utils shellcheck:shellcheck)
fi

missing=()
for n in "${need[@]}"; do
	command -v "${n%%:*}" >/dev/null && continue
	p=${n##*:}
	[[ " ${missing[*]-} " == *" $p "* ]] || missing+=("$p")
	[ "$p" = gcc ] && missing+=(libc6-dev)
done

if [ ${#missing[@]} -gt 0 ]; then
	line="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
	if ! command -v apt-get >/dev/null; then
		die "missing: ${missing[*]} (names of the Debian packages); install them with your system's package manager, then run this again"
	elif [ "$(id -u)" != 0 ]; then
		die "missing: ${missing[*]}; run this line, then try again:  sudo sh -c '$line'"
	fi
	say "installing ${missing[*]} from the system's packages"
	log=$(mktemp)
	if ! DEBIAN_FRONTEND=noninteractive sh -c "$line" >"$log" 2>&1; then
		tail -n 5 "$log" >&2
		die "could not install them; run this line yourself, then try again:  $line"
	fi
	rm -f "$log"
fi

# A browser is a wish: some systems have none as a package (Ubuntu's is a snap).
browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
if [ "${1:-}" = --tests ] && ! browser >/dev/null; then
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && grep -q '^ID=debian' /etc/os-release 2>/dev/null; then
		say "installing chromium, which the tests of the page drive"
		DEBIAN_FRONTEND=noninteractive sh -c 'apt-get update && apt-get install -y --no-install-recommends chromium' >/dev/null 2>&1 ||
			say "could not install it; the tests that drive a browser are skipped"
	else
		say "no browser (chromium or google-chrome); the tests that drive one are skipped"
	fi
fi

if [ ! -f node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
	say "installing the pinned npm parts (about 470 MB: model weights, ONNX Runtime, database, fonts, CDK, validators)"
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
	touch node_modules/.package-lock.json
fi
