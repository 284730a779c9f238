// Assigns the records of pack() to splits, and shuffles each split.
#include <charconv>
#include <cmath>

#include "stoker/core/hash.h"
#include "stoker/core/interrupt.h"
#include "stoker/core/permutation.h"
#include "stoker/prepare/pack_input.h"

namespace stoker::prepare {
namespace {

struct Part {
  std::string name;
  double share = 0;
};

Error wrong(const PackOptions& options) {
  return Error::precondition(option_name(options.option_names, "split", options.split),
                             ": expected names with shares that add up to 1, such as train=0.9,validation=0.1");
}

Result<std::vector<Part>> parts_in(const PackOptions& options) {
  const std::string& text = options.split;
  std::vector<Part> parts;
  double all = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = std::string_view(text).substr(at, end - at);
    const size_t equals = part.find('=');
    if (equals == 0 || equals == std::string_view::npos || part.find('/') != std::string_view::npos)
      return wrong(options);
    double share = 0;
    const auto [rest, failed] = std::from_chars(part.data() + equals + 1, part.data() + part.size(), share);
    if (failed != std::errc() || rest != part.data() + part.size() || !(share > 0)) return wrong(options);
    for (const Part& other : parts)
      if (other.name == part.substr(0, equals)) return wrong(options);
    parts.push_back({std::string(part.substr(0, equals)), share});
    all += share;
    at = end + 1;
  }
  if (std::abs(all - 1) > 1e-6) return wrong(options);
  return parts;
}

// A number in [0, 1) that depends only on the key and the seed. Changing it would
// move records between the splits of existing users.
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
    STOKER_TRY(parts, parts_in(options));
  }
  std::vector<std::vector<int64_t>> lists(parts.size());
  for (int64_t i = 0; i < count; ++i) {
    stop_if_interrupted();
    lists[parts.size() == 1 ? 0 : part_of(place_of(key_of(i), options.seed), parts)].push_back(i);
  }
  std::vector<Share> shares;
  for (size_t part = 0; part < parts.size(); ++part) {
    if (lists[part].empty() && count > 0)
      return Error::precondition(option_name(options.option_names, "split", options.split), " assigns none of ", count,
                                 " records to '", parts[part].name, "'; use a larger share or another ",
                                 option_name(options.option_names, "seed"));
    const bool named = !options.name.empty() && !options.split.empty();
    const std::string name = options.split.empty() ? options.name
                             : named               ? options.name + "-" + parts[part].name
                                                   : parts[part].name;
    shares.push_back({name, mixed(lists[part], options.seed)});
  }
  return shares;
}

}  // namespace stoker::prepare
