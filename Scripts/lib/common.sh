# Shared by all scripts: strict mode, places, messages, child processes and what ends them.
# shellcheck shell=bash
#
# Source it first. It sets:
#   repository  the checkout
#   work        a fresh directory of this run, removed at the end (kept, and named, with KEEP=1)
#   cache       where generated test streams stay between runs (PDN_CACHE overrides it)
#   SWIFT       the swift command (the environment can set it)

set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${PDN_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/peer-assisted-delivery}
SWIFT=${SWIFT:-swift}
work=$(mktemp -d "${TMPDIR:-/tmp}/pdn-run.XXXXXX")

# Child processes that are to end with the script, as process IDs; only those this script started are ever signalled.
declare -a children=()
# What goes in front of the commands of CDN, tracker and signer: empty, or `ip netns exec NAME` to run them in a namespace.
declare -a within=()
# Commands to run at the end, last one first.
declare -a at_end=()

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
    bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' yellow=$'\e[33m' plain=$'\e[0m'
else
    bold='' red='' green='' yellow='' plain=''
fi

# say TEXT…: a heading of a step, on stderr so that stdout stays for results.
say() { printf '%s==>%s %s\n' "$bold" "$plain" "$*" >&2; }
note() { printf '    %s\n' "$*" >&2; }
warn() { printf '%swarning:%s %s\n' "$yellow" "$plain" "$*" >&2; }
# die CODE TEXT…: what went wrong and what to do, then end.
die() {
    local code=$1
    shift
    printf '%serror:%s %s\n' "$red" "$plain" "$*" >&2
    exit "$code"
}

# has COMMAND: whether it can be run (sbin directories are not on everybody's PATH).
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
has() { command -v "$1" > /dev/null 2>&1; }

# start LOG COMMAND…: runs the command in the background with stdout and stderr in LOG; its process ID is in `started`.
start() {
    local log=$1
    shift
    "$@" > "$log" 2>&1 < /dev/null &
    started=$!
    children+=("$started")
}

# run LOG COMMAND…: runs the command to its end, its output in LOG, and gives its exit code. It waits with `wait`, which a
# signal interrupts, so that Ctrl-C and SIGTERM end the command and the script at once.
run() {
    start "$@"
    local pid=$started code=0
    wait "$pid" || code=$?
    forget "$pid"
    return "$code"
}

# forget PID: the process has ended and its number may belong to somebody else soon.
forget() {
    local pid left=()
    for pid in "${children[@]}"; do [[ $pid == "$1" ]] || left+=("$pid"); done
    children=(${left[@]+"${left[@]}"})
}

# alive PID: whether the child still runs (a zombie does not).
alive() {
    local state
    state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2> /dev/null) || return 1
    [[ -n $state && $state != Z && $state != X ]]
}

# end PID [SECONDS] [SIGNAL]: asks the child to end, waits, and kills it when it does not within the time.
end() {
    local pid=$1 seconds=${2:-5} signal=${3:-TERM}
    if alive "$pid"; then
        kill "-$signal" "$pid" 2> /dev/null || true
        await "$seconds" not_alive "$pid" || kill -KILL "$pid" 2> /dev/null || true
    fi
    wait "$pid" 2> /dev/null || true
    forget "$pid"
}
not_alive() { ! alive "$1"; }

# await SECONDS COMMAND…: polls until the command succeeds; fails when the time is over.
await() {
    local deadline=$((SECONDS + $1 + 1))
    shift
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.05
    done
}

# free_port: prints a TCP port of loopback that nobody uses now.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

finish() {
    local code=$? pid index
    trap - EXIT
    trap '' INT TERM HUP
    set +e
    for pid in ${children[@]+"${children[@]}"}; do kill -TERM "$pid" 2> /dev/null; done
    for pid in ${children[@]+"${children[@]}"}; do end "$pid" 5; done
    for ((index = ${#at_end[@]} - 1; index >= 0; index--)); do eval "${at_end[index]}"; done
    if [[ -n ${KEEP:-} ]]; then note "kept $work"; else rm -rf "$work"; fi
    exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# build PRODUCT…: a release build; the binaries are then in `binaries`. Quiet unless it fails.
build() {
    local product
    cd "$repository"
    for product in "$@"; do
        run "$work/build.log" "$SWIFT" build -c release --product "$product" || {
            tail -n 40 "$work/build.log" >&2
            die 1 "the release build of $product failed"
        }
    done
    binaries=$("$SWIFT" build -c release --show-bin-path)
}

# machine: one line about where the figures were measured.
machine() {
    printf '%s cores, %s, Linux %s, %s\n' "$(nproc)" \
        "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)" "$(uname -r)" \
        "$("$SWIFT" --version 2> /dev/null | sed -n 's/.*Swift version \([^ ]*\).*/Swift \1/p' | head -n 1)"
}
