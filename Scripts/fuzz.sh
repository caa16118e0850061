#!/usr/bin/env bash
# Coverage-guided fuzzing (libFuzzer) of every parser of bytes from outside.
#
# usage: Scripts/fuzz.sh [TARGET|all] [SECONDS]   (default: all, 600 s each)
#        Scripts/fuzz.sh TARGET FILE              repeats one input
# The targets are the folders of Tests/Fuzz but for Support. What was learnt stays in the cache between runs; an input that
# traps, takes over a second or over 512 MB is a failure and is kept under .build-fuzz/findings.
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
    if run "$work/fuzz.log" "$binaries/Fuzz$name" -max_total_time="$amount" -timeout=1 -rss_limit_mb=512 -max_len=16384 \
        -artifact_prefix="$findings/$name-" -print_final_stats=1 "${arguments[@]}"; then
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
