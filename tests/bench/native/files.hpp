/// The files that the bench's programs are given.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "rivals/rival.hpp"

namespace polysome::bench {

inline std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::fprintf(stderr, "cannot read %s\n", path.c_str());
        std::exit(2);
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A line is a row.
inline Rows rows(const std::string& text) {
    Rows found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream numbers(line);
        found.emplace_back(std::istream_iterator<uint64_t>(numbers), std::istream_iterator<uint64_t>());
    }
    return found;
}

}  // namespace polysome::bench
