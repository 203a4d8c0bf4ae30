#!/bin/sh
# Makes the certificates of a deployment with openssl: an authority of its own, and for each part a key and a certificate
# with the part's name, by which the parts know each other.
#   certificates.sh [--add] FOLDER
# Writes authority.pem, authority.key and NAME.pem, NAME.key for every machine, `controller` and `operator`. Nothing is
# overwritten: what is there already is an error, or with --add is kept, and only what is missing is made. The keys are
# readable for you alone; authority.key belongs on no machine of the deployment.
set -eu
umask 077

here=${0%/*}
. "$here/bundle.conf"
days=3650
add=no
if [ "${1:-}" = --add ]; then
    add=yes
    shift
fi
if [ $# -ne 1 ] || [ -z "${1#-*}" ]; then
    echo "usage: ${0##*/} [--add] FOLDER" >&2
    exit 2
fi
folder=$1
if ! command -v openssl >/dev/null 2>&1; then
    echo 'error: openssl is not there' >&2
    echo '  mend: apt install openssl' >&2
    exit 3
fi

names="controller operator $MACHINES"
if [ "$add" = no ]; then
    for name in authority $names; do
        for file in "$folder/$name.pem" "$folder/$name.key"; do
            if [ -e "$file" ]; then
                echo "error: $file exists, and nothing is overwritten" >&2
                echo "  mend: name another folder, or add what is missing: ${0##*/} --add $folder" >&2
                exit 2
            fi
        done
    done
else
    for name in authority $names; do
        for pair in pem:key key:pem; do
            if [ -e "$folder/$name.${pair%:*}" ] && [ ! -e "$folder/$name.${pair#*:}" ]; then
                echo "error: $folder has $name.${pair%:*} but not $name.${pair#*:}, and nothing is overwritten" >&2
                echo "  mend: bring it back, or remove $name.${pair%:*}" >&2
                exit 2
            fi
        done
    done
fi
mkdir -p "$folder"
work=$(mktemp -d "$folder/.making.XXXXXX")
trap 'rm -rf "$work"' EXIT

key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }

# The certificate comes last: whoever has it has a key, too.
if [ ! -e "$folder/authority.pem" ]; then
    key "$work/authority.key"
    openssl req -x509 -new -sha256 -key "$work/authority.key" -days "$days" -subj "/O=polysome $NF/CN=authority" \
        -addext basicConstraints=critical,CA:TRUE,pathlen:0 -addext keyUsage=critical,keyCertSign,cRLSign \
        -out "$work/authority.pem"
    mv "$work/authority.key" "$work/authority.pem" "$folder"
fi
for name in $names; do
    if [ -e "$folder/$name.pem" ]; then
        continue
    fi
    key "$work/$name.key"
    openssl req -new -sha256 -key "$work/$name.key" -subj "/O=polysome $NF/CN=$name" -out "$work/$name.csr"
    printf '%s\n' 'basicConstraints=critical,CA:FALSE' 'keyUsage=critical,digitalSignature' \
        'extendedKeyUsage=serverAuth,clientAuth' "subjectAltName=DNS:$name" >"$work/extensions"
    openssl x509 -req -sha256 -in "$work/$name.csr" -CA "$folder/authority.pem" -CAkey "$folder/authority.key" \
        -set_serial "0x$(openssl rand -hex 16)" -days "$days" -extfile "$work/extensions" -out "$work/$name.pem" 2>/dev/null
    mv "$work/$name.key" "$work/$name.pem" "$folder"
    made="${made:+$made }$name"
done
chmod 644 "$folder"/*.pem
echo "certificates in $folder: ${made:-nothing was missing}"
