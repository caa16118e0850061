#!/usr/bin/env bash
# Checks that the pure modules are pure: no socket, clock, thread, file, environment or random source, and no Foundation. It
# reads what their compiled objects want from outside (nm -u), so a call that hides behind a generic or a helper shows too.
#
# usage: Scripts/check-purity.sh [MODULE…]   (after a debug build)
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

modules=("$@")
((${#modules[@]})) || modules=(CoreModel Integrity SwarmProtocol Scheduling ViewerCore NetworkEmulator Manifest TrackerProtocol TrackerCore)
binaries=$("$SWIFT" build --package-path "$repository" --show-bin-path)

# Extended regular expressions over the undefined symbols, demangled, with what each one means.
declare -A forbidden=(
    ['(^|[^A-Za-z])Foundation(Essentials)?\.|^_TtC10Foundation']='Foundation'
    ['(^|[^A-Za-z])Dispatch\.|^dispatch_']='Dispatch'
    ['Swift\.(Continuous|Suspending)Clock|^swift_get_(time|clock)']='a clock of the standard library'
    ['^(clock_gettime|gettimeofday|time|clock|nanosleep|usleep|sleep|timer_create|localtime|gmtime)(_r|64)?$']='a clock'
    ['SystemRandomNumberGenerator|^swift_stdlib_random$']='the random source of the system'
    ['\.random\((in: [^,]*)?\) ->|\.(shuffled?|randomElement)\(\) ->']='randomness without a generator passed in'
    ['^(rand|random|arc4random|getrandom|getentropy|drand48)(_r|_buf|_uniform)?$']='a random source of the C library'
    ['^(socket|connect|bind|listen|accept4?|send|sendto|sendmsg|recv|recvfrom|recvmsg|getaddrinfo|poll|select|epoll_.*)$']='sockets'
    ['^(open|openat|fopen|creat|read|pread|write|pwrite|unlink|rename|mkdir|opendir|stat|fstat|mmap)(64)?$|Glibc\.open']='files'
    ['^xml(Read|CtxtRead|SAXParse|Parse)(File|Fd)$|^xmlNewInputFromFile$']='files, through libxml2'
    ['^(getenv|setenv|system|fork|execv.*|posix_spawn.*|pthread_create)$']='processes, threads or the environment'
    ['^swift_task_create|^swift_task_switch$|^swift_asyncLet_begin']='concurrency'
)

# What a module may import: the standard library, other pure modules, the one C library that parses text, and the C library's
# mathematics (whatever else of it is called shows among the symbols).
imports='CoreModel|Integrity|SwarmProtocol|Scheduling|TrackerProtocol|TrackerCore|CLibXML2|Glibc|Darwin'

bad=0
for module in "${modules[@]}"; do
    objects=("$binaries/$module.build"/*.o)
    [[ -e ${objects[0]} ]] || die 1 "$module has no objects under $binaries; build it first"
    symbols=$(nm -u "${objects[@]}" | awk '$1 == "U" || $1 == "w" { print $2 }' | sort -u | "$SWIFT" demangle)
    for pattern in "${!forbidden[@]}"; do
        if found=$(grep -E -- "$pattern" <<< "$symbols"); then
            bad=1
            printf '%s uses %s:\n' "$module" "${forbidden[$pattern]}"
            sed 's/^/    /' <<< "$found" | head -n 8
        fi
    done
    folder=$repository/Sources/$module
    [[ -d $folder ]] || folder=$repository/Tracker/Sources/$module
    if found=$(grep -rnE '^ *(@[A-Za-z_]+ +)*(public |internal |package |private |fileprivate )?import ' "$folder" --include='*.swift' \
        | grep -vE "import (struct |enum |class |func |protocol )?($imports)(\.|$| )"); then
        bad=1
        printf '%s imports what a pure module may not:\n%s\n' "$module" "${found//$repository\//    }"
    fi
done
((bad == 0)) || die 1 "a pure module is not pure (see above): pass time, randomness and bytes in as arguments"
printf 'pure: %s\n' "${modules[*]}"
