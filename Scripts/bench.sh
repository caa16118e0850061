#!/usr/bin/env bash
# Benchmarks, a JSON line each: {"name", "value", "unit", "limit", "ratio"}, where the limit is the physical one, or what a bare
# program needs, measured in the same run.
#
# usage: Scripts/bench.sh [NAME…]   (default: all; --list names them)
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
for part in stream cdn tracker swarm netns; do source "$repository/Scripts/lib/$part.sh"; done
for part in "$repository"/Scripts/bench/*.sh; do source "$part"; done

# Those of the executable pdn-bench, and those that need a CDN or many processes (functions bench_NAME in Scripts/bench/*.sh).
program=(tree-hashing link idle-link neighbourhood network-emulator simulation)
scripts=(startup control-latency messages sessions scheduler)

case ${1:-} in
    -h | --help) sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
    --list) printf '%s\n' "${program[@]}" "${scripts[@]}" && exit 0 ;;
    --one) # Internal: a single benchmark of the scripts, in this process.
        binaries=$PDN_BINARIES pdn=$PDN_BINARIES/pdn
        "bench_${2//-/_}"
        exit 0
        ;;
esac
wanted=("$@")
((${#wanted[@]})) || wanted=("${program[@]}" "${scripts[@]}")

"$repository/Scripts/setup.sh" --tests
if [[ -x ${PDN_BINARIES:-}/pdn-bench ]]; then
    binaries=$PDN_BINARIES
else
    say 'release build'
    build pdn-bench pdn pdn-tracker
fi
export PDN_BINARIES=$binaries
for name in "${wanted[@]}"; do
    if [[ " ${program[*]} " == *" $name "* ]]; then
        "$binaries/pdn-bench" "$name"
    elif [[ " ${scripts[*]} " == *" $name "* ]]; then
        # In a process of its own, with its own CDN, tracker and directory.
        "${BASH_SOURCE[0]}" --one "$name" < /dev/null &
        children+=("$!")
        wait "$!" || die 1 "the benchmark $name failed"
        forget "$!"
    else
        die 2 "there is no benchmark $name; Scripts/bench.sh --list names them"
    fi
done
