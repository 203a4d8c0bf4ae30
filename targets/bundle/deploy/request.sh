#!/bin/sh
# Makes, on the machine of a deployment's parts, the key of each and a request for its certificate, which certificates.sh
# signs where the authority is. Keys stay on this machine.
#   request.sh FOLDER NAME...
# Writes NAME.key, readable for its owner alone, and NAME.csr. A key that is there stays, unless FOLDER/revoked.pem says
# that its certificate NAME.pem is revoked: then there is a new one.
set -eu
umask 077

case ${2:+$1} in
    '' | -*)
        echo "usage: ${0##*/} FOLDER NAME..." >&2
        exit 2
        ;;
esac
folder=$1
shift
ACCOUNT=
here=${0%/*}
if [ -r "$here/bundle.conf" ]; then . "$here/bundle.conf"; fi
if ! command -v openssl >/dev/null 2>&1; then
    echo 'error: openssl is not there' >&2
    echo '  mend: apt install openssl' >&2
    exit 3
fi
[ -d "$folder" ] || install -d -m 755 "$folder"
work=$(mktemp -d "$folder/.making.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Neither times nor whether the list is the newest matter here.
revoked() {
    [ -r "$folder/$1.pem" ] || return 1
    [ -r "$folder/revoked.pem" ] || return 1
    said=$(openssl verify -no_check_time -crl_check -CAfile "$folder/authority.pem" -CRLfile "$folder/revoked.pem" \
        "$folder/$1.pem" 2>&1) || :
    case $said in *'certificate revoked'*) return 0 ;; esac
    return 1
}

requested() {
    [ -r "$folder/$1.csr" ] && [ "$(openssl req -in "$folder/$1.csr" -noout -pubkey 2>/dev/null)" = \
        "$(openssl pkey -in "$folder/$1.key" -pubout 2>/dev/null)" ]
}

made=
for name in "$@"; do
    if [ ! -e "$folder/$name.key" ] || revoked "$name"; then
        openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/$name.key" 2>/dev/null
        # Of the user that the part becomes, who reads it again when there is a new certificate.
        if [ -e "$folder/$name.key" ]; then
            chown --reference="$folder/$name.key" "$work/$name.key"
        elif [ "$(id -u)" -eq 0 ] && id "$ACCOUNT" >/dev/null 2>&1; then
            chown "$ACCOUNT" "$work/$name.key"
        fi
        mv -f "$work/$name.key" "$folder"
    elif requested "$name"; then
        continue
    fi
    openssl req -new -sha256 -key "$folder/$name.key" -subj "/CN=$name" -out "$work/$name.csr"
    chmod 644 "$work/$name.csr"
    mv -f "$work/$name.csr" "$folder"
    made="${made:+$made }$name"
done
echo "requests in $folder: ${made:-nothing was missing}"
