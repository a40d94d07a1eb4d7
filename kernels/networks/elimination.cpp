// The order in which nodes are summed out, and the junction tree that follows from it.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/bits.hpp"
#include "common/interrupts.hpp"
#include "networks/factors.hpp"

namespace bayeswise::networks {

namespace {

using Bits = std::vector<uint64_t>;

constexpr double kLargestTree = 1e12;                      // cells; nobody has so much memory
constexpr double kWorthOrders = 2e4, kWorthChances = 5e5;  // cells from which it pays to try other orders
constexpr int kChances = 12;
constexpr double kMostWork = 1e10;        // words for one plan: ten to twenty seconds
constexpr double kMostFurtherWork = 2e9;  // for other orders than the first

inline bool has(const Bits& bits, int k) { return bits[size_t(k) >> 6] >> (k & 63) & 1; }
inline void put(Bits& bits, int k) { bits[size_t(k) >> 6] |= uint64_t(1) << (k & 63); }
inline void drop(Bits& bits, int k) { bits[size_t(k) >> 6] &= ~(uint64_t(1) << (k & 63)); }

std::vector<int> members(const Bits& bits) {
    std::vector<int> found;
    for (size_t word = 0; word < bits.size(); ++word)
        for (uint64_t rest = bits[word]; rest; rest &= rest - 1) found.push_back(int(word * 64) + bits::lowest(rest));
    return found;
}

// The number of edges that eliminating a node would add.
int64_t fill(const std::vector<Bits>& adjacent, int node) {
    int64_t missing = 0;
    for (int neighbour : members(adjacent[node])) {
        int64_t count = -1;  // a neighbour is not adjacent to itself
        for (size_t word = 0; word < adjacent[node].size(); ++word)
            count += bits::count(adjacent[node][word] & ~adjacent[neighbour][word]);
        missing += count;
    }
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
        for (int neighbour : members(adjacent[node])) weight[node] *= double(sizes[neighbour]), ++degree;
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
            for (int other : members(touched))
                if (stage[other] < n_stages) refresh(other);
        }
    }
    return result;
}

Elimination best_elimination(const std::vector<Bits>& adjacent, const std::vector<int64_t>& sizes,
                             const std::vector<int>& stage, int n_stages) {
    Effort effort{kLargestTree, kMostWork};
    Elimination best = eliminate(adjacent, sizes, stage, n_stages, Rule{}, effort);
    // Other orders are tried only where a better one saves more time than looking for it takes.
    if (best.n_cells < kWorthOrders) return best;
    effort.most_work = std::min(kMostWork, effort.work + kMostFurtherWork);
    auto attempt = [&](const Rule& rule) {
        effort.most_cells = best.n_cells;  // whatever reaches it is no better
        Elimination found = eliminate(adjacent, sizes, stage, n_stages, rule, effort);
        if (found.complete && found.n_cells < best.n_cells) best = std::move(found);
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

namespace {

struct Local {  // the nodes that are neither observed nor irrelevant, numbered anew
    std::vector<int> of_node, node;
};

std::vector<int> scope_of(const Network& network, int node) {
    std::vector<int> scope = network.parents[node];
    scope.push_back(node);
    return scope;
}

std::vector<int64_t> strides_of(const Network& network, const std::vector<int>& scope) {
    std::vector<int64_t> strides(scope.size());
    int64_t step = 1;
    for (size_t axis = scope.size(); axis-- > 0;) {
        strides[axis] = step;
        step *= network.sizes[scope[axis]];
    }
    return strides;
}

// The walk of a clique's cells through something whose axes are `inside`, in its own order.
Walk walk_through(const Network& network, const std::vector<int>& scope, const std::vector<int>& inside,
                  const std::vector<int64_t>& strides) {
    std::vector<int64_t> sizes, steps;
    for (int node : scope) {
        const auto found = std::find(inside.begin(), inside.end(), node);
        sizes.push_back(network.sizes[node]);
        steps.push_back(found == inside.end() ? 0 : strides[found - inside.begin()]);
    }
    return Walk(sizes, steps);
}

}  // namespace

void Tree::compile(const std::vector<uint8_t>& relevant, const std::vector<uint8_t>& observed,
                   const std::vector<int>& last, bool last_is_root, bool maximise_all) {
    const int n_nodes = int(network.sizes.size());
    Local local;
    local.of_node.assign(n_nodes, -1);
    for (int node = 0; node < n_nodes; ++node)
        if (relevant[node] && !observed[node]) {
            local.of_node[node] = int(local.node.size());
            local.node.push_back(node);
        }
    const int n = int(local.node.size());
    std::vector<Bits> adjacent(n, Bits((n + 63) / 64, 0));
    std::vector<int64_t> sizes(n);
    for (int k = 0; k < n; ++k) sizes[k] = network.sizes[local.node[k]];
    for (int node = 0; node < n_nodes; ++node) {
        if (!relevant[node]) continue;
        std::vector<int> inside;
        for (int member : scope_of(network, node))
            if (local.of_node[member] >= 0) inside.push_back(local.of_node[member]);
        for (int one : inside)
            for (int other : inside)
                if (one != other) put(adjacent[one], other);
    }
    std::vector<int> stage(n, 0);
    for (int node : last)
        if (local.of_node[node] >= 0) stage[local.of_node[node]] = 1;
    const Elimination found = best_elimination(adjacent, sizes, stage, last_is_root ? 1 : 2);
    if (!found.complete) {  // the caller sees the estimate and goes no further
        planned = false;
        n_cells = found.n_cells;
        return;
    }

    // Positions: what goes first has the smallest; the root keeps the order of the targets, the first one highest.
    std::vector<int> position(n, -1), roots;
    for (int k = 0; k < int(found.order.size()); ++k) position[found.order[k]] = k;
    if (last_is_root) {
        for (int node : last)
            if (local.of_node[node] >= 0) roots.push_back(local.of_node[node]);
        for (int k = 0; k < int(roots.size()); ++k) position[roots[k]] = n - 1 - k;
    }
    auto later_first = [&](int one, int other) { return position[one] > position[other]; };

    const int n_steps = int(found.order.size());
    std::vector<std::vector<int>> gone(n_steps), outer(n_steps);  // by step: what goes there, what it is joined to
    std::vector<int> into(n_steps), next(n_steps, -1);            // the step that stands for it; its parent step or -2
    for (int step = 0; step < n_steps; ++step) {
        const int node = found.order[step];
        outer[step] = found.neighbours[node];
        std::sort(outer[step].begin(), outer[step].end(), later_first);
        gone[step] = {node};
        into[step] = step;
        if (!outer[step].empty()) {
            const int first = outer[step].back();
            next[step] = position[first] < n_steps && stage[first] < (last_is_root ? 1 : 2) ? position[first] : -2;
        }
    }
    // A step whose separator is all of its parent's clique swallows the parent.
    std::vector<uint8_t> swallowed(n_steps, 0);
    for (int step = 0; step < n_steps; ++step) {
        const int self = into[step], up = next[step];
        if (up < 0 || swallowed[up] || stage[found.order[up]] != stage[found.order[self]]) continue;
        if (outer[step].size() != outer[up].size() + 1) continue;
        swallowed[up] = 1;
        into[up] = self;
        gone[self].insert(gone[self].begin(), found.order[up]);
    }
    // Children before parents: a swallowed step hands its place to the one that swallowed it, which is earlier, so the
    // clique takes the place of the last step in it.
    std::vector<int> last_step(n_steps, -1);
    for (int step = 0; step < n_steps; ++step) last_step[into[step]] = step;
    std::vector<int> clique_of(n_steps, -1);
    home.assign(n_nodes, -1);
    cliques.clear();
    auto finish = [&](Clique& clique, const std::vector<int>& outside, const std::vector<int>& inside) {
        double cells = 1.0;
        for (const auto* part : {&outside, &inside})
            for (int k : *part) {
                clique.scope.push_back(local.node[k]);
                cells *= double(sizes[k]);
            }
        n_cells += cells;
        if (cells > kLargestTree) return;
        for (int k : outside) clique.n_outer *= sizes[k];
        for (int k : inside) clique.n_inner *= sizes[k];
    };
    std::vector<int> parent_step;
    for (int step = 0; step < n_steps; ++step) {
        const int self = into[step];
        if (last_step[self] != step) continue;
        Clique clique;
        clique.maximise = maximise_all || stage[found.order[step]] == 1;
        finish(clique, outer[step], gone[self]);
        for (int k : gone[self]) home[local.node[k]] = int(cliques.size());
        clique_of[self] = int(cliques.size());
        parent_step.push_back(next[step]);
        cliques.push_back(std::move(clique));
    }
    if (!roots.empty()) {
        Clique clique;
        finish(clique, {}, roots);
        root = int(cliques.size());
        for (int k : roots) home[local.node[k]] = root;
        parent_step.push_back(-1);
        cliques.push_back(std::move(clique));
    }
    if (n_cells > kLargestTree) return;  // the caller sees the estimate and goes no further
    for (int c = 0; c < int(cliques.size()); ++c) {
        Clique& clique = cliques[c];
        clique.parent = parent_step[c] == -2 ? root : parent_step[c] < 0 ? -1 : clique_of[into[parent_step[c]]];
        if (clique.parent >= 0) {
            int64_t n_outside = 1;
            std::vector<int> separator;
            for (int node : clique.scope) {
                if (n_outside == clique.n_outer && home[node] == c) break;
                separator.push_back(node);
                n_outside *= network.sizes[node];
            }
            clique.into_parent =
                walk_through(network, cliques[clique.parent].scope, separator, strides_of(network, separator));
            cliques[clique.parent].children.push_back(c);
        }
        for (int node : clique.scope)
            if (home[node] == c) clique.findings.emplace_back(node, walk_through(network, clique.scope, {node}, {1}));
    }
    smallest = home;
    for (int c = 0; c < int(cliques.size()); ++c)
        for (int node : cliques[c].scope)
            if (cliques[c].cells() < cliques[smallest[node]].cells()) smallest[node] = c;
    for (int node = 0; node < n_nodes; ++node) {
        if (!relevant[node]) continue;
        const std::vector<int> scope = scope_of(network, node);
        const std::vector<int64_t> strides = strides_of(network, scope);
        Use use;
        use.node = node;
        int first = -1;
        for (size_t axis = 0; axis < scope.size(); ++axis) {
            const int k = local.of_node[scope[axis]];
            if (k < 0)
                use.fixed.emplace_back(scope[axis], strides[axis]);
            else if (first < 0 || position[k] < position[first])
                first = k;
        }
        const int c = first < 0 ? -1 : home[local.node[first]];
        if (c < 0) {
            constants.push_back(std::move(use));
            continue;
        }
        use.walk = walk_through(network, cliques[c].scope, scope, strides);
        cliques[c].uses.push_back(std::move(use));
    }
}

}  // namespace bayeswise::networks
