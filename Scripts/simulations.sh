#!/usr/bin/env bash
# Short simulations with fixed seeds, held against what is in Scripts/lib/simulations.json: fails when one loses more than 0.01
# of offload, or has a stall more. Takes the program of the last build; that of `swift build` will do.
#
# usage: Scripts/simulations.sh [--record]   (--record: writes what comes out into the file, for a change that is meant)
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

options=()
for argument in "$@"; do
    case $argument in
        --record) options+=(--record) ;;
        -h | --help) sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
        *) die 2 "unknown option $argument; see Scripts/simulations.sh --help" ;;
    esac
done

cd "$repository"
binaries=${PDN_BINARIES:-$("$SWIFT" build --show-bin-path)}
[[ -x $binaries/pdn ]] || die 1 "there is no pdn in $binaries; run swift build first"
python3 "$repository/Scripts/lib/simulations.py" ${options[@]+"${options[@]}"} "$binaries/pdn" \
    "$repository/Scripts/lib/simulations.json" < /dev/null &
children+=("$!")
wait "$!"
