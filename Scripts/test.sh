#!/usr/bin/env bash
# Everything that CI checks, on short streams: set-up, format, build, purity, fuzz targets, sanitizers, real links where the
# machine allows them, and at the end all tests. Its last lines are those of `swift test`.
#
# usage: Scripts/test.sh [--quick]   (--quick: without the sanitizer and fuzz builds)
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

quick=
for argument in "$@"; do
    case $argument in
        --quick) quick=1 ;;
        -h | --help) sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
        *) die 2 "unknown option $argument; see Scripts/test.sh --help" ;;
    esac
done

cd "$repository"
checks=(--explicit-target-dependency-import-check error)

# step TITLE COMMAND…: shows the command's output only when it fails.
step() {
    local title=$1 began=$SECONDS
    shift
    say "$title"
    if ! run "$work/step.log" "$@"; then
        tail -n 200 "$work/step.log" >&2
        die 1 "$title: failed"
    fi
    note "$((SECONDS - began)) s"
}

step 'set-up' Scripts/setup.sh --tests
step 'format' "$SWIFT" format lint --strict --recursive --parallel Package.swift Sources Tests Tracker
step 'shell and Python syntax' bash -c '
    for file in Scripts/*.sh Scripts/*/*.sh .ci/run; do bash -n "$file" || exit 1; done
    for file in Scripts/lib/*.py; do python3 -c "import ast, sys; ast.parse(open(sys.argv[1]).read())" "$file" || exit 1; done'
# Warnings are errors in every target's settings (Package.swift).
step 'build' "$SWIFT" build --build-tests "${checks[@]}"
step 'purity of the pure modules' Scripts/check-purity.sh

# The build's own program: a release build would take longer than what it saves here.
step 'short simulations against their figures' Scripts/simulations.sh
cat "$work/step.log" >&2

if [[ -z $quick ]]; then
    # A build of its own, so that it doesn't throw the other one's objects away.
    # It reports leaks too.
    step 'address sanitizer: event loop, transfers, WebSockets, tracker, sessions' \
        "$SWIFT" test --scratch-path .build-asan --sanitize=address --disable-xctest \
        --filter '^(EventLoopTests|HTTPTransferTests|WebSocketsTests|TrackerServerTests|DeliveryTests)\.'
    step 'fuzz targets, 5 s each' Scripts/fuzz.sh all 5
fi

step 'swarm on links with limits, short' Scripts/accept.sh --short links
tail -n 4 "$work/step.log" >&2

say 'tests'
"$SWIFT" test --parallel "${checks[@]}" 2>&1 &
children+=("$!")
wait "$!"
