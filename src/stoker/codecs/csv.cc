#include "stoker/codecs/csv.h"

#include <charconv>
#include <limits>

namespace stoker {
namespace {

constexpr size_t kNowhere = Bytes::npos;

// The position after a line end that starts at `at`.
size_t behind_line_end(Bytes text, size_t at) {
  const bool both = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
  return at + (both ? 2 : 1);
}

// The position of the quote that ends a field that started before `at`; kNowhere if there is none.
size_t closing_quote(Bytes text, size_t at) {
  while ((at = text.find('"', at)) != kNowhere && at + 1 < text.size() && text[at + 1] == '"') at += 2;
  return at;
}

class EndFinder {
 public:
  EndFinder(Bytes text, bool whole, CsvDialect dialect) : text_(text), whole_(whole), dialect_(dialect) {}

  std::optional<CsvEnd> find() {
    size_t at = 0;
    while (true) {
      const bool quoted = dialect_.quotes && at < text_.size() && text_[at] == '"';
      at = quoted ? behind_quoted(at) : behind_plain(at);
      if (problem_) return first_line();
      if (at == kNowhere) return std::nullopt;
      if (at == text_.size()) return CsvEnd{at, at};
      if (text_[at] != dialect_.delimiter) return at_line_end(at);
      ++at;
    }
  }

 private:
  // Both return the position of the delimiter, the line end or the end of the text; kNowhere if
  // more of the text is needed.
  size_t behind_quoted(size_t at) {
    const size_t close = closing_quote(text_, at + 1);
    if (close == kNowhere) return whole_ ? problem("a quoted field is not closed", at) : kNowhere;
    const size_t behind = close + 1;
    if (behind == text_.size()) return whole_ ? behind : kNowhere;
    if (text_[behind] == dialect_.delimiter || text_[behind] == '\n' || text_[behind] == '\r') return behind;
    return problem("a quote in a quoted field is not doubled", close);
  }
  size_t behind_plain(size_t at) {
    for (; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == dialect_.delimiter || c == '\n' || c == '\r') return at;
      if (c == '"' && dialect_.quotes) return problem("an unquoted field contains a quote", at);
    }
    return whole_ ? at : kNowhere;
  }
  size_t problem(const char* what, size_t at) {
    problem_ = what;
    problem_at_ = at;
    return kNowhere;
  }

  std::optional<CsvEnd> at_line_end(size_t at) const {
    const bool may_go_on = text_[at] == '\r' && at + 1 == text_.size() && !whole_;
    if (may_go_on) return std::nullopt;
    return CsvEnd{at, behind_line_end(text_, at), problem_, problem_at_};
  }
  std::optional<CsvEnd> first_line() const {
    const size_t end = text_.find_first_of("\r\n");
    if (end != kNowhere) return at_line_end(end);
    if (!whole_) return std::nullopt;
    return CsvEnd{text_.size(), text_.size(), problem_, problem_at_};
  }

  const Bytes text_;
  const bool whole_;
  const CsvDialect dialect_;
  const char* problem_ = nullptr;
  size_t problem_at_ = 0;
};

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

Bytes without_blanks(Bytes text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

template <typename T>
std::optional<Array> whole_number(Bytes text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return Array::of(value);
}

// The value of a number that is out of the range of every type.
template <typename T>
T beyond(Bytes text) {
  const size_t exponent = text.find_first_of("eEpP");
  const bool small = exponent == kNowhere ? text.starts_with("0.") || text.starts_with('.')
                                          : exponent + 1 < text.size() && text[exponent + 1] == '-';
  return small ? T{0} : std::numeric_limits<T>::infinity();
}

template <typename T>
std::optional<Array> real_number(Bytes text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text[0] == '-' || text[0] == '+') return std::nullopt;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  const auto format = hex ? std::chars_format::hex : std::chars_format::general;
  const char* const behind = text.data() + text.size();
  T value{};
  auto [end, problem] = std::from_chars(text.data(), behind, value, format);
  if (end != behind || problem == std::errc::invalid_argument) return std::nullopt;
  if (problem == std::errc::result_out_of_range) {
    long double larger = 0;
    const bool fits = std::from_chars(text.data(), behind, larger, format).ec == std::errc();
    value = fits ? static_cast<T>(larger) : beyond<T>(text);
  }
  return Array::of(negative ? -value : value);
}

}  // namespace

std::optional<CsvEnd> find_csv_end(Bytes text, bool whole, CsvDialect dialect) {
  return EndFinder(text, whole, dialect).find();
}

std::optional<CsvFields::Field> CsvFields::next() {
  if (ended_) return std::nullopt;
  Field field;
  size_t end = 0;
  if (dialect_.quotes && rest_.starts_with('"')) {
    const size_t close = closing_quote(rest_, 1);
    field.text = rest_.substr(1, close - 1);
    field.doubled = field.text.find('"') != kNowhere;
    end = close + 1;
  } else {
    end = std::min(rest_.find(dialect_.delimiter), rest_.size());
    field.text = rest_.substr(0, end);
  }
  ended_ = end >= rest_.size();
  if (!ended_) rest_.remove_prefix(end + 1);
  return field;
}

std::string undoubled(Bytes text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    plain += text[i];
    if (text[i] == '"') ++i;
  }
  return plain;
}

std::optional<Array> parse_csv_number(Bytes text, DType type) {
  text = without_blanks(text);
  switch (type) {
    case DType::kInt32: return whole_number<int32_t>(text);
    case DType::kInt64: return whole_number<int64_t>(text);
    case DType::kFloat32: return real_number<float>(text);
    case DType::kFloat64: return real_number<double>(text);
    default: return std::nullopt;
  }
}

}  // namespace stoker
