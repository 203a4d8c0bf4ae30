/// Values as the language writes them, for people who ask why (LANGUAGE.md section 3): the same texts as `polysome
/// test`.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "nf/types.hpp"

namespace polysome::text {

inline std::string decimal(u128 value) {
    std::string digits;
    do {
        digits += static_cast<char>('0' + static_cast<int>(value % 10));
        value /= 10;
    } while (value != 0);
    return {digits.rbegin(), digits.rend()};
}

inline std::string hexadecimal(u128 value) {
    std::string digits;
    do {
        digits += "0123456789abcdef"[static_cast<int>(value & 15)];
        value >>= 4;
    } while (value != 0);
    return {digits.rbegin(), digits.rend()};
}

/// A number of which the type says no more: large ones are hexadecimal.
inline std::string number(u128 value) { return value >> 32 == 0 ? decimal(value) : "0x" + hexadecimal(value); }

inline std::string boolean(bool value) { return value ? "true" : "false"; }

inline std::string ipv4(uint32_t value) {
    return decimal(value >> 24) + "." + decimal(value >> 16 & 255) + "." + decimal(value >> 8 & 255) + "." +
           decimal(value & 255);
}

inline std::string mac(uint64_t value) {
    std::string found;
    for (int shift = 40; shift >= 0; shift -= 8) {
        found += "0123456789abcdef"[value >> (shift + 4) & 15];
        found += "0123456789abcdef"[value >> shift & 15];
        if (shift != 0) found += ':';
    }
    return found;
}

/// RFC 5952; IPv4-mapped ones with dots.
inline std::string ipv6(u128 value) {
    if (value >> 32 == 0xffff) return "::ffff:" + ipv4(static_cast<uint32_t>(value));
    std::array<uint16_t, 8> groups;
    for (size_t i = 0; i < 8; ++i) groups[i] = static_cast<uint16_t>(value >> (112 - 16 * i));
    size_t zeros = 8, most = 1;
    for (size_t i = 0; i < 8; ++i) {
        size_t run = 0;
        while (i + run < 8 && groups[i + run] == 0) ++run;
        if (run > most) {
            most = run;
            zeros = i;
        }
    }
    std::string found;
    for (size_t i = 0; i < 8; ++i) {
        if (i == zeros) {
            found += "::";
            i += most - 1;
            continue;
        }
        if (!found.empty() && found.back() != ':') found += ':';
        found += hexadecimal(groups[i]);
    }
    return found;
}

/// `30s`, `124min`; else with a fraction in the largest unit that is not above it: `1.5ms`.
inline std::string duration(uint64_t ns) {
    using Unit = std::pair<uint64_t, const char*>;
    for (const auto& [scale, unit] : {Unit{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}}) {
        if (ns % 1'000'000'000 == 0 || ns < scale) continue;
        const std::string rest = decimal(ns % scale), zeros(decimal(scale).size() - 1 - rest.size(), '0');
        std::string digits = zeros + rest;
        digits.erase(digits.find_last_not_of('0') + 1);
        return decimal(ns / scale) + (digits.empty() ? "" : "." + digits) + unit;
    }
    for (const auto& [scale, unit] :
         {Unit{86'400'000'000'000, "d"}, {3'600'000'000'000, "h"}, {60'000'000'000, "min"}, {1'000'000'000, "s"}}) {
        if (ns != 0 && ns % scale == 0) return decimal(ns / scale) + unit;
    }
    return ns == 0 ? "0s" : decimal(ns) + "ns";
}

/// A time, in ns since 1970.
inline std::string moment(uint64_t ns) { return decimal(ns) + "ns"; }

/// In the first unit that divides it; 0 in the last one.
inline std::string scaled(uint64_t value, std::initializer_list<std::pair<uint64_t, std::string_view>> units) {
    for (const auto& [scale, unit] : units) {
        if (value % scale == 0 && (value != 0 || scale == 1)) return decimal(value / scale) + std::string(unit);
    }
    return decimal(value);
}

/// A member of an enumeration, or its number.
inline std::string member(u128 value, std::initializer_list<std::pair<u128, std::string_view>> members) {
    for (const auto& [number, name] : members) {
        if (number == value) return std::string(name);
    }
    return decimal(value);
}

/// A port by its number.
template <class Names>
std::string port(const Names& names, uint64_t number) {
    return number < names.size() ? std::string(names[number]) : decimal(number);
}

/// Ports of a mask.
template <class Names>
std::string ports(const Names& names, uint64_t mask) {
    std::string found;
    for (size_t i = 0; i < 64; ++i) {
        if ((mask >> i & 1) != 0) found += (found.empty() ? "" : ", ") + port(names, i);
    }
    return "{" + found + "}";
}

}  // namespace polysome::text
