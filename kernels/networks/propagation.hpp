// Running a junction tree: messages up to the roots, and down again where every marginal is requested.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/interrupts.hpp"
#include "networks/factors.hpp"

namespace bayeswise::networks {

constexpr int64_t kCellsWorthAsking = 1 << 12;  // a smaller clique is done before anybody could interrupt it

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// What was observed: a state for each sliced node, a likelihood for each other node that has one.
struct Findings {
    std::vector<int32_t> state;             // -1: nothing
    std::vector<const double*> likelihood;  // nullptr: nothing
};

template <typename T>
struct Run {
    const Tree& tree;
    std::vector<std::vector<T>> potential, message;
    double log_evidence = 0.0;
    bool lost = false;  // something fell below what doubles can hold

    explicit Run(const Tree& of) : tree(of), potential(of.cliques.size()), message(of.cliques.size()) {}

    int64_t base(const Use& use, const Findings& seen) const {
        int64_t offset = 0;
        for (const auto& [node, stride] : use.fixed) offset += stride * seen.state[node];
        return offset;
    }

    void fill(int c, const Findings& seen, const std::vector<T>* prepared) {
        const Clique& clique = tree.cliques[c];
        std::vector<T>& cells = potential[c];
        if (clique.cells() > kCellsWorthAsking) check_interrupts();
        if (prepared) {
            cells = *prepared;
        } else if (clique.uses.empty()) {
            cells.assign(size_t(clique.cells()), T(1.0));
        } else {
            cells.resize(size_t(clique.cells()));
            const Use& first = clique.uses.front();
            spread(cells.data(), first.walk, base(first, seen), tree.network.tables[first.node]);
            for (size_t k = 1; k < clique.uses.size(); ++k) {
                const Use& use = clique.uses[k];
                multiply(cells.data(), use.walk, base(use, seen), tree.network.tables[use.node]);
            }
        }
        for (const auto& [node, walk] : clique.findings)
            if (seen.likelihood[node]) multiply(cells.data(), walk, 0, seen.likelihood[node]);
        for (int child : clique.children)
            multiply(cells.data(), tree.cliques[child].into_parent, 0, message[child].data());
    }

    // The message of a clique, divided by its largest entry; false if all of it is zero.
    bool send(int c) {
        const Clique& clique = tree.cliques[c];
        std::vector<T>& out = message[c];
        out.resize(size_t(clique.n_outer));
        const T* cell = potential[c].data();
        T top(0.0);
        for (int64_t s = 0; s < clique.n_outer; ++s) {
            T total = cell[0];
            if (clique.maximise) {
                for (int64_t k = 1; k < clique.n_inner; ++k)
                    if (cell[k] > total) total = cell[k];
            } else {
                for (int64_t k = 1; k < clique.n_inner; ++k) total += cell[k];
            }
            cell += clique.n_inner;
            out[s] = total;
            if (total > top) top = total;
        }
        if (too_small(top)) lost = true;
        if (is_zero(top)) return false;
        for (T& entry : out) entry /= top;
        log_evidence += log_of(top);
        return true;
    }

    // Up to the roots; false if the evidence is impossible (or lost: then a wider number must decide).
    bool collect(const Findings& seen, const std::vector<std::vector<T>>* prepared = nullptr) {
        log_evidence = 0.0;
        lost = false;
        for (const Use& use : tree.constants) {
            const double p = tree.network.tables[use.node][base(use, seen)];
            if (p == 0.0) return log_evidence = kMinusInfinity, false;
            log_evidence += std::log(p);
        }
        for (size_t c = 0; c < tree.cliques.size(); ++c) {
            fill(int(c), seen, prepared && !(*prepared)[c].empty() ? &(*prepared)[c] : nullptr);
            if (!send(int(c))) return log_evidence = kMinusInfinity, false;
        }
        return true;
    }

    // The same for some cliques that no other is joined to, children before parents.
    bool collect(const std::vector<int>& cliques, const Findings& seen, const std::vector<std::vector<T>>* prepared) {
        log_evidence = 0.0;
        lost = false;
        for (int c : cliques) {
            fill(c, seen, prepared && !(*prepared)[size_t(c)].empty() ? &(*prepared)[size_t(c)] : nullptr);
            if (!send(c)) return log_evidence = kMinusInfinity, false;
        }
        return true;
    }

    // Down again: every potential becomes the joint posterior of its clique.
    void distribute() {
        std::vector<T> fresh;
        for (size_t c = tree.cliques.size(); c-- > 0;) {
            const Clique& clique = tree.cliques[c];
            std::vector<T>& cells = potential[c];
            if (clique.cells() > kCellsWorthAsking) check_interrupts();
            if (clique.parent < 0) {
                T total(0.0);
                for (const T& cell : cells) total += cell;
                for (T& cell : cells) cell /= total;
                continue;
            }
            fresh.assign(size_t(clique.n_outer), T(0.0));
            const std::vector<T>& above = potential[clique.parent];
            clique.into_parent.over(0, [&](int64_t cell, int64_t at, int64_t count, int64_t step) {
                if (step == 0) {
                    T total = above[cell];
                    for (int64_t k = 1; k < count; ++k) total += above[cell + k];
                    fresh[at] += total;
                } else {
                    for (int64_t k = 0; k < count; ++k) fresh[at + k * step] += above[cell + k];
                }
            });
            T* out = cells.data();
            for (int64_t s = 0; s < clique.n_outer; ++s, out += clique.n_inner) {
                T inner(0.0);  // what was sent up, before it was scaled
                for (int64_t k = 0; k < clique.n_inner; ++k) inner += out[k];
                T ratio(0.0);
                if (!is_zero(inner)) {
                    if (too_small(inner)) lost = true;
                    ratio = fresh[s];
                    ratio /= inner;
                }
                for (int64_t k = 0; k < clique.n_inner; ++k) out[k] *= ratio;
            }
        }
    }

    // The marginal of a node from the smallest clique that it is in: its axis lies between outer and inner ones.
    void marginal(int node, double* out) const {
        const int c = tree.smallest[size_t(node)];
        const int64_t size = tree.network.sizes[size_t(node)];
        int64_t n_inner = 1;
        for (size_t axis = tree.cliques[size_t(c)].scope.size(); axis-- > 0;) {
            const int other = tree.cliques[size_t(c)].scope[axis];
            if (other == node) break;
            n_inner *= tree.network.sizes[size_t(other)];
        }
        std::vector<T> sums(size_t(size), T(0.0));
        const std::vector<T>& cells = potential[size_t(c)];
        for (size_t at = 0; at < cells.size();)
            for (int64_t s = 0; s < size; ++s, at += size_t(n_inner)) {
                T total = cells[at];
                for (int64_t k = 1; k < n_inner; ++k) total += cells[at + size_t(k)];
                sums[size_t(s)] += total;
            }
        normalised(sums, out);
    }

    static void normalised(const std::vector<T>& cells, double* out) {
        T total(0.0);
        for (const T& cell : cells) total += cell;
        for (size_t k = 0; k < cells.size(); ++k) {
            T share = cells[k];
            share /= total;
            out[k] = plain(share);
        }
    }

    // The best states of what was maximised, the first ones where several are best.
    void trace_back(std::vector<int32_t>& state) const {
        for (size_t c = tree.cliques.size(); c-- > 0;) {
            const Clique& clique = tree.cliques[c];
            if (!clique.maximise) continue;
            int64_t s = 0, n_outside = 1;
            size_t axis = 0;
            for (;
                 n_outside < clique.n_outer || (axis < clique.scope.size() && tree.home[clique.scope[axis]] != int(c));
                 ++axis) {
                const int node = clique.scope[axis];
                s = s * tree.network.sizes[node] + state[node];
                n_outside *= tree.network.sizes[node];
            }
            const T* cell = potential[c].data() + s * clique.n_inner;
            int64_t best = 0;
            for (int64_t k = 1; k < clique.n_inner; ++k)
                if (cell[k] > cell[best]) best = k;
            for (size_t k = clique.scope.size(); k-- > axis;) {
                const int node = clique.scope[k];
                state[node] = int32_t(best % tree.network.sizes[node]);
                best /= tree.network.sizes[node];
            }
        }
    }
};

// Calls `work` with doubles, and again with wide numbers if doubles could not hold what matters.
template <typename Work>
void widening(const Tree& tree, Work work) {
    {
        Run<double> run(tree);
        if (work(run)) return;
    }
    Run<Wide> wide(tree);
    work(wide);
}

}  // namespace bayeswise::networks
