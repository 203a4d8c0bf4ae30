#!/bin/sh
# The certificates of a machine's parts: there, from this deployment's authority, for the right name. See common.sh.
. "${0%/*}/common.sh"
if ! have openssl; then
    missing openssl openssl ''
    exit 0
fi
ok openssl
[ -n "${CERTIFICATES:-}" ] || exit 0

month=2592000 # seconds
how="the playbook does it, with --tags certificates; by hand: deploy/request.sh here, deploy/certificates.sh renew where the authority is"
for part in $CERTIFICATES; do
    absent=
    for file in authority.pem revoked.pem "$part.pem" "$part.key"; do
        [ -r "$TLS/$file" ] || absent="$absent $TLS/$file"
    done
    if [ -n "$absent" ]; then
        missing "certificate of $part:$absent" '' "$how"
        continue
    fi
    # Whether the list is the newest its part says, too, and serves on.
    revoked=$(openssl verify -no_check_time -crl_check -CAfile "$TLS/authority.pem" -CRLfile "$TLS/revoked.pem" "$TLS/$part.pem" 2>&1)
    valid=$?
    case $revoked in
        *'certificate revoked'*)
            missing "a certificate of $part that is not revoked" '' "$how"
            continue
            ;;
    esac
    if [ "$valid" -ne 0 ] || ! openssl verify -CAfile "$TLS/authority.pem" -verify_hostname "$part.g0" "$TLS/$part.pem" >/dev/null 2>&1; then
        missing "a valid certificate of $part: $TLS/$part.pem is another's, or out of date, or $TLS/revoked.pem is no list of its authority" '' "$how"
    elif [ "$(openssl x509 -in "$TLS/$part.pem" -noout -pubkey)" != "$(openssl pkey -in "$TLS/$part.key" -pubout 2>/dev/null)" ]; then
        missing "the key of $part: $TLS/$part.key does not belong to $part.pem" '' "$how"
    elif ! openssl x509 -in "$TLS/$part.pem" -noout -checkend "$month" >/dev/null; then
        warning "the certificate of $part ends within 30 days" '' "$how"
    else
        ok "certificate of $part"
    fi
done
exit 0
