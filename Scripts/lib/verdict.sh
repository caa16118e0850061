# The results of checks.
# shellcheck shell=bash

# verdict NAME PASS|FAIL|SKIP TEXT: one criterion of a check; SKIP is for what this machine cannot do, with the reason.
verdict() {
    printf '%-4s  %s: %s\n' "$2" "$1" "$3"
    [[ -z ${ACCEPT_RESULTS:-} ]] || printf '%s\t%s\t%s\n' "$1" "$2" "$3" >> "$ACCEPT_RESULTS"
}

# verdicts NAME COMMAND…: the criteria that the command prints, as `PASS|FAIL <tab> text` lines.
verdicts() {
    local name=$1 outcome text output any=
    shift
    output=$("$@") || true
    while IFS=$'\t' read -r outcome text; do
        [[ -n $outcome ]] || continue
        any=1
        verdict "$name" "$outcome" "$text"
    done <<< "$output"
    [[ -n $any ]] || verdict "$name" FAIL "no figures: ${*##*/}"
}

# judge NAME CRITERION…: criteria (see stats.py) on the last swarm's figures.
judge() {
    local name=$1
    shift
    if [[ ! -s ${stats[0]} ]]; then
        verdict "$name" FAIL "no figures; $(tail -n 3 "$swarm_log" | tr '\n' ' ')"
        return
    fi
    verdicts "$name" python3 "$repository/Scripts/lib/stats.py" judge "${stats[@]}" -- "$@"
}

# judge_code NAME CODE: the tool's exit code must be 0.
judge_code() {
    if (($2 == 0)); then
        return
    fi
    verdict "$1" FAIL "exit code $2: $(tail -n 3 "$swarm_log" | tr '\n' ' ')"
}

# judge_log NAME: the CDN's own count of bytes against the viewers' (of the last swarm).
judge_log() {
    settle_cdn_log
    [[ -s ${stats[0]} ]] || return 0
    verdicts "$1" python3 "$repository/Scripts/lib/stats.py" log "${stats[@]}" --log "$cdn_log" --from "$log_start"
}

# judge_frames NAME TRUTH LIST…: each list of decoded frames must equal ffmpeg's.
judge_frames() {
    local name=$1
    shift
    verdicts "$name" python3 "$repository/Scripts/lib/frames.py" equal "$@"
}
