// Reading numbers from text, the same in every locale and on every machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tables/text/digits.hpp"

namespace bayeswise::tables {

inline std::string_view trimmed(std::string_view text) {
    while (!text.empty() && numeral_detail::is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && numeral_detail::is_blank(text.back())) text.remove_suffix(1);
    return text;
}

// The rest of read_number: exponents, many digits, infinity. The text has neither blanks around it nor a sign.
Numeral read_any_number(std::string_view text, bool negative, char decimal_mark);

// Blanks around the number are ignored; "1_000", "0x1F", "1e400" and digits of other scripts are not numbers.
inline Numeral read_number(std::string_view text, char decimal_mark) {
    text = trimmed(text);
    if (text.empty()) return Numeral();
    // Signs come and go at random: no branch on them.
    const unsigned negative = text.front() == '-', positive = text.front() == '+';
    text = {text.data() + (negative | positive), text.size() - (negative | positive)};
    Numeral n;
    if (!numeral_detail::read_plain(text.data(), text.data() + text.size(), decimal_mark, n))
        return read_any_number(text, negative != 0, decimal_mark);
    n.value *= numeral_detail::kSigns[negative];
    return n;
}

// The double nearest to an integer of any size; infinite beyond 1.8e308.
double wide_value(std::string_view digits);

// The words that mean "missing" in a text file, compared without blanks around them and without ASCII case.
class NullWords {
public:
    explicit NullWords(const std::vector<std::string>& words);
    bool contains(std::string_view text) const {
        if (!text.empty() && !first_[static_cast<unsigned char>(text[0])]) return false;
        return found(text);
    }

private:
    bool found(std::string_view text) const;

    std::vector<std::string> words_;
    std::size_t longest_ = 0;
    bool empty_word_ = false;
    bool first_[256] = {};
};

struct TextRules {
    NullWords null_words;
    char decimal_mark = '.';
};

}  // namespace bayeswise::tables
