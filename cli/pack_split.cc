// `stoker pack --split`: which records go to which shards.
#include <charconv>
#include <cmath>

#include "cli/commands.h"
#include "cli/pack.h"
#include "stoker/core/hash.h"
#include "stoker/core/permutation.h"

namespace stoker::cli {
namespace {

struct Part {
  std::string name;
  double share = 0;
};

Error wrong(const std::string& text) {
  return Error::precondition("--split ", text,
                             ": names with shares that add up to 1 are wanted, as train=0.9,validation=0.1");
}

Result<std::vector<Part>> parts_in(const std::string& text) {
  std::vector<Part> parts;
  double all = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = std::string_view(text).substr(at, end - at);
    const size_t equals = part.find('=');
    if (equals == 0 || equals == std::string_view::npos || part.find('/') != std::string_view::npos) return wrong(text);
    double share = 0;
    const auto [rest, failed] = std::from_chars(part.data() + equals + 1, part.data() + part.size(), share);
    if (failed != std::errc() || rest != part.data() + part.size() || !(share > 0)) return wrong(text);
    for (const Part& other : parts)
      if (other.name == part.substr(0, equals)) return wrong(text);
    parts.push_back({std::string(part.substr(0, equals)), share});
    all += share;
    at = end + 1;
  }
  if (std::abs(all - 1) > 1e-6) return wrong(text);
  return parts;
}

// From 0 up to 1, the same for ever for the same key and seed.
double place_of(const std::string& key, int64_t seed) {
  return static_cast<double>(hash_of(key, static_cast<uint64_t>(seed)) >> 11) * 0x1p-53;
}

size_t part_of(double place, const std::vector<Part>& parts) {
  size_t part = 0;
  for (; part + 1 < parts.size() && place >= parts[part].share; ++part) place -= parts[part].share;
  return part;
}

std::vector<int64_t> mixed(const std::vector<int64_t>& list, int64_t seed) {
  const Permutation order(static_cast<uint64_t>(seed), static_cast<int64_t>(list.size()));
  std::vector<int64_t> result;
  for (int64_t i = 0; i < order.size(); ++i) result.push_back(list[static_cast<size_t>(order(i))]);
  return result;
}

}  // namespace

Result<std::vector<Share>> shares_of(const PackOptions& options, int64_t count,
                                     const std::function<std::string(int64_t)>& key_of) {
  std::vector<Part> parts{{"", 1}};
  if (!options.split.empty()) {
    STOKER_TRY(parts, parts_in(options.split));
  }
  std::vector<std::vector<int64_t>> lists(parts.size());
  for (int64_t i = 0; i < count; ++i)
    lists[parts.size() == 1 ? 0 : part_of(place_of(key_of(i), options.seed), parts)].push_back(i);
  std::vector<Share> shares;
  for (size_t part = 0; part < parts.size(); ++part) {
    if (lists[part].empty() && count > 0)
      return Error::precondition("--split ", options.split, " leaves nothing for '", parts[part].name, "' of ", count,
                                 " records; another --seed deals them out in another way");
    const bool named = !options.name.empty() && !options.split.empty();
    const std::string name = options.split.empty() ? options.name
                             : named               ? options.name + "-" + parts[part].name
                                                   : parts[part].name;
    shares.push_back({name, mixed(lists[part], options.seed)});
  }
  return shares;
}

}  // namespace stoker::cli
