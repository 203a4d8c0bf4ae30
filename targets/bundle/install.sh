#!/bin/sh
# Installs a machine's part of this bundle, or says what the machine lacks. It never asks anything.
#   ./install.sh                   lists the machines of the bundle
#   ./install.sh --check MACHINE   everything that this machine lacks to be MACHINE
#   ./install.sh --check           the same for the machine that this one is, by its name or address; if it is none of
#                                  them, what machines of all roles need beside their hardware and certificates
#   ./install.sh MACHINE           checks, builds and installs, and starts nothing; as root
# Exit codes: 0 fine, 2 the command line is wrong, 3 something is missing (all of it is listed).
set -u
export LC_ALL=C

case $0 in */*) cd "${0%/*}" || exit 3 ;; esac
. deploy/bundle.conf

usage() {
    echo "error: $1" >&2
    echo "usage: ./install.sh [--check] [MACHINE]; the machines are: $MACHINES" >&2
    exit 2
}

check=no
machine=
for argument in "$@"; do
    case $argument in
        --check) check=yes ;;
        -*) usage "$argument: there is no such option" ;;
        *)
            [ -z "$machine" ] || usage "$argument: only one machine at a time"
            case " $MACHINES " in *" $argument "*) machine=$argument ;; *) usage "$argument: there is no such machine" ;; esac
            ;;
    esac
done

list_machines() {
    echo "machines of $NF:"
    for name in $MACHINES; do
        (
            . "deploy/machines/$name.conf"
            printf '  %-16s %-8s %s\n' "$name" "$ROLE" "$ADDRESS"
        )
    done
    echo 'next: ./install.sh --check MACHINE, on that machine'
}

# The machine of the bundle that this one is: it has the name, or the address.
this_machine() {
    name=
    if command -v hostname >/dev/null 2>&1; then
        name=$(hostname)
    elif [ -r /proc/sys/kernel/hostname ]; then
        read -r name </proc/sys/kernel/hostname
    fi
    for candidate in $MACHINES; do
        (
            . "deploy/machines/$candidate.conf"
            [ "${name%%.*}" = "$candidate" ] || has_address "$ADDRESS"
        ) && echo "$candidate" && return
    done
    return 0
}

# Is $1 an address of this machine? The kernel's routes list each as `|-- ADDRESS`, then `/32 host LOCAL`.
has_address() {
    [ -r /proc/net/fib_trie ] || return 1
    last=
    while read -r first second third _; do
        case $first in
            '|--') last=$second ;;
            /32) [ "$second $third $last" = "host LOCAL $1" ] && return 0 ;;
        esac
    done </proc/net/fib_trie
    return 1
}

# Prints every check's result, ok ones too, then what is missing once more, all together. False if anything is.
preflight() { # [MACHINE]
    results=$(for script in build sde python network rdma memory ports tls; do
        /bin/sh "deploy/preflight/$script.sh" "$@" || printf 'missing\tthe check %s itself failed\t\t\n' "$script"
    done)
    count=0
    packages=
    tab=$(printf '\t')
    while IFS= read -r line; do
        state=${line%%"$tab"*} rest=${line#*"$tab"}
        what=${rest%%"$tab"*} rest=${rest#*"$tab"}
        package=${rest%%"$tab"*} how=${rest#*"$tab"}
        printf '%-8s %s\n' "$state" "$what"
        [ "$state" = ok ] && continue
        [ -z "$package" ] || printf '         -> apt install %s\n' "$package"
        [ -z "$how" ] || printf '         -> %s\n' "$how"
        [ "$state" = missing ] || continue
        count=$((count + 1))
        for one in $package; do
            case " $packages " in *" $one "*) ;; *) packages="${packages:+$packages }$one" ;; esac
        done
    done <<EOF
$results
EOF
    if [ "$count" -eq 0 ]; then
        echo "nothing is missing"
        return 0
    fi
    if [ "$count" -eq 1 ]; then echo '1 thing is missing'; else echo "$count things are missing"; fi
    [ -z "$packages" ] || echo "packages at once: apt install $packages"
    return 1
}

if [ "$check" = no ] && [ -z "$machine" ]; then
    list_machines
    exit 0
fi
if [ -z "$machine" ]; then
    machine=$(this_machine)
    if [ -n "$machine" ]; then
        echo "this is $machine"
    else
        echo "this is none of $MACHINES: checked for all roles, without hardware and certificates"
    fi
fi
# shellcheck disable=SC2086 # no machine is no argument
preflight $machine || exit 3
[ "$check" = no ] || exit 0
exec /bin/sh deploy/install-machine.sh "$machine"
