#!/bin/bash
# Runs a script of this folder: run.sh SCRIPT.py ARGUMENTS…
# Uses the system's Python when it has `websockets`, and otherwise a virtual environment that is made once in the build
# folder. Exits with 77 when neither can be had.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
environment="$here/../../../.build/python-websockets"
python=python3
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
if ! python3 -c 'import websockets.asyncio.server' 2>/dev/null; then
    python="$environment/bin/python3"
    if ! "$python" -c 'import websockets.asyncio.server' 2>/dev/null; then
        { python3 -m venv "$environment" &&
            "$environment/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"; } >&2 ||
            { echo "websockets can't be installed (python3-venv or the network is missing)" >&2; exit 77; }
    fi
fi
exec "$python" "$here/$1" "${@:2}"
