// Log joints of rows under classifiers whose columns depend on each other: a tree, or the average of one-dependence
// models. Missing cells (code -1) are summed out exactly; an unseen level (code -2) has the last slot of its column.
//
// The table of column c given column p is (sizes[p] + 1, sizes[c] + 1, n_states), the states changing fastest; that of
// a column without a parent has one row in place of sizes[p] + 1.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/require.hpp"

namespace nb = nanobind;

namespace bayeswise::models {

namespace {

using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr double kNever = -std::numeric_limits<double>::infinity();

bool codes_fit(const Codes& codes, const Integers& sizes) {
    const int64_t n_rows = codes.shape(0), n_columns = codes.shape(1);
    const int32_t* code = codes.data();
    bool fits = true;
    for (int64_t r = 0; r < n_rows; ++r)
        for (int64_t c = 0; c < n_columns; ++c, ++code) fits &= *code >= -2 && *code < sizes.data()[c];
    return fits;
}

// out[k] = log sum over terms t of exp(terms[t * n_states + k]); minus infinity where all terms are.
void log_sum_terms(const double* terms, int64_t n_terms, int64_t n_states, double* out) {
    for (int64_t k = 0; k < n_states; ++k) {
        double top = kNever, total = 0.0;
        for (int64_t t = 0; t < n_terms; ++t) top = std::max(top, terms[t * n_states + k]);
        if (top > kNever)
            for (int64_t t = 0; t < n_terms; ++t) total += std::exp(terms[t * n_states + k] - top);
        out[k] = top > kNever ? top + std::log(total) : kNever;
    }
}

void add(double* sums, const double* terms, int64_t n_states) {
    for (int64_t k = 0; k < n_states; ++k) sums[k] += terms[k];
}

struct Tree {
    int64_t n_columns, n_states;
    const int64_t* sizes;
    const int64_t* parents;  // -1: none
    const int64_t* order;    // parents before children
    std::vector<const double*> tables;
    std::vector<int64_t> message_starts;  // of each column in the scratch
    int64_t n_message_cells = 0, widest = 0;

    const double* cell(int64_t column, int64_t above, int64_t level) const {
        return tables[column] + (above * (sizes[column] + 1) + level) * n_states;
    }
};

int64_t slot(int64_t code, int64_t size) { return code == -2 ? size : code; }

class TreeRows {
public:
    explicit TreeRows(const Tree& tree)
        : tree_(tree), messages_(tree.n_message_cells), has_message_(tree.n_columns),
          terms_(tree.widest * tree.n_states), sum_(tree.n_states) {}

    // The messages go up from the last column to the first; only missing cells need them.
    void add_row(const int32_t* row, double* joint) {
        if (std::find(row, row + tree_.n_columns, -1) == row + tree_.n_columns) return add_whole_row(row, joint);
        std::fill(has_message_.begin(), has_message_.end(), false);
        for (int64_t k = tree_.n_columns - 1; k >= 0; --k) add_column(tree_.order[k], row, joint);
    }

private:
    void add_whole_row(const int32_t* row, double* joint) const {
        for (int64_t c = 0; c < tree_.n_columns; ++c) {
            const int64_t p = tree_.parents[c];
            const int64_t above = p < 0 ? 0 : slot(row[p], tree_.sizes[p]);
            add(joint, tree_.cell(c, above, slot(row[c], tree_.sizes[c])), tree_.n_states);
        }
    }

    void add_column(int64_t c, const int32_t* row, double* joint) {
        if (row[c] == -1 && !has_message_[c]) return;  // barren: its probabilities sum to one
        const int64_t p = tree_.parents[c], n_states = tree_.n_states;
        if (p < 0 || row[p] != -1) {
            add(joint, column_given(c, p < 0 ? 0 : slot(row[p], tree_.sizes[p]), row[c]), n_states);
            return;
        }
        double* message = messages_.data() + tree_.message_starts[p];
        if (!has_message_[p]) std::fill(message, message + tree_.sizes[p] * n_states, 0.0);
        has_message_[p] = true;
        for (int64_t above = 0; above < tree_.sizes[p]; ++above)
            add(message + above * n_states, column_given(c, above, row[c]), n_states);
    }

    // log p(what is known of the column and below it | its parent's level, state)
    const double* column_given(int64_t c, int64_t above, int64_t code) {
        if (code != -1) return tree_.cell(c, above, slot(code, tree_.sizes[c]));
        const int64_t n_cells = tree_.sizes[c] * tree_.n_states;
        const double* cells = tree_.cell(c, above, 0);
        const double* message = messages_.data() + tree_.message_starts[c];
        for (int64_t k = 0; k < n_cells; ++k) terms_[k] = cells[k] + message[k];
        log_sum_terms(terms_.data(), tree_.sizes[c], tree_.n_states, sum_.data());
        return sum_.data();
    }

    const Tree& tree_;
    std::vector<double> messages_;
    std::vector<char> has_message_;
    std::vector<double> terms_, sum_;
};

void add_tree(Matrix log_joint, Codes codes, Integers sizes, Integers parents, Integers order, Integers starts,
              Numbers tables) {
    Tree tree;
    tree.n_columns = codes.shape(1);
    tree.n_states = log_joint.shape(1);
    for (const Integers* each : {&sizes, &parents, &order, &starts})
        require(static_cast<int64_t>(each->shape(0)) == tree.n_columns, "the columns differ in number");
    require(log_joint.shape(0) == codes.shape(0), "the log joint has another number of rows");
    tree.sizes = sizes.data();
    tree.parents = parents.data();
    tree.order = order.data();
    std::vector<char> met(tree.n_columns, false);
    for (int64_t k = 0; k < tree.n_columns; ++k) {
        const int64_t c = tree.order[k];
        require(c >= 0 && c < tree.n_columns && !met[c], "the order does not name each column once");
        const int64_t p = tree.parents[c];
        require(p == -1 || (p >= 0 && p < tree.n_columns && met[p]), "a column comes before its parent");
        met[c] = true;
    }
    for (int64_t c = 0; c < tree.n_columns; ++c) {
        const int64_t above = tree.parents[c] < 0 ? 1 : tree.sizes[tree.parents[c]] + 1;
        const int64_t end = starts.data()[c] + above * (tree.sizes[c] + 1) * tree.n_states;
        require(tree.sizes[c] >= 0 && starts.data()[c] >= 0 && end <= static_cast<int64_t>(tables.shape(0)),
                "a table lies outside");
        tree.tables.push_back(tables.data() + starts.data()[c]);
        tree.message_starts.push_back(tree.n_message_cells);
        tree.n_message_cells += tree.sizes[c] * tree.n_states;
        tree.widest = std::max(tree.widest, tree.sizes[c]);
    }
    bool fits = true;
    {
        nb::gil_scoped_release release;
        fits = codes_fit(codes, sizes);
        TreeRows rows(tree);
        const int64_t n_rows = fits ? codes.shape(0) : 0;
        for (int64_t r = 0; r < n_rows; ++r)
            rows.add_row(codes.data() + r * tree.n_columns, log_joint.data() + r * tree.n_states);
    }
    require(fits, "a code lies outside its table");
}

// log_joint += log of the mean over superparents of p(cell | state) prod p(other cells | cell, state).
//
// All slots (levels and unseen) of all columns stand in one row; pairs is (n_slots, n_slots, n_states), the superparent's
// slot first. A column's table given itself is zero, so a row's sum over its slots needs no exception.
class Superparents {
public:
    Superparents(int64_t n_columns, int64_t n_states, const int64_t* sizes, const double* pairs, const double* singles,
                 const bool* allowed)
        : n_columns_(n_columns), n_states_(n_states), sizes_(sizes), pairs_(pairs), singles_(singles),
          allowed_(allowed), sum_(n_states) {
        for (int64_t c = 0; c < n_columns; ++c) {
            first_.push_back(n_slots_);
            n_slots_ += sizes[c] + 1;
        }
    }

    void add_row(const int32_t* row, double* joint) {
        here_.clear();
        terms_.clear();
        for (int64_t c = 0; c < n_columns_; ++c)
            if (row[c] != -1) here_.push_back(first_[c] + slot(row[c], sizes_[c]));
        int64_t n_parents = 0;
        for (const int64_t parent : here_) n_parents += add_term(parent);
        for (int64_t c = 0; c < n_columns_; ++c) {
            if (row[c] != -1) continue;
            bool any = false;
            for (int64_t level = 0; level < sizes_[c]; ++level) any |= add_term(first_[c] + level);
            n_parents += any;
        }
        if (n_parents == 0) {
            for (const int64_t cell : here_) add(joint, singles_ + cell * n_states_, n_states_);
            return;
        }
        log_sum_terms(terms_.data(), terms_.size() / n_states_, n_states_, sum_.data());
        const double log_count = std::log(static_cast<double>(n_parents));
        for (int64_t k = 0; k < n_states_; ++k) joint[k] += sum_[k] - log_count;
    }

private:
    bool add_term(int64_t parent) {
        if (!allowed_[parent]) return false;
        const double* single = singles_ + parent * n_states_;
        terms_.insert(terms_.end(), single, single + n_states_);
        double* term = terms_.data() + terms_.size() - n_states_;
        const double* table = pairs_ + parent * n_slots_ * n_states_;
        switch (n_states_) {
            case 2: add_cells<2>(term, table); break;
            case 3: add_cells<3>(term, table); break;
            case 4: add_cells<4>(term, table); break;
            default:
                for (const int64_t cell : here_) add(term, table + cell * n_states_, n_states_);
        }
        return true;
    }

    template <int K>
    void add_cells(double* term, const double* table) const {
        double sums[K];
        std::copy(term, term + K, sums);
        for (const int64_t cell : here_)
            for (int k = 0; k < K; ++k) sums[k] += table[cell * K + k];
        std::copy(sums, sums + K, term);
    }

    int64_t n_columns_, n_states_, n_slots_ = 0;
    const int64_t* sizes_;
    const double* pairs_;
    const double* singles_;
    const bool* allowed_;
    std::vector<int64_t> first_, here_;  // of each column; the slots of the row's cells
    std::vector<double> terms_, sum_;
};

void add_superparents(Matrix log_joint, Codes codes, Integers sizes, Cube pairs, Table singles, Flags allowed) {
    const int64_t n_columns = codes.shape(1), n_states = log_joint.shape(1), n_rows = codes.shape(0);
    require(static_cast<int64_t>(log_joint.shape(0)) == n_rows, "the log joint has another number of rows");
    require(static_cast<int64_t>(sizes.shape(0)) == n_columns, "the columns differ in number");
    size_t n_slots = 0;
    for (int64_t c = 0; c < n_columns; ++c) {
        require(sizes.data()[c] >= 0, "a size is negative");
        n_slots += sizes.data()[c] + 1;
    }
    const size_t k = n_states;
    require(pairs.shape(0) == n_slots && pairs.shape(1) == n_slots && pairs.shape(2) == k, "the pairs do not fit");
    require(singles.shape(0) == n_slots && singles.shape(1) == k && allowed.shape(0) == n_slots,
            "the tables of single columns do not fit");
    bool fits = true;
    {
        nb::gil_scoped_release release;
        fits = codes_fit(codes, sizes);
        Superparents model(n_columns, n_states, sizes.data(), pairs.data(), singles.data(), allowed.data());
        for (int64_t r = 0; fits && r < n_rows; ++r)
            model.add_row(codes.data() + r * n_columns, log_joint.data() + r * n_states);
    }
    require(fits, "a code lies outside its table");
}

}  // namespace

void bind_dependences(nb::module_& m) {
    m.def("add_tree", &add_tree, nb::arg("log_joint").noconvert(), nb::arg("codes").noconvert(), nb::arg("sizes"),
          nb::arg("parents"), nb::arg("order"), nb::arg("starts"), nb::arg("tables").noconvert(),
          "log_joint += log p(row | state) of a tree of columns; missing cells are summed out");
    m.def("add_superparents", &add_superparents, nb::arg("log_joint").noconvert(), nb::arg("codes").noconvert(),
          nb::arg("sizes"), nb::arg("pairs").noconvert(), nb::arg("singles").noconvert(),
          nb::arg("allowed").noconvert(), "log_joint += log of the mean over superparents of p(row | state)");
}

}  // namespace bayeswise::models
