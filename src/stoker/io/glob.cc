#include "stoker/io/glob.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include <dirent.h>
#include <sys/stat.h>

#include "stoker/core/interrupt.h"

namespace stoker {
namespace {

constexpr std::string_view kSpecial = "*?[\\";

// The size of the first character in bytes; 1 if it is not UTF-8.
size_t character_size(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t size = byte(0) < 0xC2 ? 1 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : byte(0) < 0xF5 ? 4 : 1;
  if (size > text.size()) return 1;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 1;
  return size;
}

// Removes and returns the first character.
std::string_view take(std::string_view& text) {
  const std::string_view character = text.substr(0, character_size(text));
  text.remove_prefix(character.size());
  return character;
}

std::string_view take_literal(std::string_view& pattern) {
  if (pattern.size() > 1 && pattern[0] == '\\') pattern.remove_prefix(1);
  return take(pattern);
}

// Whether a bracket expression, whose first bracket was already removed, contains the character.
// Nothing if it has no closing bracket. UTF-8 sorts by bytes as it does by characters.
std::optional<bool> take_list(std::string_view& pattern, std::string_view character) {
  std::string_view rest = pattern;
  const bool inverted = !rest.empty() && (rest[0] == '!' || rest[0] == '^');
  if (inverted) rest.remove_prefix(1);
  bool found = false;
  for (bool first = true; !rest.empty(); first = false) {
    if (rest[0] == ']' && !first) {
      pattern = rest.substr(1);
      return found != inverted;
    }
    const std::string_view low = take_literal(rest);
    std::string_view high = low;
    if (rest.size() > 1 && rest[0] == '-' && rest[1] != ']') {
      rest.remove_prefix(1);
      high = take_literal(rest);
    }
    found |= low <= character && character <= high;
  }
  return std::nullopt;
}

// Whether the first part of the pattern, which is not a star, matches the first character of the
// name. Removes both.
bool take_match(std::string_view& pattern, std::string_view& name) {
  if (pattern.empty() || name.empty()) return false;
  const std::string_view character = take(name);
  if (pattern[0] == '?') {
    pattern.remove_prefix(1);
    return true;
  }
  if (pattern[0] == '[') {
    std::string_view list = pattern.substr(1);
    if (const std::optional<bool> found = take_list(list, character)) {
      pattern = list;
      return *found;
    }
  }
  return take_literal(pattern) == character;
}

bool is_pattern(std::string_view text) { return text.find_first_of(kSpecial) != std::string_view::npos; }

std::string join(const std::string& directory, std::string_view name) {
  if (directory.empty()) return std::string(name);
  return directory + (directory.back() == '/' ? "" : "/") + std::string(name);
}

bool is_directory(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_absent(int number) { return number == ENOENT || number == ENOTDIR || number == ELOOP; }

Result<bool> exists(const std::string& path) {
  struct stat status;
  if (lstat(path.c_str(), &status) == 0) return true;
  if (is_absent(errno)) return false;
  return Error::io("cannot access ", path).set_path(path);
}

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// The names in a directory except "." and ".."; empty if the path is not a directory.
Result<std::vector<std::string>> names_in(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseDirectory> open(opendir(directory.c_str()));
  if (!open && is_absent(errno)) return names;
  if (!open) return Error::io("cannot list the directory ", directory).set_path(directory);
  for (;;) {
    stop_if_interrupted();
    errno = 0;
    const dirent* entry = readdir(open.get());
    if (!entry && errno != 0) return Error::io("cannot list the directory ", directory).set_path(directory);
    if (!entry) return names;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

// A pattern in two parts: the directory without special characters, and the components to search
// for below it.
struct Search {
  std::string start;
  std::vector<std::string> components;
};

Search search_of(const std::string& pattern) {
  const size_t slash = pattern.rfind('/', pattern.find_first_of(kSpecial));
  Search search{slash == std::string::npos ? "." : pattern.substr(0, std::max<size_t>(slash, 1)), {}};
  std::string_view rest(pattern);
  rest.remove_prefix(slash == std::string::npos ? 0 : slash + 1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('/'), rest.size());
    if (end > 0) search.components.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return search;
}

Result<std::vector<std::string>> fitting_in(const std::string& directory, const std::string& component) {
  std::vector<std::string> paths;
  if (!is_pattern(component)) {
    std::string path = join(directory, component);
    STOKER_TRY(const bool there, exists(path));
    if (there) paths.push_back(std::move(path));
    return paths;
  }
  STOKER_TRY(const std::vector<std::string> names, names_in(directory));
  for (const std::string& name : names)
    if (matches(component, name)) paths.push_back(join(directory, name));
  return paths;
}

Result<std::vector<std::string>> find(const std::string& pattern) {
  if (!is_pattern(pattern)) {
    STOKER_TRY(const bool there, exists(pattern));
    return there ? std::vector{pattern} : std::vector<std::string>();
  }
  const Search search = search_of(pattern);
  std::vector<std::string> found = {search.start};
  for (const std::string& component : search.components) {
    std::vector<std::string> deeper;
    for (const std::string& directory : found) {
      if (!is_directory(directory)) continue;
      STOKER_TRY(std::vector<std::string> paths, fitting_in(directory, component));
      std::move(paths.begin(), paths.end(), std::back_inserter(deeper));
    }
    found = std::move(deeper);
  }
  return found;
}

Error nothing_fits(const std::vector<std::string>& patterns) {
  std::string list = "'" + patterns.front() + "'";
  if (patterns.size() > 1) list += " or any of " + std::to_string(patterns.size() - 1) + " more patterns";
  const std::string start = search_of(patterns.front()).start;
  if (!is_directory(start))
    return Error::invalid("no file matches ", list, ": the directory '", start, "' does not exist");
  return Error::invalid("no file matches ", list, ": the directory '", start,
                        "' exists; patterns are case-sensitive, and * and ? do not match /");
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  // Where to continue if the last star has to match one more character.
  std::optional<std::pair<std::string_view, std::string_view>> retry;
  for (;;) {
    if (!pattern.empty() && pattern[0] == '*') {
      pattern.remove_prefix(1);
      retry.emplace(pattern, name);
      continue;
    }
    if (pattern.empty() && name.empty()) return true;
    if (take_match(pattern, name)) continue;
    if (!retry || retry->second.empty()) return false;
    take(retry->second);
    std::tie(pattern, name) = *retry;
  }
}

Result<std::vector<std::string>> list_files(const std::vector<std::string>& patterns) {
  if (patterns.empty()) return Error::invalid("expected at least one pattern, got an empty list");
  std::vector<std::string> files;
  for (const std::string& pattern : patterns) {
    STOKER_TRY(std::vector<std::string> found, find(pattern));
    std::move(found.begin(), found.end(), std::back_inserter(files));
  }
  if (files.empty()) return nothing_fits(patterns);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace stoker
