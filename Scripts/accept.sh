#!/usr/bin/env bash
# What must hold, at full length: each line of the issues is a named check that prints its figures, and pass or fail.
#
# usage: Scripts/accept.sh [--short] [NAME…]   (default: all, in the order of --list)
#        Scripts/accept.sh --list
# --short takes streams of 12 s and no more time than that: it shows that the machinery works, not that the limits hold
# everywhere. A NAME may be a prefix: `offload` runs every check that begins so. The exit code is 1 when a check failed.
# KEEP=1 keeps the files of the checks.
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
for part in stream cdn tracker swarm verdict netns; do source "$repository/Scripts/lib/$part.sh"; done
for part in "$repository"/Scripts/accept/*.sh; do source "$part"; done

# The checks, in the order in which they run. Each is a function check_NAME in Scripts/accept/*.sh.
names=(
    offload-hls offload-dash offload-stagger0 offload-30 offload-mixed nginx-agrees
    links
    calibration-scarce calibration-slow-cdn calibration-leaving
    frames-hls-ts frames-hls-fmp4 frames-dash frames-corpus seeks
    polluters-1 polluters-3 polluters-9 attacker
    cdn-mismatch freeriders
    faults-tracker-before faults-tracker-during faults-viewers-killed faults-silent-peer faults-slow-peer
    faults-cdn-404 faults-cdn-500 faults-cdn-truncated faults-cdn-slow
    faults-catalogue-missing faults-catalogue-truncated faults-catalogue-foreign-key faults-catalogue-foreign-stream
    live-hls live-dash live-dash-numbers live-stale live-restart
    off-is-off api cost simulation-cost demo
)

short=${ACCEPT_SHORT:-}
one=
wanted=()
while (($#)); do
    case $1 in
        --short) short=1 ;;
        --list) printf '%s\n' "${names[@]}" && exit 0 ;;
        --one) one=$2 && shift ;; # Internal: a single check, in this process.
        -h | --help) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
        -*) die 2 "unknown option $1; see Scripts/accept.sh --help" ;;
        *) wanted+=("$1") ;;
    esac
    shift
done
length=60
[[ -z $short ]] || length=12

if [[ -n $one ]]; then
    binaries=$PDN_BINARIES pdn=$PDN_BINARIES/pdn
    "check_${one//-/_}"
    exit 0
fi

selected=()
for name in "${names[@]}"; do
    ((${#wanted[@]})) || selected+=("$name")
    for prefix in ${wanted[@]+"${wanted[@]}"}; do
        [[ $name == "$prefix" || $name == "$prefix"-* ]] && selected+=("$name") && break
    done
done
((${#selected[@]})) || die 2 "no check is called ${wanted[*]}; Scripts/accept.sh --list names them"

"$repository/Scripts/setup.sh" --tests
tools
export PDN_BINARIES=$binaries ACCEPT_SHORT=$short ACCEPT_RESULTS=$work/results
: > "$ACCEPT_RESULTS"
printf 'measured on: %s\n' "$(machine)"

# Each check runs in a process of its own, with its own CDN, tracker and directory, so that none sees what another left.
for name in "${selected[@]}"; do
    say "$name"
    before=$(wc -l < "$ACCEPT_RESULTS")
    began=$SECONDS
    code=0
    "${BASH_SOURCE[0]}" --one "$name" < /dev/null &
    children+=("$!")
    wait "$!" || code=$?
    forget "$!"
    if ((code != 0)); then
        verdict "$name" FAIL "the check ended with exit code $code"
    elif (($(wc -l < "$ACCEPT_RESULTS") == before)); then
        verdict "$name" FAIL 'the check gave no result'
    fi
    note "$((SECONDS - began)) s"
done

printf '\n%s\n' "${bold}Results${plain}"
failed=0
while IFS=$'\t' read -r name outcome figure; do
    case $outcome in
        PASS) colour=$green ;;
        SKIP) colour=$yellow ;;
        *) colour=$red && failed=$((failed + 1)) ;;
    esac
    printf '%s%-4s%s  %-32s %s\n' "$colour" "$outcome" "$plain" "$name" "$figure"
done < "$ACCEPT_RESULTS"
((failed == 0)) || die 1 "$failed of $(wc -l < "$ACCEPT_RESULTS") criteria failed"
