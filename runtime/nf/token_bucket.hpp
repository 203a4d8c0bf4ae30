/// `token_bucket`: a value and functions on it (STATE.md, section 4).
///
/// `n` and `burst` are bytes or packets, `rate` is per second: bits or packets, which is tokens per ns. `scale` is the
/// tokens of a byte or a packet. All may differ from call to call. Nothing is rounded. Everything is O(1).
///
/// The committed bucket of RFC 2697, section 3, in exact arithmetic.
#pragma once

#include <algorithm>

#include "nf/types.hpp"

namespace polysome {

inline constexpr uint64_t tokens_per_byte = 8'000'000'000;
inline constexpr uint64_t tokens_per_packet = 1'000'000'000;

/// Is `wanted` in the bucket at `now`? `left` is then what remains, else what is missing (S4.2).
struct BucketLook {
    bool enough;
    u128 left;
};

/// Of any numbers.
[[gnu::noinline]] inline BucketLook bucket_look_wide(const Bucket& bucket, uint64_t now, u128 wanted, uint64_t rate,
                                                     u128 most) {
    if (now < bucket.last) {  // someone took in advance: the bucket was emptier by what has not flowed in yet
        const u128 ahead = static_cast<u128>(bucket.last - now) * rate;
        if (bucket.tokens < ahead) return {false, wanted + (ahead - bucket.tokens)};
        const u128 tokens = std::min(most, bucket.tokens - ahead);
        return tokens >= wanted ? BucketLook{true, tokens - wanted} : BucketLook{false, wanted - tokens};
    }
    u128 tokens = bucket.tokens + static_cast<u128>(now - bucket.last) * rate;
    if (tokens < bucket.tokens) tokens = ~u128{0};
    tokens = std::min(most, tokens);
    return tokens >= wanted ? BucketLook{true, tokens - wanted} : BucketLook{false, wanted - tokens};
}

/// Calls `use(enough, left)`, as `bucket_look` says. For what nearly always holds, that everything is below 2^64 and
/// nothing was taken in advance, `left` has 64 bits, so that all is in registers.
template <class Use>
[[gnu::always_inline]] inline auto with_bucket_look(const Bucket& bucket, uint64_t now, u128 wanted, uint64_t rate,
                                                    u128 most, Use use) {
    if (now >= bucket.last && (bucket.tokens | most | wanted) >> 64 == 0) [[likely]] {
        const auto held = static_cast<uint64_t>(bucket.tokens), limit = static_cast<uint64_t>(most),
                   asked = static_cast<uint64_t>(wanted);
        uint64_t more, sum;
        const bool much = __builtin_mul_overflow(now - bucket.last, rate, &more);
        const bool over = __builtin_add_overflow(held, more, &sum) || much;
        const uint64_t tokens = over ? limit : std::min(limit, sum);
        return use(tokens >= asked, tokens >= asked ? tokens - asked : asked - tokens);
    }
    const BucketLook look = bucket_look_wide(bucket, now, wanted, rate, most);
    return use(look.enough, look.left);
}
inline BucketLook bucket_look(const Bucket& bucket, uint64_t now, u128 wanted, uint64_t rate, u128 most) {
    return with_bucket_look(bucket, now, wanted, rate, most,
                            [](bool enough, auto left) { return BucketLook{enough, left}; });
}

/// Are there `n`? Changes nothing.
inline bool bucket_has(const Bucket& bucket, uint64_t now, uint64_t n, uint64_t rate, uint64_t burst, uint64_t scale) {
    return with_bucket_look(bucket, now, static_cast<u128>(n) * scale, rate, static_cast<u128>(burst) * scale,
                            [](bool enough, auto) { return enough; });
}

/// Takes `n` if they are there. If not, the bucket stays exactly as it was.
inline bool bucket_take(Bucket& bucket, uint64_t now, uint64_t n, uint64_t rate, uint64_t burst, uint64_t scale) {
    return with_bucket_look(bucket, now, static_cast<u128>(n) * scale, rate, static_cast<u128>(burst) * scale,
                            [&](bool enough, auto left) {
                                if (enough) bucket = {.tokens = left, .last = now};
                                return enough;
                            });
}

/// The first ns, not before `now` and the bucket's own time, at which it has `n`; NEVER if there is none below 2^64
/// (S4.9).
inline uint64_t ready_at(const Bucket& bucket, uint64_t now, uint64_t n, uint64_t rate, uint64_t burst,
                         uint64_t scale) {
    const uint64_t start = std::max(now, bucket.last);
    const auto look = bucket_look(bucket, start, static_cast<u128>(n) * scale, rate, static_cast<u128>(burst) * scale);
    if (look.enough) return start;
    if (n > burst || rate == 0) return NEVER;
    const u128 at = start + (look.left / rate + (look.left % rate != 0));
    return at < NEVER ? static_cast<uint64_t>(at) : NEVER;
}

/// Whole bytes or packets in it, rounded down, for display (S4.8).
inline uint64_t bucket_fill(const Bucket& bucket, uint64_t now, uint64_t rate, uint64_t burst, uint64_t scale) {
    const auto look = bucket_look(bucket, now, 0, rate, static_cast<u128>(burst) * scale);
    return look.enough ? static_cast<uint64_t>(look.left / scale) : 0;
}

}  // namespace polysome
