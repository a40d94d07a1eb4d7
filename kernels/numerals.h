// Reading numbers from text, the same in every locale and on every machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

struct Numeral {
    double value = 0.0;
    bool valid = false;     // the text reads as a number (an infinite one included)
    bool integer = false;   // digits only, with or without a sign
    bool padded = false;    // an integer with leading zeros: 0007
    bool wide = false;      // an integer beyond 2^53, where doubles skip values
    bool infinite = false;
};

std::string_view trimmed(std::string_view text);

// Blanks around the number are ignored; "1_000", "0x1F", "1e400" and digits of other scripts are no numbers.
Numeral read_number(std::string_view text, char decimal_mark);

// The double nearest to an integer of any size; infinite beyond 1.8e308.
double wide_value(std::string_view digits);

// The words that mean "missing" in a text file, compared without blanks around them and without ASCII case.
class NullWords {
public:
    explicit NullWords(const std::vector<std::string>& words);
    bool contains(std::string_view text) const;

private:
    std::vector<std::string> words_;
    std::size_t longest_ = 0;
    bool empty_word_ = false;
    bool first_[256] = {};
};

struct TextRules {
    NullWords null_words;
    char decimal_mark = '.';
};
