// A junction tree from an order of elimination: its cliques, how they hang together, and where tables are multiplied.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "networks/factors.hpp"

namespace bayeswise::networks {

namespace {

std::vector<int> scope_of(const Network& network, int node) {
    const std::vector<int>& parents = network.parents[size_t(node)];
    std::vector<int> scope;
    scope.reserve(parents.size() + 1);
    scope.assign(parents.begin(), parents.end());
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
    sizes.reserve(scope.size());
    steps.reserve(scope.size());
    for (int node : scope) {
        const auto found = std::find(inside.begin(), inside.end(), node);
        sizes.push_back(network.sizes[node]);
        steps.push_back(found == inside.end() ? 0 : strides[found - inside.begin()]);
    }
    return Walk(sizes, steps);
}

// The nodes that are neither observed nor irrelevant, renumbered; those that share a table are adjacent.
struct Graph {
    std::vector<int> number;  // of each node of the network, -1 if it is not here
    std::vector<int> node;    // by number, and so are the next two
    std::vector<int64_t> sizes;
    std::vector<Bits> adjacent;

    Graph(const Network& network, const std::vector<uint8_t>& relevant, const std::vector<uint8_t>& observed)
        : number(network.sizes.size(), -1) {
        const int n_nodes = int(number.size());
        for (int each = 0; each < n_nodes; ++each)
            if (relevant[each] && !observed[each]) {
                number[each] = int(node.size());
                node.push_back(each);
                sizes.push_back(network.sizes[each]);
            }
        adjacent.assign(node.size(), Bits((node.size() + 63) / 64, 0));
        for (int each = 0; each < n_nodes; ++each)
            if (relevant[each]) join(numbers_of(scope_of(network, each)));
    }

    // Those of the nodes that are here.
    std::vector<int> numbers_of(const std::vector<int>& nodes) const {
        std::vector<int> numbers;
        for (int each : nodes)
            if (number[each] >= 0) numbers.push_back(number[each]);
        return numbers;
    }

private:
    void join(const std::vector<int>& together) {
        for (int one : together)
            for (int other : together)
                if (one != other) put(adjacent[one], other);
    }
};

constexpr int kNone = -1, kIntoRoot = -2;

// The elimination of one node.
struct Step {
    std::vector<int> outer;  // what it is joined to when it goes, the last to go first
    int parent = kNone;      // the step of the first of these to go, kIntoRoot if that is a target
    int head;                // the step whose clique it is part of
};

// A clique before it has cells.
struct Draft {
    std::vector<int> outer, gone;  // the separator; what is eliminated here
    int parent;                    // a step, kNone or kIntoRoot
    int stage;
};

class Compilation {
public:
    Compilation(Tree& tree, const std::vector<uint8_t>& relevant, const std::vector<uint8_t>& observed,
                const std::vector<int>& last, bool last_is_root, const std::vector<int>& order)
        : tree_(tree), network_(tree.network), relevant_(relevant), graph_(network_, relevant, observed),
          stage_(graph_.node.size(), 0) {
        const std::vector<int> late = graph_.numbers_of(last);
        for (int k : late) stage_[k] = 1;
        if (last_is_root) roots_ = late;
        const int n_stages = last_is_root ? 1 : 2;
        if (order.empty()) {
            found_ = best_elimination(graph_.adjacent, graph_.sizes, stage_, n_stages);
            return;
        }
        std::vector<int> numbers;
        for (int stage = 0; stage < n_stages; ++stage)
            for (int k : graph_.numbers_of(order))
                if (stage_[size_t(k)] == stage) numbers.push_back(k);
        found_ = eliminate_in(numbers, graph_.adjacent, graph_.sizes);
    }

    const Elimination& found() const { return found_; }

    void add_cliques(bool maximise_all) {
        find_positions();
        std::vector<Step> steps = steps_of();
        const std::vector<Draft> drafts = drafts_of(steps);
        tree_.home.assign(graph_.number.size(), kNone);
        tree_.cliques.clear();
        std::vector<int> clique_of(steps.size(), kNone);  // by step
        for (const Draft& draft : drafts) {
            for (int k : draft.gone) clique_of[position_[k]] = int(tree_.cliques.size());
            add_clique(draft.outer, draft.gone, maximise_all || draft.stage == 1);
        }
        if (!roots_.empty()) {
            tree_.root = int(tree_.cliques.size());
            add_clique({}, roots_, false);
        }
        for (size_t c = 0; c < drafts.size(); ++c) {
            const int up = drafts[c].parent;
            tree_.cliques[c].parent = up == kIntoRoot ? tree_.root : up == kNone ? -1 : clique_of[up];
        }
    }

    void join_cliques() {
        for (int c = 0; c < int(tree_.cliques.size()); ++c) {
            Clique& clique = tree_.cliques[c];
            if (clique.parent >= 0) {
                const std::vector<int> separator = separator_of(c);
                Clique& parent = tree_.cliques[clique.parent];
                clique.into_parent = walk_through(network_, parent.scope, separator, strides_of(network_, separator));
                parent.children.push_back(c);
            }
            for (int node : clique.scope)
                if (tree_.home[node] == c)
                    clique.findings.emplace_back(node, walk_through(network_, clique.scope, {node}, {1}));
        }
    }

    // A table is multiplied where the first of its nodes goes.
    void place_tables() {
        for (int node = 0; node < int(relevant_.size()); ++node) {
            if (!relevant_[node]) continue;
            const std::vector<int> scope = scope_of(network_, node);
            const std::vector<int64_t> strides = strides_of(network_, scope);
            Use use{node, {}, {}};
            int first = kNone;
            for (size_t axis = 0; axis < scope.size(); ++axis) {
                const int k = graph_.number[scope[axis]];
                if (k < 0)
                    use.fixed.emplace_back(scope[axis], strides[axis]);
                else if (first == kNone || position_[k] < position_[first])
                    first = k;
            }
            if (first == kNone) {
                tree_.constants.push_back(std::move(use));
                continue;
            }
            Clique& clique = tree_.cliques[tree_.home[graph_.node[first]]];
            use.walk = walk_through(network_, clique.scope, scope, strides);
            clique.uses.push_back(std::move(use));
        }
    }

private:
    // What goes first has the smallest; the root keeps the order of the targets, the first one highest.
    void find_positions() {
        position_.assign(graph_.node.size(), kNone);
        for (size_t k = 0; k < found_.order.size(); ++k) position_[found_.order[k]] = int(k);
        for (size_t k = 0; k < roots_.size(); ++k) position_[roots_[k]] = int(graph_.node.size() - 1 - k);
    }

    std::vector<Step> steps_of() const {
        const int n_steps = int(found_.order.size());
        std::vector<Step> steps(n_steps);
        for (int k = 0; k < n_steps; ++k) {
            Step& step = steps[k];
            step.outer = found_.neighbours[found_.order[k]];
            step.head = k;
            std::sort(step.outer.begin(), step.outer.end(),
                      [&](int one, int other) { return position_[one] > position_[other]; });
            if (step.outer.empty()) continue;
            const int first = position_[step.outer.back()];
            step.parent = first < n_steps ? first : kIntoRoot;
        }
        return steps;
    }

    // A step whose separator is all of its parent's clique swallows the parent. A clique takes the place of the last
    // step in it, so that children stand before parents.
    std::vector<Draft> drafts_of(std::vector<Step>& steps) const {
        const int n_steps = int(steps.size());
        std::vector<std::vector<int>> gone(n_steps);  // by head
        std::vector<int> last(n_steps, kNone);        // step of the same clique, by head
        for (int k = 0; k < n_steps; ++k) {
            const Step& step = steps[k];
            const int node = found_.order[k];
            gone[step.head].insert(gone[step.head].begin(), node);
            last[step.head] = k;
            if (step.parent < 0) continue;
            Step& up = steps[step.parent];
            const bool is_free = up.head == step.parent;
            const bool same_stage = stage_[found_.order[step.parent]] == stage_[node];
            if (is_free && same_stage && step.outer.size() == up.outer.size() + 1) up.head = step.head;
        }
        std::vector<Draft> drafts;
        for (int k = 0; k < n_steps; ++k) {
            const Step& step = steps[k];
            if (last[step.head] == k)
                drafts.push_back({step.outer, gone[step.head], step.parent, stage_[found_.order[k]]});
        }
        return drafts;
    }

    void add_clique(const std::vector<int>& outer, const std::vector<int>& gone, bool maximise) {
        Clique clique;
        clique.maximise = maximise;
        double cells = 1.0;
        for (const auto* part : {&outer, &gone})
            for (int k : *part) {
                clique.scope.push_back(graph_.node[k]);
                cells *= double(graph_.sizes[k]);
            }
        double messages = 1.0;
        for (int k : outer) messages *= double(graph_.sizes[k]);
        tree_.n_cells += cells;
        tree_.n_messages += messages;
        if (cells <= kLargestTree) {
            for (int k : outer) clique.n_outer *= graph_.sizes[k];
            for (int k : gone) clique.n_inner *= graph_.sizes[k];
        }
        for (int k : gone) tree_.home[graph_.node[k]] = int(tree_.cliques.size());
        tree_.cliques.push_back(std::move(clique));
    }

    // The scope begins with it; what follows is eliminated here.
    std::vector<int> separator_of(int c) const {
        const std::vector<int>& scope = tree_.cliques[c].scope;
        const auto end = std::find_if(scope.begin(), scope.end(), [&](int node) { return tree_.home[node] == c; });
        return {scope.begin(), end};
    }

    Tree& tree_;
    const Network& network_;
    const std::vector<uint8_t>& relevant_;
    Graph graph_;
    std::vector<int> stage_;     // by number
    std::vector<int> roots_;     // the targets that stay together, by number
    std::vector<int> position_;  // by number
    Elimination found_;
};

}  // namespace

Elimination planned_order(const Network& network, double most_work) {
    const std::vector<uint8_t> all(network.sizes.size(), 1), none(network.sizes.size(), 0);
    const Graph graph(network, all, none);  // which numbers the nodes as they are
    return best_elimination(graph.adjacent, graph.sizes, std::vector<int>(graph.node.size(), 0), 1, most_work);
}

void Tree::compile(const std::vector<uint8_t>& relevant, const std::vector<uint8_t>& observed,
                   const std::vector<int>& last, bool last_is_root, bool maximise_all, const std::vector<int>& order) {
    Compilation made(*this, relevant, observed, last, last_is_root, order);
    if (!made.found().complete) {  // the caller sees the estimate and goes no further
        planned = false;
        n_cells = made.found().n_cells;
        return;
    }
    made.add_cliques(maximise_all);
    if (n_cells > kLargestTree) return;  // so here
    made.join_cliques();
    made.place_tables();
    smallest = home;
    for (int c = 0; c < int(cliques.size()); ++c)
        for (int node : cliques[c].scope)
            if (cliques[c].cells() < cliques[smallest[node]].cells()) smallest[node] = c;
}

}  // namespace bayeswise::networks
