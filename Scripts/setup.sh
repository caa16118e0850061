#!/usr/bin/env bash
# Installs the system packages for building and running, with --tests those of the demo, the tests and the benchmarks too.
# Debian 12 and Ubuntu 24.04, as root or through sudo. Starts no service, nor has one started with the machine. Does nothing, quickly, when nothing is missing.
set -euo pipefail
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# Building and running: one package per C library, and pkg-config, through which the build finds them.
packages=(
    pkg-config
    libuv1-dev            # EventLoop
    libcurl4-openssl-dev  # HTTPTransfer
    libsodium-dev         # signatures, key agreement
    libssl-dev            # libcrypto: hashing and AEAD in bulk; TLS of the tracker
    libxml2-dev           # DASH manifests
    libavformat-dev libavcodec-dev libavutil-dev libswresample-dev  # MediaEngine
    libcairo2-dev         # images of plots
    libwslay-dev libmicrohttpd-dev  # WebSockets: frames, and the server's side of HTTP
)
# Demo, tests and benchmarks: the CDN, the maker and second decoder of streams, the second implementation of the protocol,
# links with limits.
test_packages=(nginx-light ffmpeg python3 python3-venv curl iproute2 nftables procps binutils)

usage() {
    cat << 'END'
usage: Scripts/setup.sh [--tests] [--check]
  --tests   also what the demo, the tests and the benchmarks need
  --check   install nothing; say what is missing (exit code 1 when something is)
END
}

check_only=
for argument in "$@"; do
    case $argument in
        --tests) packages+=("${test_packages[@]}") ;;
        --check) check_only=1 ;;
        -h | --help) usage && exit 0 ;;
        *) usage >&2 && exit 2 ;;
    esac
done

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

missing_swift() {
    fail "$1
  This project needs Swift 6.3 or newer. Toolchains: https://www.swift.org/install/linux/
  (unpack one, then put its usr/bin on the PATH)"
}

command -v swift > /dev/null || missing_swift "there is no swift command."
version=$(swift --version 2> /dev/null | sed -n 's/.*Swift version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | head -n 1)
[[ -n $version ]] || missing_swift "\`swift --version\` does not work."
if ((${version%%.*} < 6 || (${version%%.*} == 6 && ${version##*.} < 3))); then
    missing_swift "the swift command is version $version."
fi

if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    fail "this script knows Debian and Ubuntu only. Elsewhere, install what these Debian packages hold, then build with
  \`swift build\`: ${packages[*]}"
fi

missing=()
for package in "${packages[@]}"; do
    [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2> /dev/null) == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0
if [[ -n $check_only ]]; then
    fail "missing packages: ${missing[*]}"
fi

as_root=()
if ((EUID != 0)); then
    command -v sudo > /dev/null || fail "packages are missing, and there is no sudo: run \`$0 $*\` as root, then this again
  (missing: ${missing[*]})"
    as_root=(sudo)
fi

# No service may start: a policy for the time of the installation, unless the machine has one of its own, and a runlevel in
# which invoke-rc.d starts nothing.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
    "${as_root[@]}" tee "$policy" > /dev/null << 'END'
#!/bin/sh
exit 101
END
    "${as_root[@]}" chmod 755 "$policy"
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
fi

apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -o DPkg::Lock::Timeout=120 -qq "$@"
}

had_nginx=$(command -v nginx || true)
printf 'installing %s\n' "${missing[*]}" >&2
log=$(mktemp)
install() { apt install --yes --no-install-recommends "${missing[@]}" > "$log" 2>&1; }
# Lists of packages that are there already usually do; else fetch them anew, once.
if ! install; then
    apt update > "$log" 2>&1 || { cat "$log" >&2 && fail "apt-get update failed"; }
    install || { cat "$log" >&2 && fail "apt-get install failed; the packages are: ${missing[*]}"; }
fi
rm -f "$log"
# nginx came as a program for the checks, not as a server of this machine.
if [[ -z $had_nginx ]] && command -v nginx > /dev/null && command -v update-rc.d > /dev/null; then
    "${as_root[@]}" update-rc.d nginx disable > /dev/null 2>&1 || true
fi
