# nginx as the CDN: its own prefix directory and free port per run, an access log in JSON lines, faults for chosen segments.
# shellcheck shell=bash

# start_cdn DIRECTORY [ADDRESS]: serves the directory. Faults set with `fault` before apply. Sets:
#   cdn      its URL, without a slash at the end
#   cdn_log  the access log: the independent count of what left the CDN
#   cdn_pid  the process ID of its master process
start_cdn() {
    local root=$1 address=${2:-127.0.0.1} prefix port attempt
    prefix=$(mktemp -d "$work/cdn.XXXXXX")
    cdn_log=$prefix/access.log
    mkdir -p "$prefix/temporary"
    for attempt in 1 2 3; do
        if [[ $address == 127.* ]]; then port=$(free_port); else port=8080; fi
        cdn=http://$address:$port
        cdn_configuration "$root" "$address:$port" > "$prefix/nginx.conf"
        start "$prefix/start.log" "${within[@]}" nginx -p "$prefix" -c "$prefix/nginx.conf"
        cdn_pid=$started
        if await 10 cdn_ready; then
            alive "$cdn_pid" && return 0
        fi
        end "$cdn_pid"
        note "nginx did not start on port $port (attempt $attempt)"
    done
    cat "$prefix/start.log" "$prefix/error.log" >&2 || true
    die 4 "nginx did not start"
}

cdn_ready() {
    alive "$cdn_pid" || return 0  # Nothing to wait for any more.
    "${within[@]}" curl --silent --noproxy '*' --max-time 2 --output /dev/null "$cdn/ready"
}

# stop_cdn: ends it after the requests that are under way, so that the log is complete.
stop_cdn() { end "$cdn_pid" 10 QUIT; }

# fault KIND PATTERN [RATE]: what the next start_cdn does for paths that match the regular expression. KIND is a status
# (404, 500), `slow` (RATE, like 20k bytes a second), `truncated` (half of the body, then the connection closes) or `stalled`
# (half of the body, then nothing).
fault() {
    case $1 in
        slow) cdn_faults+="    location ~ \"$2\" { limit_rate ${3:-20k}; }"$'\n' ;;
        truncated | stalled)
            cdn_faults+="    location ~ \"$2\" { proxy_pass http://unix:$work/faulty.socket:/$1\$request_uri; proxy_set_header Range \$http_range; proxy_buffering off; }"$'\n'
            ;;
        *) cdn_faults+="    location ~ \"$2\" { return $1; }"$'\n' ;;
    esac
}
no_faults() { cdn_faults=''; }
no_faults

# start_faulty_origin DIRECTORY: what serves `truncated` and `stalled` behind nginx.
start_faulty_origin() {
    rm -f "$work/faulty.socket"
    start "$work/faulty.log" python3 "$repository/Scripts/lib/faulty-origin.py" "$1" "$work/faulty.socket"
    faulty_pid=$started
    await 10 test -S "$work/faulty.socket" || die 4 "the faulty origin did not start: $(cat "$work/faulty.log")"
}

cdn_configuration() {
    local user=''
    ((EUID == 0)) && user='user root;'
    cat << END
daemon off;
$user
worker_processes 1;
pid nginx.pid;
error_log error.log warn;
events { worker_connections 4096; }
http {
    types {
        application/vnd.apple.mpegurl m3u8;
        application/dash+xml mpd;
        video/mp4 mp4 m4s;
        video/mp2t ts;
    }
    default_type application/octet-stream;
    log_format lines escape=json '{"time":\$msec,"status":\$status,"bytes":\$body_bytes_sent,"range":"\$http_range",'
        '"path":"\$uri","query":"\$args","seconds":\$request_time,"complete":"\$request_completion",'
        '"client":"\$remote_addr","agent":"\$http_user_agent"}';
    access_log access.log lines;
    client_body_temp_path temporary/body;
    proxy_temp_path temporary/proxy;
    fastcgi_temp_path temporary/fastcgi;
    uwsgi_temp_path temporary/uwsgi;
    scgi_temp_path temporary/scgi;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 60s;
    keepalive_requests 100000;
    server {
        listen $2;
        root $1;
        location = /ready { access_log off; return 204; }
$cdn_faults
    }
}
END
}
