// What a count adds to a score, looked up where it is small. Counts are whole numbers of a unit, which is 1 unless rows
// have weights that are not whole.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace bayeswise::networks {

// n log n, 0 for n = 0.
class EntropyTerm {
public:
    explicit EntropyTerm(int64_t largest, double unit = 1.0)
        : unit_(unit), known_(static_cast<std::size_t>(unit == 1.0 ? std::min(largest, most) + 1 : 1)) {
        for (std::size_t n = 2; n < known_.size(); ++n) known_[n] = term(static_cast<double>(n));
    }
    double operator()(int64_t n) const {
        return n < static_cast<int64_t>(known_.size()) ? known_[static_cast<std::size_t>(n)]
                                                       : term(static_cast<double>(n) * unit_);
    }

private:
    static constexpr int64_t most = 1 << 20;
    static double term(double n) { return n * std::log(n); }
    double unit_;
    std::vector<double> known_;
};

// log Gamma(n + a) - log Gamma(a): the log of a (a + 1) ... (a + n - 1).
class RisingLog {
public:
    RisingLog(double a, int64_t largest, int64_t most = 32, double unit = 1.0)
        : a_(a), unit_(unit), log_gamma_(std::lgamma(a)) {
        known_.resize(static_cast<std::size_t>(unit == 1.0 ? std::min(largest, most) + 1 : 1));
        for (std::size_t n = 1; n < known_.size(); ++n)
            known_[n] = known_[n - 1] + std::log(a + static_cast<double>(n - 1));
    }
    double operator()(int64_t n) const {
        if (n < static_cast<int64_t>(known_.size())) return known_[static_cast<std::size_t>(n)];
        return std::lgamma(a_ + static_cast<double>(n) * unit_) - log_gamma_;
    }

private:
    double a_, unit_, log_gamma_;
    std::vector<double> known_;
};

}  // namespace bayeswise::networks
