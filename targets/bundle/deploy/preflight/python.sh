#!/bin/sh
# The Python that the controller runs on, and its modules with the least versions of requirements.txt. See common.sh.
. "${0%/*}/common.sh"
any_role switch || exit 0

python=$PREFIX/venv/bin/python3
[ -x "$python" ] || python=python3
if ! have "$python"; then
    missing 'python3 3.11 or newer' 'python3' ''
    version=0
else
    version=$(version_in "$("$python" --version 2>/dev/null)")
    if at_least "$version" 3.11; then ok "python3 $version"; else missing "python3 3.11 or newer, not $version" python3 ''; fi
fi
while read -r line; do
    case $line in '' | '#'*) continue ;; esac
    module=${line%%>=*} least=${line##*>=}
    case $module in
        grpcio) package=python3-grpcio ;;
        protobuf) package=python3-protobuf ;;
        *) package=python3-$module ;;
    esac
    # Versions that Debian patches say so with letters, which mean nothing here.
    found=$(have "$python" && "$python" -c "from importlib.metadata import version; print(version('$module'))" 2>/dev/null) || found=
    if [ -n "$found" ] && at_least "$(version_in "$found")" "$least"; then
        ok "Python module $module $found"
    else
        missing "Python module $module $least or newer${found:+, not $found}" "$package" "or: python3 -m venv $PREFIX/venv && $PREFIX/venv/bin/pip install -r switch/requirements.txt"
    fi
done <"$deploy/../switch/requirements.txt"
exit 0
