# Checks that are tests of the package, benchmarks, or other scripts.
# shellcheck shell=bash

# swift_tests NAME FILTER: the tests that match must exist and pass.
swift_tests() {
    local code=0 line
    cd "$repository"
    run "$work/tests.log" "$SWIFT" test --filter "$2" || code=$?
    line=$(grep -E 'Test run with [0-9]+ test' "$work/tests.log" | tail -n 1)
    line=${line#* }
    if ((code == 0)) && [[ $line =~ with\ ([0-9]+)\ test ]] && ((BASH_REMATCH[1] > 0)); then
        verdict "$1" PASS "$line"
    else
        verdict "$1" FAIL "exit code $code, ${line:-no tests ran}; $(grep -m 1 -E ' recorded an issue|error:' "$work/tests.log" || true)"
    fi
}

# The promises of the public interface, kept by the player and by callers written in both language modes.
check_api() { swift_tests api '^(VBPlayerTests|CallerMode5Tests|CallerMode6Tests)\.'; }

# The independent attacker and the honest second implementation, written from the protocol document in Python: one link in
# the package's tests, then a member of a real swarm that tells each lie.
check_attacker() {
    local code=0 line
    swift_tests attacker 'SecondImplementation'
    run "$work/attack.log" "$repository/Tests/SwarmProtocolTests/Python/attack-swarm.sh" || code=$?
    while read -r line; do
        verdict attacker "$( ((code == 0)) && echo PASS || echo FAIL)" "in a swarm: ${line:0:150}"
    done < <(grep '^{' "$work/attack.log")
    ((code == 0)) || verdict attacker FAIL "attack-swarm.sh ended with exit code $code: $(tail -n 1 "$work/attack.log" | cut -c 1-150)"
}

check_cost() { benchmarks cost delivery tree-hashing link idle-link neighbourhood startup control-latency messages sessions; }
check_simulation_cost() { benchmarks simulation-cost simulation simulation; }

# benchmarks NAME LIMITS BENCHMARK…: runs them and holds them against that group of limits.
benchmarks() {
    local name=$1 limits=$2 outcome text code=0
    shift 2
    run "$work/bench.lines" "$repository/Scripts/bench.sh" "$@" || code=$?
    ((code == 0)) || verdict "$name" FAIL "Scripts/bench.sh ended with exit code $code: $(tail -n 1 "$work/bench.lines")"
    while IFS=$'\t' read -r outcome text; do verdict "$name" "$outcome" "$text"; done < <(
        python3 "$repository/Scripts/lib/bench-limits.py" "$limits" "$work/bench.lines"
    )
}

# On a fresh clone with nothing built and no stream made; then once more.
check_demo() {
    local clone=$work/clone code first second began=$SECONDS
    git clone --quiet "$repository" "$clone"
    for round in 1 2; do
        code=0 began=$SECONDS
        PDN_BINARIES='' PDN_CACHE=$work/demo-cache run "$work/demo-$round.log" "$clone/Scripts/demo.sh" || code=$?
        if ((round == 1)); then first=$((SECONDS - began)); else second=$((SECONDS - began)); fi
        ((code == 0)) || verdict demo FAIL "run $round: exit code $code: $(tail -n 3 "$work/demo-$round.log" | tr '\n' ' ')"
    done
    local outcome=PASS
    ((first < 900)) || outcome=FAIL
    verdict demo "$outcome" "first run with build $first s (must be < 900)"
    outcome=PASS
    ((second < 120)) || outcome=FAIL
    verdict demo "$outcome" "second run $second s (must be < 120)"
    outcome=PASS
    for figure in 'bytes, CDN' 'bytes, peers' offload 'copies per segment' start-up stalls 'chunks verified' 'chunks rejected'; do
        grep -q "^$figure" "$work/demo-2.log" || outcome=FAIL
    done
    verdict demo "$outcome" 'the table names bytes by source, offload, copies, start-up, stalls, chunks'
    if pgrep -f "$clone" > "$work/left"; then
        verdict demo FAIL "processes left: $(tr '\n' ' ' < "$work/left")"
    else
        verdict demo PASS 'no process left'
    fi
}

# With the PDN off, though a tracker is named, every socket goes to the CDN (or a resolver).
check_off_is_off() {
    local pid code=0
    serve_title 12
    viewer_options
    viewer[1]=off
    stats=("$work/off.json") swarm_log=$work/off.log
    start "$swarm_log" "$pdn" play --headless "$hls" "${viewer[@]}" --stats "${stats[0]}"
    pid=$started
    verdicts off-is-off python3 "$repository/Scripts/lib/sockets.py" "$pid" "${cdn#http://}"
    finish_within "$((4 * length + 120))" "$pid" || code=$?
    judge_code off-is-off "$code"
    judge off-is-off 'sum.bytes.peers==0' 'sum.bytes.cdnCatalogue==0'
}
