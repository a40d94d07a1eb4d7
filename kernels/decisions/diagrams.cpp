// Influence diagrams: all variables but some summed out of probabilities and utilities, and the best options of what is
// left. Eliminating x from the tables p(x, ...) and u(x, ...) that mention it leaves sum_x p and sum_x p u / sum_x p.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "common/interrupts.hpp"
#include "common/require.hpp"
#include "networks/factors.hpp"

namespace nb = nanobind;

namespace bayeswise::decisions {

namespace {

using networks::add;
using networks::multiply;
using networks::spread;
using networks::Walk;
using Table = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Mask = nb::ndarray<const bool, nb::c_contig, nb::device::cpu>;

constexpr double kSmall = 1e-100;              // products below it are scaled
constexpr size_t kCellsWorthAsking = 1 << 16;  // a smaller step is done before anybody could interrupt it
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

template <typename T>
nb::ndarray<nb::numpy, T> owned(std::unique_ptr<T[]> cells, const std::vector<size_t>& shape) {
    T* first = cells.release();
    const nb::capsule owner(first, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T>(first, shape.size(), shape.data(), owner);
}

using Scope = std::vector<int>;  // variables, ascending; the axes of a table

Scope joined(const Scope& one, const Scope& other) {
    Scope all;
    std::set_union(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(all));
    return all;
}

Scope without(Scope scope, int x) {
    scope.erase(std::find(scope.begin(), scope.end(), x));
    return scope;
}

struct Term {  // a table, and how the cells of a step walk through it
    int slot;
    Walk walk;
};

struct Axis {  // the one that is summed out, between those before and after it
    size_t n_outer = 1, n = 1, n_inner = 1;
    size_t n_cells() const { return n_outer * n * n_inner; }

    // sum[outer, inner] = sum_k cells[outer, k, inner]
    void sum_out(const double* cells, std::vector<double>& sum) const {
        sum.assign(n_outer * n_inner, 0.0);
        for (size_t outer = 0; outer < n_outer; ++outer) {
            double* row = sum.data() + outer * n_inner;
            for (size_t k = 0; k < n; ++k, cells += n_inner)
                for (size_t inner = 0; inner < n_inner; ++inner) row[inner] += cells[inner];
        }
    }
};

struct Group {  // utilities that are summed out together, as what they meet has the same variables
    std::vector<Term> utilities;
    Walk joint, total;
    Axis axis;
};

struct Step {  // one variable less: the tables that mention it
    std::vector<Term> probabilities;
    Axis axis;
    bool is_conditional = false;  // the only probability is p(x | ...): its sum is one and leaves nothing behind
    std::vector<Group> groups;
};

// Tables by slot, found by any of their variables.
struct Tables {
    std::vector<std::vector<int>> of_variable;

    void add(int slot, const Scope& scope) {
        for (int v : scope) of_variable[size_t(v)].push_back(slot);
    }
    // The tables that mention x, which are no longer there.
    std::vector<int> take(int x, const std::vector<Scope>& scopes) {
        const std::vector<int> taken = of_variable[size_t(x)];
        for (int slot : taken)
            for (int v : scopes[size_t(slot)]) {
                auto& slots = of_variable[size_t(v)];
                slots.erase(std::find(slots.begin(), slots.end(), slot));
            }
        return taken;
    }
};

// How to sum out all variables but the kept ones: planned once from the variables of the tables, run for any numbers.
class PairElimination {
public:
    // Variables are numbered from 0 on; `of` is x where a table is p(x | the others), else -1.
    PairElimination(const std::vector<int64_t>& sizes, const std::vector<Scope>& scopes,
                    const std::vector<bool>& is_utility, const std::vector<int>& of, const Scope& keep, double largest)
        : sizes_(sizes), scopes_(scopes), of_(of), keep_(keep), largest_(largest), n_inputs_(scopes.size()) {
        require(is_utility.size() == n_inputs_ && of.size() == n_inputs_, "one entry for each table is needed");
        probabilities_.of_variable.resize(sizes.size());
        utilities_.of_variable.resize(sizes.size());
        require_scope(keep);
        std::vector<bool> waits(sizes.size(), false);
        for (size_t slot = 0; slot < n_inputs_; ++slot) {
            require_scope(scopes[slot]);
            (is_utility[slot] ? utilities_ : probabilities_).add(int(slot), scopes[slot]);
            for (int v : scopes[slot]) waits[size_t(v)] = true;
        }
        used_.assign(n_inputs_, false);
        utility_ = is_utility;
        for (int v : keep) waits[size_t(v)] = false;
        if (fits(keep_)) plan(waits);
        if (!too_large_.empty()) return;
        for (size_t slot = 0; slot < scopes_.size(); ++slot)
            if (!used_[slot])
                (utility_[slot] ? last_utilities_ : last_probabilities_).push_back(term(int(slot), keep_));
    }

    const Scope& too_large() const { return too_large_; }
    double n_cells() const { return n_cells_; }
    size_t n_steps() const { return steps_.size(); }

    // p and u of the kept variables, and the logarithm of what p was divided by.
    nb::tuple run(const std::vector<Table>& tables) const {
        require(too_large_.empty() && tables.size() == n_inputs_, "the tables do not fit the plan");
        std::vector<const double*> slots;
        for (size_t slot = 0; slot < n_inputs_; ++slot) {
            require(double(tables[slot].size()) == cells_of(scopes_[slot]), "a table does not have its size");
            slots.push_back(tables[slot].data());
        }
        const size_t n_kept = size_t(cells_of(keep_));
        std::unique_ptr<double[]> probability(new double[n_kept]), utility(new double[n_kept]);
        double log_scale = 0.0;
        {
            const nb::gil_scoped_release unlocked;
            log_scale = eliminate(slots, n_kept, probability.get(), utility.get());
        }
        std::vector<size_t> shape;
        for (int v : keep_) shape.push_back(size_t(sizes_[size_t(v)]));
        return nb::make_tuple(owned(std::move(probability), shape), owned(std::move(utility), shape), log_scale);
    }

private:
    std::vector<int64_t> sizes_;
    std::vector<Scope> scopes_;  // by slot: what goes in, then what the steps leave
    std::vector<bool> utility_, used_;
    std::vector<int> of_;
    Scope keep_, too_large_;
    double largest_, n_cells_ = 1.0;
    size_t n_inputs_;
    Tables probabilities_, utilities_;
    std::vector<Step> steps_;
    std::vector<Term> last_probabilities_, last_utilities_;

    void require_scope(const Scope& scope) const {
        for (size_t k = 0; k < scope.size(); ++k)
            require(scope[k] >= (k ? scope[k - 1] + 1 : 0) && size_t(scope[k]) < sizes_.size(),
                    "variables are not ascending, or not known");
    }

    // -- planning ---------------------------------------------------------------------------------------------
    double cells_of(const Scope& scope) const {
        double cells = 1.0;
        for (int v : scope) cells *= double(sizes_[size_t(v)]);
        return cells;
    }

    bool fits(const Scope& scope) {
        n_cells_ = std::max(n_cells_, cells_of(scope));
        if (n_cells_ > largest_) too_large_ = scope;
        return too_large_.empty();
    }

    Scope joint_of(int x) const {
        Scope joint{x};
        for (int slot : probabilities_.of_variable[size_t(x)]) joint = joined(joint, scopes_[size_t(slot)]);
        return joint;
    }

    double weight_of(int x) const {
        const Scope joint = joint_of(x);
        double weight = cells_of(joint);
        for (int slot : utilities_.of_variable[size_t(x)]) weight += cells_of(joined(joint, scopes_[size_t(slot)]));
        return weight;
    }

    // Greedily the variable whose step has the smallest tables; only its neighbours are weighed again.
    void plan(std::vector<bool>& waits) {
        std::vector<double> weight(sizes_.size(), 0.0);
        for (size_t v = 0; v < sizes_.size(); ++v)
            if (waits[v]) weight[v] = weight_of(int(v));
        for (;;) {
            int x = -1;
            for (size_t v = 0; v < sizes_.size(); ++v)
                if (waits[v] && (x < 0 || weight[v] < weight[size_t(x)])) x = int(v);
            if (x < 0) return;
            waits[size_t(x)] = false;
            const size_t n_before = scopes_.size();
            if (!add_step(x)) return;
            for (size_t slot = n_before; slot < scopes_.size(); ++slot)  // what is left mentions all neighbours
                for (int v : scopes_[slot])
                    if (waits[size_t(v)]) weight[size_t(v)] = weight_of(v);
        }
    }

    bool add_step(int x) {
        const Scope joint = joint_of(x), rest = without(joint, x);
        const std::vector<int> met = probabilities_.take(x, scopes_), gained = utilities_.take(x, scopes_);
        Step step;
        step.axis = axis_of(x, joint);
        step.is_conditional = met.size() == 1 && size_t(met[0]) < n_inputs_ && of_[size_t(met[0])] == x;
        for (int slot : met) step.probabilities.push_back(term(slot, joint));
        if (!step.is_conditional) leave(rest, false);
        std::vector<Scope> unions;
        for (int slot : gained) {
            Scope all = joined(joint, scopes_[size_t(slot)]);
            const size_t place = size_t(std::find(unions.begin(), unions.end(), all) - unions.begin());
            if (place == unions.size()) {
                if (!fits(all)) return false;
                const Scope left = without(all, x);
                step.groups.push_back({{}, walk(joint, all), walk(rest, left), axis_of(x, all)});
                unions.push_back(std::move(all));
            }
            step.groups[place].utilities.push_back(term(slot, unions[place]));
        }
        if (unions.empty() && !fits(joint)) return false;
        for (const Scope& all : unions) leave(without(all, x), true);
        for (int slot : met) used_[size_t(slot)] = true;
        for (int slot : gained) used_[size_t(slot)] = true;
        steps_.push_back(std::move(step));
        return true;
    }

    void leave(const Scope& scope, bool is_utility) {
        (is_utility ? utilities_ : probabilities_).add(int(scopes_.size()), scope);
        scopes_.push_back(scope);
        utility_.push_back(is_utility);
        used_.push_back(false);
    }

    Axis axis_of(int x, const Scope& scope) const {
        Axis axis;
        for (int v : scope) (v < x ? axis.n_outer : v > x ? axis.n_inner : axis.n) *= size_t(sizes_[size_t(v)]);
        return axis;
    }

    Term term(int slot, const Scope& all) const { return {slot, walk(scopes_[size_t(slot)], all)}; }

    // How the cells of `all` walk through a table whose variables are among them.
    Walk walk(const Scope& scope, const Scope& all) const {
        std::vector<int64_t> sizes(all.size()), strides(all.size(), 0);
        int64_t stride = 1;
        for (size_t axis = all.size(); axis-- > 0;) {
            sizes[axis] = sizes_[size_t(all[axis])];
            if (!std::binary_search(scope.begin(), scope.end(), all[axis])) continue;
            strides[axis] = stride;
            stride *= sizes[axis];
        }
        return Walk(sizes, strides);
    }

    // -- running ----------------------------------------------------------------------------------------------
    double eliminate(std::vector<const double*>& slots, size_t n_kept, double* probability, double* utility) const {
        std::vector<std::vector<double>> made(scopes_.size() - n_inputs_);
        const auto next = [&]() -> std::vector<double>& { return made[slots.size() - n_inputs_]; };
        std::vector<double> product, values;
        double log_scale = 0.0;
        for (const Step& step : steps_) {
            if (step.axis.n_cells() > kCellsWorthAsking) check_interrupts();
            const double* joint = product_of(step, slots, product, log_scale);
            const double* total = nullptr;
            if (!step.is_conditional) {
                step.axis.sum_out(joint, next());
                slots.push_back(total = next().data());
            }
            for (const Group& group : step.groups) {
                values.resize(group.axis.n_cells());
                if (values.size() > kCellsWorthAsking) check_interrupts();
                spread(values.data(), group.utilities[0].walk, 0, slots[size_t(group.utilities[0].slot)]);
                for (size_t k = 1; k < group.utilities.size(); ++k)
                    add(values.data(), group.utilities[k].walk, 0, slots[size_t(group.utilities[k].slot)]);
                multiply(values.data(), group.joint, 0, joint);
                std::vector<double>& mean = next();
                group.axis.sum_out(values.data(), mean);
                if (total)
                    networks::combine(mean.data(), group.total, 0, total,
                                      [](double& cell, double by) { cell = by > 0.0 ? cell / by : 0.0; });
                slots.push_back(mean.data());
                forget(group.utilities, made);
            }
            forget(step.probabilities, made);
        }
        std::fill_n(probability, n_kept, 1.0);
        for (const Term& each : last_probabilities_) {
            const double* table = slots[size_t(each.slot)];
            if (cells_of(scopes_[size_t(each.slot)]) == 1.0 &&
                table[0] > 0.0)  // much evidence makes many small numbers
                log_scale += std::log(table[0]);
            else
                multiply(probability, each.walk, 0, table);
        }
        std::fill_n(utility, n_kept, 0.0);
        for (const Term& each : last_utilities_) add(utility, each.walk, 0, slots[size_t(each.slot)]);
        return log_scale;
    }

    // The product of the probabilities of a step; what it is divided by where it would end in zeros goes to the scale.
    static const double* product_of(const Step& step, const std::vector<const double*>& slots,
                                    std::vector<double>& product, double& log_scale) {
        if (step.probabilities.size() == 1) return slots[size_t(step.probabilities[0].slot)];
        product.assign(step.axis.n_cells(), 1.0);
        for (const Term& each : step.probabilities) multiply(product.data(), each.walk, 0, slots[size_t(each.slot)]);
        if (step.probabilities.empty() || *std::max_element(product.begin(), product.end()) >= kSmall)
            return product.data();
        double log_top = 0.0;
        std::fill(product.begin(), product.end(), 1.0);
        for (const Term& each : step.probabilities) {
            multiply(product.data(), each.walk, 0, slots[size_t(each.slot)]);
            const double top = *std::max_element(product.begin(), product.end());
            if (top == 0.0) return product.data();
            for (double& cell : product) cell /= top;
            log_top += std::log(top);
        }
        log_scale += log_top;
        return product.data();
    }

    void forget(const std::vector<Term>& terms, std::vector<std::vector<double>>& made) const {
        for (const Term& each : terms)
            if (size_t(each.slot) >= n_inputs_) std::vector<double>().swap(made[size_t(each.slot) - n_inputs_]);
    }
};

// For each case of (..., n_options, ...) the first option whose utility is within `near` of the greatest of those that
// are allowed (cases, n_options): (option, utility of it, utilities, whether it is possible, which are as good, and
// whether there is a possible case with several); the options are the last axis of what is answered.
nb::tuple best_options(const Table& probability, const Table& utility, size_t axis, double near,
                       const std::optional<Mask>& allowed) {
    require(axis < utility.ndim() && probability.size() == utility.size(), "the tables have no such axis");
    const size_t n = utility.shape(axis), n_cases = n ? utility.size() / n : 0;
    require(!allowed || allowed->size() == utility.size(), "each option is allowed or not");
    Axis axes;
    std::vector<size_t> shape, with_options;
    for (size_t k = 0; k < utility.ndim(); ++k) {
        (k < axis ? axes.n_outer : k > axis ? axes.n_inner : axes.n) *= utility.shape(k);
        if (k != axis) shape.push_back(utility.shape(k));
    }
    with_options = shape;
    with_options.push_back(n);
    std::unique_ptr<int64_t[]> option(new int64_t[n_cases]);
    std::unique_ptr<double[]> value(new double[n_cases]), expected(new double[n_cases * n]);
    std::unique_ptr<bool[]> possible(new bool[n_cases]), best(new bool[n_cases * n]);
    bool tied = false;
    {
        const nb::gil_scoped_release unlocked;
        for (size_t at = 0; at < n_cases; ++at) {
            const size_t first = at / axes.n_inner * n * axes.n_inner + at % axes.n_inner;
            double *row = expected.get() + at * n, top = kMinusInfinity;
            bool* good = best.get() + at * n;
            bool can_be = false;
            for (size_t k = 0; k < n; ++k) {
                row[k] = utility.data()[first + k * axes.n_inner];
                can_be |= probability.data()[first + k * axes.n_inner] > 0.0;
                good[k] = !allowed || allowed->data()[at * n + k];
                if (good[k]) top = std::max(top, row[k]);
            }
            size_t n_good = 0, chosen = n;
            for (size_t k = 0; k < n; ++k) {
                good[k] = good[k] && row[k] >= top - near;
                n_good += good[k];
                if (good[k] && chosen == n) chosen = k;
            }
            option[at] = int64_t(chosen);
            value[at] = row[chosen];
            possible[at] = can_be;
            tied |= can_be && n_good > 1;
        }
    }
    return nb::make_tuple(owned(std::move(option), shape), owned(std::move(value), shape),
                          owned(std::move(expected), with_options), owned(std::move(possible), shape),
                          owned(std::move(best), with_options), tied);
}

}  // namespace

void bind_diagrams(nb::module_& m) {
    nb::class_<PairElimination>(m, "PairElimination")
        .def(nb::init<const std::vector<int64_t>&, const std::vector<Scope>&, const std::vector<bool>&,
                      const std::vector<int>&, const Scope&, double>())
        .def_prop_ro("n_cells", &PairElimination::n_cells)
        .def_prop_ro("n_steps", &PairElimination::n_steps)
        .def_prop_ro("too_large", &PairElimination::too_large)
        .def("run", &PairElimination::run);
    m.def("best_options", &best_options, nb::arg("probability"), nb::arg("utility"), nb::arg("axis"), nb::arg("near"),
          nb::arg("allowed").none());
}

}  // namespace bayeswise::decisions
