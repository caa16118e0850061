#!/usr/bin/env bash
# Runs a script of this folder: run.sh SCRIPT.py ARGUMENTS…; exits with 77 when its packages can't be had.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/../../../Scripts/lib/python.sh" "$here" websockets.asyncio.server "$@"
