/// The authority's list of revoked certificates (X.509 CRL), and certificates, as OpenSSL reads them.
///
/// What a serial number says is written down in deploy/certificates.sh of a bundle, which makes both.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace polysome::control {

namespace detail {

template <auto release>
struct Release {
    template <class T>
    void operator()(T* thing) const {
        release(thing);
    }
};

template <auto read, class T, auto release>
std::unique_ptr<T, Release<release>> from_pem(const std::string& text) {
    const std::unique_ptr<BIO, Release<BIO_free>> memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    return std::unique_ptr<T, Release<release>>(read(memory.get(), nullptr, nullptr, nullptr));
}

}  // namespace detail

using Certificate = std::unique_ptr<X509, detail::Release<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, detail::Release<EVP_PKEY_free>>;

/// Each is null for a text that is none.
inline Certificate certificate_of(const std::string& pem) {
    return detail::from_pem<PEM_read_bio_X509, X509, X509_free>(pem);
}
inline Key key_of(const std::string& pem) {
    return detail::from_pem<PEM_read_bio_PrivateKey, EVP_PKEY, EVP_PKEY_free>(pem);
}

/// Did the authority sign it?
inline bool is_signed(X509& certificate, X509& authority) {
    return X509_check_issued(&authority, &certificate) == X509_V_OK &&
           X509_verify(&certificate, X509_get0_pubkey(&authority)) == 1;
}

/// Seconds since the epoch of UNIX; 0 for what is no time.
inline int64_t seconds_of(const ASN1_TIME* time) {
    std::tm parts{};
    return time != nullptr && ASN1_TIME_to_tm(time, &parts) == 1 ? static_cast<int64_t>(timegm(&parts)) : 0;
}

/// "2027-02-24", in UTC.
inline std::string day_of(int64_t seconds) {
    const auto time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    std::array<char, 32> text{};
    gmtime_r(&time, &parts);
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts)};
}

inline std::string serial_of(const X509& certificate) {
    const ASN1_INTEGER* const number = X509_get0_serialNumber(&certificate);
    std::string text;
    for (int i = 0; i < ASN1_STRING_length(number); ++i) {
        constexpr char digits[] = "0123456789ABCDEF";
        const unsigned char byte = ASN1_STRING_get0_data(number)[i];
        text += {digits[byte >> 4], digits[byte & 15]};
    }
    return text;
}

/// How often each name was revoked.
class Revoked {
  public:
    /// Nothing if the text is no list that the authority signed.
    static std::optional<Revoked> read(const std::string& pem, X509& authority) {
        const auto list = detail::from_pem<PEM_read_bio_X509_CRL, X509_CRL, X509_CRL_free>(pem);
        if (list == nullptr || X509_CRL_verify(list.get(), X509_get0_pubkey(&authority)) != 1) return {};
        Revoked found;
        STACK_OF(X509_REVOKED)* const entries = X509_CRL_get_REVOKED(list.get());
        for (int i = 0; i < sk_X509_REVOKED_num(entries); ++i) {
            found.add(X509_REVOKED_get0_serialNumber(sk_X509_REVOKED_value(entries, i)));
        }
        const std::unique_ptr<ASN1_INTEGER, detail::Release<ASN1_INTEGER_free>> number(
            static_cast<ASN1_INTEGER*>(X509_CRL_get_ext_d2i(list.get(), NID_crl_number, nullptr, nullptr)));
        if (number == nullptr || ASN1_INTEGER_get_uint64(&found.number_, number.get()) != 1) return {};
        found.due_ = seconds_of(X509_CRL_get0_nextUpdate(list.get()));
        return found;
    }

    /// Each list of an authority has a higher number than those before.
    uint64_t number() const { return number_; }

    /// When there should be a new list, in seconds since the epoch of UNIX.
    int64_t due() const { return due_; }

    /// The DNS name that a certificate of `name` must have beside it.
    std::string demanded(const std::string& name) const {
        const auto found = generations_.find(tag(name));
        return name + ".g" + std::to_string(found == generations_.end() ? 0 : found->second);
    }

  private:
    static constexpr size_t serial = 20;
    using Tag = std::array<unsigned char, 9>;

    static Tag tag(const std::string& name) {
        std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
        SHA256(reinterpret_cast<const unsigned char*>(name.data()), name.size(), digest.data());
        Tag first;
        std::copy_n(digest.begin(), first.size(), first.begin());
        return first;
    }

    void add(const ASN1_INTEGER* number) {
        const unsigned char* const bytes = ASN1_STRING_get0_data(number);
        if (ASN1_STRING_length(number) != serial || bytes[0] != 1) return;  // none that certificates.sh gives
        Tag name;
        std::copy_n(bytes + 1, name.size(), name.begin());
        const uint32_t times = (uint32_t{bytes[10]} << 8 | bytes[11]) + 1;
        generations_[name] = std::max(generations_[name], times);
    }

    std::map<Tag, uint32_t> generations_;
    uint64_t number_ = 0;
    int64_t due_ = 0;
};

}  // namespace polysome::control
