#include "stoker/graph/spelling.h"

#include <algorithm>

namespace stoker {
namespace {

// The Levenshtein distance: how many characters have to be inserted, removed or replaced.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known) {
  std::string_view best;
  size_t limit = std::max<size_t>(2, name.size() / 3) + 1;
  for (std::string_view candidate : known) {
    const size_t distance = edit_distance(name, candidate);
    if (distance < limit) best = candidate, limit = distance;
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known) {
  const std::string_view near = nearest(name, known);
  return near.empty() ? "" : "; did you mean '" + std::string(near) + "'?";
}

}  // namespace stoker
