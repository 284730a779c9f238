// Reads the labels of pack() from a CSV file (RFC 4180) of lines path,label.
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <unordered_map>

#include "stoker/core/interrupt.h"
#include "stoker/io/file.h"
#include "stoker/prepare/pack_input.h"

namespace stoker::prepare {
namespace {

struct Field {
  std::string text;
  bool quoted = false;
};

struct Row {
  int64_t line = 0;  // its first line
  std::vector<Field> fields;
};

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& file) : rest_(text), file_(file) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  }

  // The next row that is not empty; nullopt at the end.
  Result<std::optional<Row>> next() {
    while (take("\r\n") || take("\n")) ++line_;
    if (rest_.empty()) return std::optional<Row>();
    Row row{line_, {}};
    do {
      STOKER_TRY(Field field, take_field());
      row.fields.push_back(std::move(field));
    } while (take(","));
    return std::optional(std::move(row));
  }

 private:
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool at_end_of_field() const {
    return rest_.empty() || rest_[0] == ',' || rest_[0] == '\n' || rest_.starts_with("\r\n");
  }

  Result<Field> take_field() {
    if (take("\"")) return take_quoted();
    Field field;
    for (; !at_end_of_field(); rest_.remove_prefix(1)) field.text += rest_[0];
    return field;
  }

  Result<Field> take_quoted() {
    const int64_t begun = line_;
    Field field{"", true};
    while (true) {
      const size_t quote = rest_.find('"');
      if (quote == std::string_view::npos)
        return Error::corrupt(file_, ":", begun, ": this quoted field has no closing quote");
      field.text += rest_.substr(0, quote);
      line_ += std::ranges::count(rest_.substr(0, quote), '\n');
      rest_.remove_prefix(quote + 1);
      if (!take("\"")) break;
      field.text += '"';
    }
    if (at_end_of_field()) return field;
    return Error::corrupt(file_, ":", line_,
                          ": text after a closing quote, expected a comma or a line break; write a quote inside a "
                          "field twice");
  }

  std::string_view rest_;
  const std::string& file_;
  int64_t line_ = 1;
};

struct Line {
  int64_t number = 0;
  std::string path;
  std::string label;
  int64_t bytes = 0;  // of the image file
};

std::string without_blanks(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_header(const Line& line) {
  const std::string path = lower(without_blanks(line.path)), label = lower(line.label);
  return (path == "path" || path == "file" || path == "filename" || path == "image") &&
         (label == "label" || label == "class");
}

std::optional<int64_t> number_in(const std::string& text) {
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// The lines of the file, checked. Errors name the file and the line.
class LabelFile {
 public:
  LabelFile(const std::string& file, const std::string& folder) : file_(file), folder_(folder) {}

  Result<void> read(std::string_view text) {
    CsvReader csv(text, file_);
    while (true) {
      stop_if_interrupted();
      STOKER_TRY(std::optional<Row> row, csv.next());
      if (!row) break;
      STOKER_TRY(Line line, line_of(*row));
      if (first_ && is_header(line)) {
        first_ = false;
        continue;
      }
      first_ = false;
      STOKER_TRY(add(std::move(line)));
    }
    if (!lines_.empty()) return {};
    return Error::corrupt(file_, " has no labels, expected lines path,label");
  }

  Result<Listing> listing() const {
    Listing listing;
    const bool numbers = number_in(lines_[0].label).has_value();
    if (!numbers) listing.classes = classes();
    for (const Line& line : lines_) {
      const std::optional<int64_t> number = number_in(line.label);
      if (number.has_value() != numbers) return mixed(line, numbers);
      const int64_t label = number ? *number : place_of(line.label, listing.classes);
      listing.images.push_back({line.path, label, line.bytes});
    }
    return listing;
  }

 private:
  Result<Line> line_of(const Row& row) const {
    if (row.fields.size() != 2)
      return wrong(row.line, "got ", row.fields.size(), row.fields.size() == 1 ? " field" : " fields",
                   ", expected path,label; quote a field that contains a comma");
    Line line{row.line, row.fields[0].text, row.fields[1].text};
    if (!row.fields[1].quoted) line.label = without_blanks(line.label);
    return line;
  }

  Result<void> add(Line line) {
    STOKER_TRY(look_at_file(line));
    if (line.label.empty()) return wrong(line.number, "the label of '", line.path, "' is empty");
    const auto [before, fresh] = line_of_path_.emplace(line.path, line.number);
    if (!fresh)
      return wrong(line.number, "'", line.path, "' already has a label in line ", before->second,
                   "; remove one of the two lines");
    lines_.push_back(std::move(line));
    return {};
  }

  Result<void> look_at_file(Line& line) const {
    const std::string path = std::filesystem::path(line.path).lexically_normal().string();
    if (path.empty()) return wrong(line.number, "the path is empty");
    if (path[0] == '/' || path == ".." || path.starts_with("../"))
      return wrong(line.number, "'", line.path, "' is outside of ", folder_, "; use paths relative to this folder");
    struct stat found{};
    const bool any = path.find('\0') == std::string::npos && stat((folder_ + "/" + path).c_str(), &found) == 0;
    if (!any)
      return wrong(line.number, "no file '", line.path, "' in ", folder_,
                   "; use paths relative to this folder, and path,label as the header, if there is one");
    if (!S_ISREG(found.st_mode)) return wrong(line.number, "'", line.path, "' in ", folder_, " is not a regular file");
    line.path = path;
    line.bytes = found.st_size;
    return {};
  }

  Error mixed(const Line& line, bool numbers) const {
    const Line& first = lines_[0];
    return wrong(line.number, "the label '", line.label, "' is ", numbers ? "not a number" : "a number", ", and '",
                 first.label, "' in line ", first.number, " is ", numbers ? "one" : "not",
                 "; write all labels as numbers or all as names");
  }

  std::vector<std::string> classes() const {
    std::set<std::string> names;
    for (const Line& line : lines_) names.insert(line.label);
    return {names.begin(), names.end()};
  }

  static int64_t place_of(const std::string& name, const std::vector<std::string>& sorted) {
    return std::ranges::lower_bound(sorted, name) - sorted.begin();
  }

  template <typename... Parts>
  Error wrong(int64_t line, const Parts&... parts) const {
    return Error::corrupt(file_, ":", line, ": ", parts...);
  }

  const std::string& file_;
  const std::string& folder_;
  bool first_ = true;
  std::vector<Line> lines_;
  std::unordered_map<std::string, int64_t> line_of_path_;
};

}  // namespace

Result<Listing> read_labels(const std::string& file, const std::string& folder) {
  STOKER_TRY(const std::string text, read_file(file));
  LabelFile lines(file, folder);
  STOKER_TRY(lines.read(text));
  return lines.listing();
}

}  // namespace stoker::prepare
