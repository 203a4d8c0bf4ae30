#!/bin/sh
# Builds and installs what one machine runs; install.sh has checked that it can. As root, at the top of the bundle.
#   sh deploy/install-machine.sh MACHINE
# Puts programs below $PREFIX, configurations into $ETC and units into systemd. Starts and stops nothing, but says what
# has to be: `changed FILE` for each file that is another one now, `restart UNIT` for each unit that it is of, and
# `configure` if the config of the NF is another one, which the controller puts in force without a restart. What has to
# be is noted in $PREFIX/pending until it is done: a unit's start and the playbook take it away.
set -eu
. deploy/bundle.conf
. "deploy/machines/$1.conf"
pending=$PREFIX/pending

if [ "$(id -u)" -ne 0 ]; then
    echo 'error: installing needs root' >&2
    exit 3
fi

# Copies a file if it is another one there; what is PENDING has to be done then.
put() { # FROM TO MODE PENDING
    if ! cmp -s "$1" "$2"; then
        install -D -m "$3" "$1" "$2.new"
        mv -f "$2.new" "$2"
        echo "changed $2"
        [ -z "$4" ] || : >"$pending/$4"
    fi
}

build() { # PROJECT TARGET INSTALLED-AS UNIT
    generator=
    if command -v ninja >/dev/null 2>&1; then generator='-G Ninja'; fi
    compiler=g++
    if command -v clang++ >/dev/null 2>&1; then compiler=clang++; fi
    work=$PREFIX/build/$1
    # The manifest tells what it is made of. Times of files do not: those of a newer bundle may be older.
    grep -e '"runtime/' -e "\"$1/" manifest.json | grep -v -e '\.json"' -e '\.bin"' -e '\.service"' >"$PREFIX/build/inputs"
    if ! cmp -s "$PREFIX/build/inputs" "$work/inputs"; then rm -rf "$work"; fi
    # shellcheck disable=SC2086 # two words, or none
    if ! { cmake -S "$1" -B "$work" $generator -DCMAKE_CXX_COMPILER="$compiler" &&
        cmake --build "$work" --target "$2"; } >"$PREFIX/build/log" 2>&1; then
        echo "error: $1 does not build; the end of $PREFIX/build/log:" >&2
        tail -n 20 "$PREFIX/build/log" >&2
        exit 3
    fi
    mv -f "$PREFIX/build/inputs" "$work/inputs"
    put "$work/$2" "$PREFIX/bin/$3" 755 "$4"
}

if ! id "$ACCOUNT" >/dev/null 2>&1; then
    useradd --system --user-group --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin "$ACCOUNT"
fi
install -d "$PREFIX/bin" "$PREFIX/build" "$pending" "$ETC"
install -d -o "$ACCOUNT" -g "$ACCOUNT" -m 700 "$STATE"
# Parts are this account once they run, and read their keys again when there are new certificates.
for part in $CERTIFICATES; do
    [ ! -e "$TLS/$part.key" ] || chown "$ACCOUNT" "$TLS/$part.key"
done

case $ROLE in
    switch)
        unit=polysome-switch.service
        if [ "$SOFT_SWITCH" = yes ]; then
            build switch/soft "${PROGRAM}_switch" "${PROGRAM}_switch" "$unit"
            put switch/soft.json "$ETC/soft.json" 644 "$unit"
        else
            [ -n "${SDE:-}" ] || . "$ETC/sde.env"
            SDE_INSTALL=${SDE_INSTALL:-$SDE/install}
            export SDE SDE_INSTALL
            printf 'SDE=%s\nSDE_INSTALL=%s\nLD_LIBRARY_PATH=%s/lib\n' "$SDE" "$SDE_INSTALL" "$SDE_INSTALL" >"$PREFIX/build/sde.env"
            put "$PREFIX/build/sde.env" "$ETC/sde.env" 644 "$unit"
            # The SDE installs the program; the copy says which one that is.
            if ! cmp -s "switch/$PROGRAM.p4" "$PREFIX/lib/$PROGRAM.p4"; then
                if ! switch/build-sde.sh >"$PREFIX/build/log" 2>&1; then
                    echo "error: the switch's program does not build; the end of $PREFIX/build/log:" >&2
                    tail -n 20 "$PREFIX/build/log" >&2
                    exit 3
                fi
            fi
            put "switch/$PROGRAM.p4" "$PREFIX/lib/$PROGRAM.p4" 644 "$unit"
        fi
        put switch/polysome-switch.service "$UNIT_FOLDER/$unit" 644 "$unit"
        unit=polysome-controller.service
        python=$PREFIX/venv/bin/python3
        [ -x "$python" ] || python=$(command -v python3)
        for file in switch/controller/*/*.py switch/controller/polysome_protocol/protocol.toml; do
            put "$file" "$PREFIX/lib/${file#switch/controller/}" 644 "$unit"
        done
        path=$PREFIX/lib
        if [ "$SOFT_SWITCH" = no ]; then # the SDE's own client
            for client in "$SDE_INSTALL"/lib/python3*/site-packages/tofino; do
                path=$path:$client:$client/bfrt_grpc
            done
        fi
        for program in controller operate; do
            module=polysome_controller
            [ "$program" = controller ] || module=$module.$program
            # shellcheck disable=SC2016 # "$@" is for the script that is written
            printf '#!/bin/sh\nPYTHONPATH=%s exec %s -m %s "$@"\n' "$path" "$python" "$module" >"$PREFIX/build/python"
            put "$PREFIX/build/python" "$PREFIX/bin/polysome-$program" 755 "$unit"
        done
        put switch/controller.json "$ETC/controller.json" 644 "$unit"
        put switch/polysome-controller.service "$UNIT_FOLDER/$unit" 644 "$unit"
        put nf/config.bin "$ETC/config.bin" 644 configure
        ;;
    rdma)
        unit=polysome-agent.service
        build rdma/agent polysome-agent polysome-agent "$unit"
        put "rdma/$1.json" "$ETC/agent.json" 644 "$unit"
        put rdma/polysome-agent.service "$UNIT_FOLDER/$unit" 644 "$unit"
        ;;
    nf)
        unit=polysome-nf.service
        build nf "${PROGRAM}_fields_$NF_HOST" polysome-nf "$unit"
        put "nf/$1.json" "$ETC/nf.json" 644 "$unit"
        put nf/polysome-nf.service "$UNIT_FOLDER/$unit" 644 "$unit"
        # The controller tells the NF of a new one; this is for a start without any.
        put nf/config.bin "$ETC/config.bin" 644 ''
        put nf/samples.json "$ETC/samples.json" 644 ''
        ;;
esac
for path in "$pending"/*; do
    case $path in
        */configure) echo configure ;;
        *.service) echo "restart ${path##*/}" ;;
    esac
done
if command -v systemctl >/dev/null 2>&1; then systemctl daemon-reload 2>/dev/null || :; fi
echo "installed $1; next: systemctl enable --now $UNITS"
