// The order in which nodes are summed out.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/bits.hpp"
#include "common/interrupts.hpp"
#include "networks/factors.hpp"

namespace bayeswise::networks {

namespace {

constexpr double kWorthOrders = 2e4, kWorthChances = 5e5;  // cells from which it pays to try other orders
constexpr int kChances = 12;
constexpr double kMostFurtherWork = 2e9;  // for other orders than the first

inline bool has(const Bits& bits, int k) { return bits[size_t(k) >> 6] >> (k & 63) & 1; }
inline void drop(Bits& bits, int k) { bits[size_t(k) >> 6] &= ~(uint64_t(1) << (k & 63)); }

template <typename Visit>
void for_each(const Bits& bits, Visit visit) {
    for (size_t word = 0; word < bits.size(); ++word)
        for (uint64_t rest = bits[word]; rest; rest &= rest - 1) visit(int(word * 64) + bits::lowest(rest));
}

std::vector<int> members(const Bits& bits) {
    std::vector<int> found;
    for_each(bits, [&](int member) { found.push_back(member); });
    return found;
}

// The number of edges that eliminating a node would add.
int64_t fill(const std::vector<Bits>& adjacent, int node) {
    int64_t missing = 0;
    const Bits& around = adjacent[node];
    for_each(around, [&](int neighbour) {
        const Bits& near = adjacent[neighbour];
        --missing;  // a neighbour is not adjacent to itself
        for (size_t word = 0; word < around.size(); ++word) missing += bits::count(around[word] & ~near[word]);
    });
    return missing / 2;
}

// The same, each edge weighed by the states of its ends.
double heavy_fill(const std::vector<Bits>& adjacent, const std::vector<int64_t>& sizes, int node) {
    const std::vector<int> around = members(adjacent[node]);
    double missing = 0.0;
    for (size_t a = 0; a < around.size(); ++a)
        for (size_t b = a + 1; b < around.size(); ++b)
            if (!has(adjacent[around[a]], around[b])) missing += double(sizes[around[a]]) * double(sizes[around[b]]);
    return missing;
}

uint64_t mixed(uint64_t word) {
    word = (word + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return (word ^ (word >> 29)) * 0x94d049bb133111ebu;
}

}  // namespace

Elimination eliminate(std::vector<Bits> adjacent, const std::vector<int64_t>& sizes, const std::vector<int>& stage,
                      int n_stages, const Rule& rule, Effort& effort) {
    const int n = int(adjacent.size());
    Elimination result;
    result.neighbours.resize(n);
    std::vector<double> cost(n), weight(n);
    std::vector<uint64_t> lot(n, 0);
    for (int node = 0; node < n && rule.seed; ++node) lot[node] = mixed(mixed(rule.seed) ^ uint64_t(node));
    const double n_words = double(n) / 64.0 + 1.0;
    auto refresh = [&](int node) {
        weight[node] = double(sizes[node]);
        double degree = 0.0;
        for_each(adjacent[node], [&](int neighbour) { weight[node] *= double(sizes[neighbour]), ++degree; });
        effort.work += rule.kind == Rule::given        ? n_words
                       : rule.kind == Rule::heavy_fill ? n_words + degree * degree
                                                       : n_words * (degree + 1.0);
        if (rule.kind == Rule::given)
            cost[node] = rule.rank[node];
        else if (rule.kind == Rule::heavy_fill)
            cost[node] = heavy_fill(adjacent, sizes, node);
        else
            cost[node] = double(fill(adjacent, node));
    };
    auto before = [&](int one, int other) {
        if (cost[one] != cost[other]) return cost[one] < cost[other];
        if (weight[one] != weight[other]) return weight[one] < weight[other];
        return lot[one] < lot[other];
    };
    for (int node = 0; node < n; ++node)
        if (stage[node] < n_stages) refresh(node);
    for (int now = 0; now < n_stages; ++now) {
        std::vector<int> waiting;
        for (int node = 0; node < n; ++node)
            if (stage[node] == now) waiting.push_back(node);
        while (!waiting.empty()) {
            check_interrupts();
            if (result.n_cells >= effort.most_cells || effort.work > effort.most_work) {
                result.complete = false;
                return result;
            }
            effort.work += double(waiting.size());
            size_t best = 0;
            for (size_t k = 1; k < waiting.size(); ++k)
                if (before(waiting[k], waiting[best])) best = k;
            const int node = waiting[best];
            waiting.erase(waiting.begin() + int64_t(best));
            const std::vector<int> around = members(adjacent[node]);
            Bits touched(adjacent[node].size(), 0);
            for (int neighbour : around) {
                for (size_t word = 0; word < touched.size(); ++word) {
                    // a fill edge changes the costs of all that see both of its ends
                    const uint64_t added = adjacent[node][word] & ~adjacent[neighbour][word];
                    adjacent[neighbour][word] |= added;
                }
                drop(adjacent[neighbour], neighbour);
                drop(adjacent[neighbour], node);
            }
            for (int neighbour : around)
                for (size_t word = 0; word < touched.size(); ++word) touched[word] |= adjacent[neighbour][word];
            for (int neighbour : around) put(touched, neighbour);
            result.order.push_back(node);
            result.neighbours[node] = around;
            result.n_cells += weight[node];
            for_each(touched, [&](int other) {
                if (stage[other] < n_stages) refresh(other);
            });
        }
    }
    return result;
}

Elimination eliminate_in(const std::vector<int>& order, std::vector<Bits> adjacent, const std::vector<int64_t>& sizes) {
    Elimination result;
    result.order = order;
    result.neighbours.resize(adjacent.size());
    for (int node : order) {
        std::vector<int>& around = result.neighbours[size_t(node)];
        around = members(adjacent[size_t(node)]);
        double weight = double(sizes[size_t(node)]);
        for (int neighbour : around) {
            Bits& near = adjacent[size_t(neighbour)];
            for (size_t word = 0; word < near.size(); ++word) near[word] |= adjacent[size_t(node)][word];
            drop(near, neighbour);
            drop(near, node);
            weight *= double(sizes[size_t(neighbour)]);
        }
        result.n_cells += weight;
    }
    return result;
}

Elimination best_elimination(const std::vector<Bits>& adjacent, const std::vector<int64_t>& sizes,
                             const std::vector<int>& stage, int n_stages, double most_work) {
    Effort effort{kLargestTree, most_work};
    Elimination best = eliminate(adjacent, sizes, stage, n_stages, Rule{}, effort);
    // Other orders are tried only where a better one saves more time than looking for it takes.
    best.work = effort.work;
    if (best.n_cells < kWorthOrders) return best;
    effort.most_work = std::min(most_work, effort.work + kMostFurtherWork);
    auto attempt = [&](const Rule& rule) {
        effort.most_cells = best.n_cells;  // whatever reaches it is no better
        Elimination found = eliminate(adjacent, sizes, stage, n_stages, rule, effort);
        if (found.complete && found.n_cells < best.n_cells) best = std::move(found);
        best.work = effort.work;
    };
    Rule rule;
    rule.kind = Rule::heavy_fill;
    attempt(rule);
    if (best.n_cells < kWorthChances) return best;
    const int n = int(sizes.size());
    rule.kind = Rule::given;
    for (int sign : {1, -1}) {  // nodes as they were given, and backwards: good for chains and grids
        rule.rank.resize(n);
        for (int node = 0; node < n; ++node) rule.rank[node] = double(sign * node);
        attempt(rule);
    }
    if (!best.complete) return best;  // far too large; chance does not make up for so much
    rule.rank.clear();
    rule.kind = Rule::fill;
    for (int chance = 1; chance <= kChances; ++chance) {
        rule.seed = uint64_t(chance);
        attempt(rule);
    }
    return best;
}

}  // namespace bayeswise::networks
