#!/usr/bin/env bash
# Coverage-guided fuzzing (libFuzzer) of every parser of bytes from outside.
#
# usage: Scripts/fuzz.sh [TARGET|all] [SECONDS]   (default: all, 600 s each)
#        Scripts/fuzz.sh TARGET FILE              repeats one input
# The targets are the folders of Tests/Fuzz but for Support. What was learnt stays in the cache between runs; an input that
# traps, takes over a second of the processor or over 512 MB is a failure and is kept under .build-fuzz/findings.
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

cd "$repository"
case ${1:-} in
    -h | --help) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
esac
wanted=${1:-all}
amount=${2:-600}

targets=()
for folder in Tests/Fuzz/*/; do
    name=$(basename "$folder")
    [[ $name == Support ]] && continue
    [[ $wanted == all || $wanted == "$name" ]] && targets+=("$name")
done
((${#targets[@]})) || die 2 "there is no fuzz target $wanted; the targets are the folders of Tests/Fuzz"

export PDN_FUZZ=1 SWIFT_BACKTRACE=enable=no
options=(build -c release --scratch-path .build-fuzz --sanitize=fuzzer)
findings=.build-fuzz/findings
mkdir -p "$findings"
failed=()
for name in "${targets[@]}"; do
    run "$work/build.log" "$SWIFT" "${options[@]}" --product "Fuzz$name" || {
        grep -E 'error|warning' "$work/build.log" >&2 || tail -n 30 "$work/build.log" >&2
        die 1 "fuzz target $name does not build"
    }
done
binaries=$("$SWIFT" "${options[@]}" --show-bin-path)

# cpu_seconds TARGET FILE: the CPU seconds that one input takes, start of the process and all; fails when the input does.
cpu_seconds() {
    local TIMEFORMAT='%U'
    { time timeout 60 "$binaries/Fuzz$1" "$2" > "$work/again.log" 2>&1; } 2>&1
}

# fuzz_for SECONDS TARGET: libFuzzer's limit for one input is real time, which a busy machine makes long: an input that is
# called slow is tried alone, and counts when it takes a second of the processor. What is left of the time is used.
fuzz_for() {
    local end=$((SECONDS + $1)) left=$1 file spent
    while ((left > 0)); do
        run "$work/fuzz.log" "$binaries/Fuzz$2" -max_total_time="$left" -timeout=1 -rss_limit_mb=512 -max_len=16384 \
            -artifact_prefix="$findings/$2-" -print_final_stats=1 "${arguments[@]}" && return 0
        file=$(sed -n 's/.*Test unit written to \(.*-timeout-.*\)/\1/p' "$work/fuzz.log")
        [[ -n $file ]] && spent=$(cpu_seconds "$2" "$file") && [[ $spent == 0.* ]] || return 1
        rm "$file"
        left=$((end - SECONDS))
    done
}

for name in "${targets[@]}"; do
    if [[ -f $amount ]]; then
        run "$work/fuzz.log" "$binaries/Fuzz$name" "$amount" && continue
        tail -n 40 "$work/fuzz.log" >&2
        exit 1
    fi
    corpus=$cache/fuzz/$name
    mkdir -p "$corpus"
    arguments=("$corpus")
    [[ -d Tests/Fuzz/$name/Seeds ]] && arguments+=("Tests/Fuzz/$name/Seeds")
    [[ -f Tests/Fuzz/$name/dictionary.txt ]] && arguments+=("-dict=Tests/Fuzz/$name/dictionary.txt")
    if fuzz_for "$amount" "$name"; then
        printf '%-18s ok     %12s inputs, %6s edges covered\n' "$name" \
            "$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/fuzz.log")" \
            "$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$work/fuzz.log" | tail -n 1)"
    else
        failed+=("$name")
        printf '%-18s FAILED\n' "$name"
        grep -E 'Fatal error|ERROR|SUMMARY|Test unit written' "$work/fuzz.log" | sed 's/^/    /' || true
    fi
done
((${#failed[@]} == 0)) || die 1 "failing inputs of ${failed[*]} are in $findings; repeat one with Scripts/fuzz.sh TARGET FILE"
