// Rows of evidence: a tree falls apart where nodes are observed, and each part of it depends on a few columns only, so
// most rows ask for what was answered before.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "networks/factors.hpp"
#include "networks/propagation.hpp"

namespace bayeswise::networks {

constexpr int64_t kMostKept = 1 << 18;  // answers of one part

struct Digit {
    size_t column;
    int64_t radix, shift;  // the code plus shift is the digit: a cell that may be missing has one more
};

// Likelihoods that cells of a column may have in the place of a state: code n_states + k is the k-th of them.
struct SoftCells {
    const double* likelihoods = nullptr;  // (n_cells, n_states)
    int64_t n_cells = 0;
};

struct Part {
    std::vector<int> cliques;  // children before parents; none: a table all of whose nodes are observed
    const Use* constant = nullptr;
    std::vector<Digit> digits;  // the columns that it depends on
    bool has_root = false;
    bool keeps = false;
    std::vector<double> log_evidence, posterior;  // by key; NaN: not requested yet
};

class Batch {
public:
    // `columns` are nodes; `observed` tells which of them are cut out of the tables, and these have no soft cells.
    Batch(const Tree& tree, const std::vector<uint8_t>& observed, const std::vector<int>& columns,
          const std::vector<SoftCells>& soft, size_t n_rows)
        : tree_(tree), observed_(observed), columns_(columns), soft_(soft), run_(tree), wide_(tree),
          width_(size_t(tree.cliques[size_t(tree.root)].cells())) {
        const size_t n_nodes = tree.network.sizes.size();
        seen_ = Findings{std::vector<int32_t>(n_nodes, -1), std::vector<const double*>(n_nodes, nullptr)};
        prepare();
        for (int node : columns) {  // one 1 among zeros: every unit vector is a part of it
            const size_t size = size_t(tree.network.sizes.at(size_t(node)));
            certain_.emplace_back(2 * size - 1, 0.0);
            certain_.back()[size - 1] = 1.0;
        }
        divide(n_rows);
    }

    // The posterior of one row (NaN if it is impossible); gives back the log evidence.
    double row(const int32_t* codes, double* out) {
        double log_evidence = 0.0;
        for (Part& part : parts_) {
            int64_t key = 0;
            if (part.keeps) {
                for (const Digit& digit : part.digits)
                    key = key * digit.radix + known(codes, digit.column) + digit.shift;
                if (std::isnan(part.log_evidence[size_t(key)]))
                    part.log_evidence[size_t(key)] = answer(part, codes, part.posterior.data() + size_t(key) * width_);
                log_evidence += part.log_evidence[size_t(key)];
                if (part.has_root) std::copy_n(part.posterior.data() + size_t(key) * width_, width_, out);
            } else {
                log_evidence += answer(part, codes, out);
            }
        }
        if (log_evidence == kMinusInfinity) std::fill_n(out, width_, std::numeric_limits<double>::quiet_NaN());
        return log_evidence;
    }

private:
    const Tree& tree_;
    const std::vector<uint8_t>& observed_;
    const std::vector<int>& columns_;
    const std::vector<SoftCells>& soft_;
    Run<double> run_;
    Run<Wide> wide_;
    size_t width_;
    Findings seen_;
    std::vector<std::vector<double>> prepared_, certain_;
    std::vector<Part> parts_;

    // A code, -1 where the cell is missing or no state; a node that is cut out cannot miss.
    int64_t known(const int32_t* codes, size_t column) const {
        const int node = columns_[column];
        const int64_t code = codes[column];
        const int64_t n_soft = observed_[size_t(node)] ? 0 : soft_[column].n_cells;
        const bool here = code >= 0 && code < tree_.network.sizes[size_t(node)] + n_soft;
        return here ? code : observed_[size_t(node)] ? 0 : -1;
    }

    // Cliques into which no observed state enters are multiplied once.
    void prepare() {
        prepared_.resize(tree_.cliques.size());
        for (size_t c = 0; c < tree_.cliques.size(); ++c) {
            const auto& uses = tree_.cliques[c].uses;
            if (std::any_of(uses.begin(), uses.end(), [](const Use& use) { return !use.fixed.empty(); })) continue;
            prepared_[c].assign(size_t(tree_.cliques[c].cells()), 1.0);
            for (const Use& use : uses)
                multiply(prepared_[c].data(), use.walk, 0, tree_.network.tables[size_t(use.node)]);
        }
    }

    void divide(size_t n_rows) {
        const size_t n_cliques = tree_.cliques.size();
        std::vector<int> part_of(n_cliques, -1), column_of(tree_.network.sizes.size(), -1);
        for (size_t k = 0; k < columns_.size(); ++k) column_of[size_t(columns_[k])] = int(k);
        for (size_t c = n_cliques; c-- > 0;) {  // parents before children
            const int parent = tree_.cliques[c].parent;
            if (parent < 0)
                part_of[c] = int(parts_.size()), parts_.emplace_back();
            else
                part_of[c] = part_of[size_t(parent)];
        }
        std::vector<std::vector<int>> requested(parts_.size());
        for (size_t c = 0; c < n_cliques; ++c) {
            const size_t p = size_t(part_of[c]);
            parts_[p].cliques.push_back(int(c));
            parts_[p].has_root |= int(c) == tree_.root;
            for (const Use& use : tree_.cliques[c].uses)
                for (const auto& fixed : use.fixed) requested[p].push_back(column_of[size_t(fixed.first)]);
            for (const auto& finding : tree_.cliques[c].findings)
                requested[p].push_back(column_of[size_t(finding.first)]);
        }
        for (const Use& use : tree_.constants) {
            parts_.emplace_back();
            parts_.back().constant = &use;
            requested.emplace_back();
            for (const auto& fixed : use.fixed) requested.back().push_back(column_of[size_t(fixed.first)]);
        }
        for (size_t p = 0; p < parts_.size(); ++p) settle(parts_[p], requested[p], n_rows);
    }

    void settle(Part& part, std::vector<int>& requested, size_t n_rows) {
        std::sort(requested.begin(), requested.end());
        requested.erase(std::unique(requested.begin(), requested.end()), requested.end());
        double n_keys = 1.0;
        for (int column : requested) {
            if (column < 0) continue;  // a node of which no column tells
            const size_t node = size_t(columns_[size_t(column)]);
            const int64_t shift = observed_[node] ? 0 : 1;
            const int64_t n_soft = observed_[node] ? 0 : soft_[size_t(column)].n_cells;
            part.digits.push_back({size_t(column), tree_.network.sizes[node] + n_soft + shift, shift});
            n_keys *= double(part.digits.back().radix);
        }
        part.keeps = n_keys <= double(kMostKept) && n_keys <= double(n_rows) &&
                     (!part.has_root || n_keys * double(width_) <= 16.0 * double(kMostKept));
        if (!part.keeps) return;
        part.log_evidence.assign(size_t(n_keys), std::numeric_limits<double>::quiet_NaN());
        if (part.has_root) part.posterior.assign(size_t(n_keys) * width_, 0.0);
    }

    double answer(const Part& part, const int32_t* codes, double* out) {
        for (const Digit& digit : part.digits) {
            const size_t node = size_t(columns_[digit.column]);
            const int64_t code = known(codes, digit.column), size = tree_.network.sizes[node];
            if (observed_[node])
                seen_.state[node] = int32_t(code);
            else if (code < size)
                seen_.likelihood[node] = code < 0 ? nullptr : certain_[digit.column].data() + (size - 1 - code);
            else
                seen_.likelihood[node] = soft_[digit.column].likelihoods + (code - size) * size;
        }
        if (part.constant) {
            const double p = tree_.network.tables[size_t(part.constant->node)][run_.base(*part.constant, seen_)];
            return p == 0.0 ? kMinusInfinity : std::log(p);
        }
        const bool possible = run_.collect(part.cliques, seen_, &prepared_);
        if (!run_.lost) {
            if (possible && part.has_root) run_.normalised(run_.potential[size_t(tree_.root)], out);
            return run_.log_evidence;
        }
        const bool really = wide_.collect(part.cliques, seen_, nullptr);
        if (really && part.has_root) wide_.normalised(wide_.potential[size_t(tree_.root)], out);
        return wide_.log_evidence;
    }
};

}  // namespace bayeswise::networks
