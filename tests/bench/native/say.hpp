/// What a row says: one JSON object of numbers and lists of numbers.
#pragma once

#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace polysome::bench {

class Said {
  public:
    void number(const std::string& name, double value) { members_.push_back(quoted(name) + shown(value)); }
    void numbers(const std::string& name, std::span<const double> values) {
        std::string list;
        for (const double value : values) list += (list.empty() ? "[" : ", ") + shown(value);
        members_.push_back(quoted(name) + list + "]");
    }
    void print() const {
        std::string all;
        for (const std::string& member : members_) all += (all.empty() ? "{" : ", ") + member;
        std::printf("%s}\n", all.c_str());
    }

  private:
    static std::string quoted(const std::string& name) { return '"' + name + "\": "; }
    static std::string shown(double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%.10g", value);
        return text;
    }

    std::vector<std::string> members_;
};

}  // namespace polysome::bench
