# shellcheck shell=sh
# What the checks of this folder share. A check is `CHECK.sh [MACHINE]`; without a machine it checks what every machine
# of the roles in ROLES needs. It prints one line for each thing, four parts with tabs between:
#   ok|missing|warning  WHAT  DEBIAN PACKAGES  HOW TO MEND IT
# and ends with 0 whatever it found. Beside the shell's own commands it uses nothing that it does not look for first.
set -u

here=${0%/*}
deploy=$here/..
. "$deploy/bundle.conf"
if [ $# -gt 0 ]; then
    . "$deploy/machines/$1.conf"
    ROLES=$ROLE
fi
: "${ROLES:=switch rdma nf}"

ok() { printf 'ok\t%s\t\t\n' "$1"; }
missing() { printf 'missing\t%s\t%s\t%s\n' "$1" "$2" "$3"; }
warning() { printf 'warning\t%s\t%s\t%s\n' "$1" "$2" "$3"; }

have() { command -v "$1" >/dev/null 2>&1; }

# Is one of the roles $1... among those that are checked?
any_role() {
    for wanted in "$@"; do
        case " $ROLES " in *" $wanted "*) return 0 ;; esac
    done
    return 1
}

# The first number with dots in a text: `clang version 14.0.6` is 14.0.6.
version_in() {
    for word in $1; do
        case $word in
            [0-9]*.[0-9]*) printf '%s\n' "${word%%[!0-9.]*}"; return ;;
        esac
    done
    echo 0
}

# Is version $1 at least $2? Both are numbers with dots.
at_least() {
    left=$1 right=$2
    while [ -n "$right" ]; do
        a=${left%%.*} b=${right%%.*}
        [ "${a:-0}" -gt "${b:-0}" ] && return 0
        [ "${a:-0}" -lt "${b:-0}" ] && return 1
        case $left in *.*) left=${left#*.} ;; *) left='' ;; esac
        case $right in *.*) right=${right#*.} ;; *) right='' ;; esac
    done
    return 0
}
