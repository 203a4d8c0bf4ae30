#!/bin/sh
# The authority of a deployment, where its operator is: it signs the certificates by which the parts know each other, and
# the list of those that are revoked. openssl does the work.
#   certificates.sh renew FOLDER [--all | NAME...]
#   certificates.sh revoke FOLDER NAME
# renew: signs each request NAME.csr (of request.sh, on the part's machine) that has no certificate yet, or one that ends
# within 30 days; with --all all of them, with names those. It makes what is missing of the authority (authority.pem,
# authority.key), of its list (revoked.pem) and of the operator's own (operator.key, operator.pem), too.
# revoke: puts all certificates of a name's key on the list; whoever has the new list refuses them, and the next ones need
# a new key.
#
# A certificate has its name as common name, and as DNS names NAME, NAME.g0, ..., NAME.gN: N counts how often the name was
# revoked before. Whoever knows of M revocations demands NAME.gM. N stands in the serial number, too: 01, the first 9
# bytes of the name's SHA-256, N in 2 bytes, 8 random bytes; so the list tells M, and entries stay in it for good.
#
# authority.key belongs on no machine of the deployment. issued/ keeps what was signed.
set -eu
umask 077

days=90            # that a certificate, and the list, are valid
authority_days=3650
before=30          # days before the end that there is a new one

here=${0%/*}
usage() {
    echo "usage: ${0##*/} renew FOLDER [--all | NAME...]" >&2
    echo "       ${0##*/} revoke FOLDER NAME" >&2
    exit 2
}
complain() { # WHAT HOW-TO-MEND
    echo "error: $1" >&2
    echo "  mend: $2" >&2
}
error() { # WHAT HOW-TO-MEND CODE
    complain "$1" "$2"
    exit "$3"
}
[ $# -ge 2 ] || usage
case $2 in '' | -*) usage ;; esac
command=$1 folder=$2
shift 2
command -v openssl >/dev/null 2>&1 || error 'openssl is not there' 'apt install openssl' 3

is_name() { case $1 in '' | *[!a-z0-9-]* | -*) return 1 ;; esac }
soon() { ! openssl x509 -in "$1" -noout -checkend $((before * 86400)) >/dev/null 2>&1; }
key_of() { openssl "$1" -in "$2" -noout -pubkey 2>/dev/null || echo "none in $2"; }

# The first 20 digits of the serial numbers of a name's certificates.
tag() { printf '01%s' "$(printf %s "$1" | openssl dgst -sha256 -r | cut -c 1-18)" | tr a-f A-F; }

# How often the name was revoked.
generation() { # NAME
    found=0 own=$(tag "$1")
    if [ -e "$folder/revoked.index" ]; then
        while read -r _ _ _ serial _; do
            case $serial in "$own"*) ;; *) continue ;; esac
            digits=${serial#"$own"}
            number=$((0x${digits%"${digits#????}"} + 1))
            [ "$number" -le "$found" ] || found=$number
        done <"$folder/revoked.index"
    fi
    echo "$found"
}

# Two runs at once might each sign what the other does not know of.
alone() {
    if command -v flock >/dev/null 2>&1; then
        exec 9<"$folder"
        flock 9
    fi
    work=$(mktemp -d "$folder/.making.XXXXXX")
}

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }

authority() {
    if [ -e "$folder/authority.pem" ] && [ ! -e "$folder/authority.key" ]; then
        error "$folder has authority.pem but not authority.key, and nothing can be signed" \
            'bring it back, or begin with an empty folder, all certificates anew' 2
    fi
    if [ ! -e "$folder/authority.pem" ]; then
        [ ! -e "$folder/authority.key" ] || error "$folder has authority.key but not authority.pem" \
            'bring it back, or begin with an empty folder, all certificates anew' 2
        [ -r "$here/bundle.conf" ] || error "there is no authority in $folder" \
            'name the folder of the deployment, or make one: deploy/certificates.sh of its bundle' 2
        . "$here/bundle.conf"
        new_key "$work/authority.key"
        subject="/O=polysome $NF/CN=authority"
        key=$work/authority.key
    elif soon "$folder/authority.pem"; then # the key stays, so all certificates stay valid
        subject=$(openssl x509 -in "$folder/authority.pem" -noout -subject -nameopt compat | sed 's/^subject= *//')
        key=$folder/authority.key
    else
        return 0
    fi
    openssl req -x509 -new -sha256 -key "$key" -days "$authority_days" -subj "$subject" \
        -addext basicConstraints=critical,CA:TRUE,pathlen:0 -addext keyUsage=critical,keyCertSign,cRLSign \
        -out "$work/authority.pem"
    chmod 644 "$work/authority.pem"
    [ "$key" = "$folder/authority.key" ] || mv "$work/authority.key" "$folder"
    mv "$work/authority.pem" "$folder"
    made="${made:+$made }authority"
}

# Signs the list of what $work/revoked.index has.
sign_list() {
    printf '%s\n' '[ca]' 'default_ca = own' '[own]' "database = revoked.index" 'crlnumber = revoked.number' \
        'default_md = sha256' 'crl_extensions = own_list' 'unique_subject = no' '[own_list]' \
        'authorityKeyIdentifier = keyid' >"$work/list.conf"
    [ -e "$work/revoked.number" ] || echo 01 >"$work/revoked.number"
    cp "$folder/authority.pem" "$folder/authority.key" "$work"
    (
        cd "$work"
        for one in $1; do
            openssl ca -batch -config list.conf -cert authority.pem -keyfile authority.key -revoke "$one" 2>>said || exit 1
        done
        openssl ca -batch -config list.conf -cert authority.pem -keyfile authority.key -gencrl -crldays "$days" \
            -out revoked.pem 2>>said
    ) || error "the list of revoked certificates cannot be signed: $(tail -n 1 "$work/said")" "look at $folder" 3
    chmod 644 "$work/revoked.pem"
    # What it follows from comes first: a run that ends in between leaves an older list, which is signed again.
    mv "$work/revoked.number" "$work/revoked.index" "$folder"
    mv "$work/revoked.pem" "$folder"
}

list() {
    if [ -e "$folder/revoked.pem" ] && [ ! -e "$folder/revoked.index" ]; then
        error "$folder has revoked.pem but not revoked.index, from which it follows" 'bring it back' 2
    fi
    [ -e "$folder/revoked.index" ] || : >"$folder/revoked.index"
    if [ -e "$folder/revoked.pem" ] && [ -z "$(find "$folder/revoked.index" -newer "$folder/revoked.pem")" ] &&
        [ -z "$(find "$folder/revoked.pem" -mtime +$((days - before - 1)))" ]; then
        return 0
    fi
    copy_list
    sign_list ''
    made="${made:+$made }list"
}
copy_list() { for file in index number; do [ ! -e "$folder/revoked.$file" ] || cp "$folder/revoked.$file" "$work"; done; }

operators_request() {
    [ -e "$folder/operator.key" ] || { new_key "$work/operator.key" && mv "$work/operator.key" "$folder"; }
    if [ ! -e "$folder/operator.csr" ]; then
        openssl req -new -sha256 -key "$folder/operator.key" -subj /CN=operator -out "$work/operator.csr"
        mv "$work/operator.csr" "$folder"
    fi
}

# Is there something to do for the request of $1?
due() {
    [ -e "$folder/$1.pem" ] || return 0
    [ "$(key_of x509 "$folder/$1.pem")" = "$(key_of req "$folder/$1.csr")" ] || return 0
    openssl verify -no_check_time -CAfile "$folder/authority.pem" -verify_hostname "$1.g$(generation "$1")" \
        "$folder/$1.pem" >/dev/null 2>&1 || return 0
    soon "$folder/$1.pem"
}

# False, said, if it cannot be: that of another name may.
sign() { # NAME
    csr=$folder/$1.csr
    said=$(openssl req -in "$csr" -noout -verify -subject -nameopt RFC2253 2>/dev/null) || said=
    if [ "$said" != "subject=CN=$1" ]; then
        complain "$csr is no request for the name $1" "make it with request.sh on the machine of $1"
        return 1
    fi
    number=0 now=$(generation "$1") names="DNS:$1"
    while [ "$number" -lt "$now" ]; do
        for old in "$folder/issued/$1.g$number".*; do
            [ -e "$old" ] || continue
            [ "$(key_of x509 "$old")" = "$(key_of req "$csr")" ] || continue
            complain "the key of $1 was revoked, and $csr is of the same" \
                "copy $folder/revoked.pem to the machine of $1 and call request.sh there, which makes a new key"
            return 1
        done
        names="$names,DNS:$1.g$number" number=$((number + 1))
    done
    printf '%s\n' 'basicConstraints=critical,CA:FALSE' 'keyUsage=critical,digitalSignature' \
        'extendedKeyUsage=serverAuth,clientAuth' 'authorityKeyIdentifier=keyid' \
        "subjectAltName=$names,DNS:$1.g$now" >"$work/extensions"
    serial=$(tag "$1")$(printf %04X "$now")$(openssl rand -hex 8 | tr a-f A-F)
    # It is kept before anybody can have it: what is not in issued/ cannot be revoked.
    if ! { openssl x509 -req -sha256 -in "$csr" -CA "$folder/authority.pem" -CAkey "$folder/authority.key" \
        -set_serial "0x$serial" -days "$days" -extfile "$work/extensions" -out "$work/$1.pem" 2>"$work/said" &&
        chmod 644 "$work/$1.pem" && mkdir -p "$folder/issued" &&
        cp "$work/$1.pem" "$folder/issued/$1.g$now.$serial.pem" && mv "$work/$1.pem" "$folder"; }; then
        complain "the certificate of $1 cannot be signed: $(tail -n 1 "$work/said")" "look at $folder"
        return 1
    fi
    made="${made:+$made }$1"
}

renew() {
    all=no code=0
    if [ "${1:-}" = --all ]; then
        all=yes
        shift
        [ $# -eq 0 ] || usage
    fi
    for name in "$@"; do is_name "$name" || usage; done
    mkdir -p "$folder"
    alone
    authority
    list
    operators_request
    for name in "$@"; do
        [ -e "$folder/$name.csr" ] || error "there is no request of $name in $folder" \
            "copy $name.csr there, which request.sh makes on the machine of $name" 2
        sign "$name" || code=2
    done
    if [ $# -eq 0 ]; then
        for csr in "$folder"/*.csr; do
            name=${csr##*/} name=${name%.csr}
            if ! is_name "$name" || [ "$name" = authority ]; then continue; fi
            if [ "$all" = yes ] || due "$name"; then sign "$name" || code=2; fi
        done
    fi
    echo "certificates in $folder: ${made:-nothing was due}"
    for one in "$folder"/*.pem; do
        name=${one##*/} name=${name%.pem}
        case $name in authority | revoked) continue ;; esac
        [ -e "$folder/$name.csr" ] || echo "$name is not signed anew, as there is no request of it: request.sh on its machine makes one"
    done
    return "$code"
}

revoke() {
    [ $# -eq 1 ] || usage
    is_name "$1" || usage
    [ "$1" != authority ] || error 'an authority does not revoke itself' 'begin with an empty folder, all certificates anew' 2
    [ -e "$folder/authority.key" ] || error "there is no authority in $folder" 'name the folder of the deployment' 2
    alone
    now=$(generation "$1") count=0 which=
    for one in "$folder/issued/$1.g$now".*; do
        [ -e "$one" ] || continue
        cp "$one" "$work/$count.cer"
        which="$which $count.cer" count=$((count + 1))
    done
    [ "$count" -gt 0 ] || error "$1 has no certificate that could be revoked" \
        "name one that has: $(names_of_issued)" 2
    [ -e "$folder/revoked.index" ] || : >"$folder/revoked.index"
    copy_list
    sign_list "$which"
    rm -f "$folder/$1.csr"
    [ "$1" != operator ] || rm -f "$folder/operator.key"
    echo "$1 is revoked ($count of its certificates) for all who have this list: $folder/revoked.pem"
}
names_of_issued() {
    for one in "$folder"/issued/*; do
        one=${one##*/}
        [ "$one" = '*' ] || echo "${one%%.*}"
    done | sort -u | tr '\n' ' ' | sed 's/ $//'
}

made=
work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
case $command in
    renew) renew "$@" ;;
    revoke) revoke "$@" ;;
    *) usage ;;
esac
