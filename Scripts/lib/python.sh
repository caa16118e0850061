#!/usr/bin/env bash
# Runs a Python script with the packages that its folder's requirements.txt names.
#
# usage: python.sh FOLDER MODULE SCRIPT.py ARGUMENTS…
# Uses the system's Python when it has MODULE, and otherwise a virtual environment that is made once in the build folder.
# Exits with 77 when neither can be had.
set -euo pipefail
folder=$1 module=$2 script=$3
environment="$(dirname "${BASH_SOURCE[0]}")/../../.build/python-${module%%.*}"
python=python3
command -v python3 > /dev/null || { echo "python3 is missing" >&2; exit 77; }
if ! python3 -c "import $module" 2> /dev/null; then
    python="$environment/bin/python3"
    if ! "$python" -c "import $module" 2> /dev/null; then
        { python3 -m venv "$environment" &&
            "$environment/bin/pip" install --quiet --disable-pip-version-check -r "$folder/requirements.txt"; } >&2 ||
            { echo "${module%%.*} can't be installed (python3-venv or the network is missing)" >&2; exit 77; }
    fi
fi
exec "$python" "$folder/$script" "${@:4}"
