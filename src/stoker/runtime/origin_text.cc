#include "stoker/runtime/origin_text.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

namespace stoker {

const Origin& outermost(const Origin& origin) {
  const Origin* at = &origin;
  while (true) {
    if (at->parent)
      at = at->parent.get();
    else if (at->members && !at->members->empty())
      at = &at->members->front();
    else
      return *at;
  }
}

namespace {

constexpr int kDeepest = 64;
constexpr std::string_view kEnd = "end";

std::string name_of_source(int32_t source, const std::vector<std::string>& sources) {
  return static_cast<size_t>(source) < sources.size() ? sources[static_cast<size_t>(source)] : "";
}

std::string part_text(const Origin& origin, int32_t current_source, const std::vector<std::string>& sources) {
  std::string text = origin.parent ? part_text(*origin.parent, current_source, sources) + "/" : "";
  if (origin.members) {
    std::string all;
    for (const Origin& member : *origin.members) {
      const int32_t source = outermost(member).source;
      all += (all.empty() ? "" : ",") + (source == current_source ? "" : name_of_source(source, sources) + ":");
      all += part_text(member, source, sources);
    }
    return text + "(" + all + ")";
  }
  if (origin.parent && origin.source != 0) text += std::to_string(origin.source) + ":";
  text += origin.position == kEndPosition ? std::string(kEnd) : std::to_string(origin.position);
  return text + (origin.pass > 0 ? "@" + std::to_string(origin.pass) : "");
}

class Reader {
 public:
  Reader(std::string_view text, const std::vector<std::string>& sources)
      : whole_(text), rest_(text), sources_(sources) {}

  Result<OriginInEpoch> origin() {
    STOKER_TRY(const int32_t source, named_source());
    STOKER_TRY(Origin origin, part(source, 0));
    EpochPasses passes;
    for (char separator = '~'; skip(separator); separator = '.') {
      STOKER_TRY(passes.emplace_back(), pass());
    }
    if (!rest_.empty()) return syntax_error();
    return OriginInEpoch{std::move(origin), std::move(passes)};
  }

 private:
  Error syntax_error() const {
    return Error::invalid(
        "'", whole_, "' is not an origin; expected source:position or source:position@pass, such as train:18204@2");
  }
  bool skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // Skips the name of a source and its colon. Names may contain colons, so the longest name that matches is used.
  std::optional<int32_t> skip_source() {
    std::optional<int32_t> found;
    size_t longest = 0;
    for (size_t i = 0; i < sources_.size(); ++i) {
      const std::string start = sources_[i] + ":";
      if (!rest_.starts_with(start) || start.size() <= longest) continue;
      longest = start.size();
      found = static_cast<int32_t>(i);
    }
    rest_.remove_prefix(longest);
    return found;
  }
  Result<int32_t> named_source() {
    if (const std::optional<int32_t> source = skip_source()) return *source;
    const size_t colon = rest_.find(':');
    if (colon == std::string_view::npos) return syntax_error();
    std::string known;
    for (const std::string& name : sources_) known += (known.empty() ? "" : ", ") + name;
    return Error::not_found("no source named '", rest_.substr(0, colon), "'; the sources of this graph are: ", known);
  }

  Result<int64_t> number() {
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (problem != std::errc() || value < 0) return syntax_error();
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  Result<int64_t> position() {
    if (!rest_.starts_with(kEnd)) return number();
    rest_.remove_prefix(kEnd.size());
    return kEndPosition;
  }
  Result<int64_t> pass() {
    STOKER_TRY(const int64_t pass, number());
    if (pass > kMostPasses) return syntax_error();
    return pass;
  }

  Result<Origin> part(int32_t source, int depth) {
    if (depth > kDeepest) return syntax_error();
    STOKER_TRY(Origin origin, place(source, false, depth));
    for (int level = depth; skip('/'); ++level) {
      if (level > kDeepest) return syntax_error();
      auto parent = std::make_shared<const Origin>(std::move(origin));
      STOKER_TRY(origin, place(0, true, depth));
      origin.parent = std::move(parent);
    }
    return origin;
  }
  Result<Origin> place(int32_t source, bool in_child, int depth) {
    if (skip('(')) return members(source, depth);
    Origin origin;
    origin.source = source;
    STOKER_TRY(origin.position, position());
    if (in_child && origin.position >= 0 && skip(':')) {
      if (origin.position > INT32_MAX) return syntax_error();
      origin.source = static_cast<int32_t>(origin.position);
      STOKER_TRY(origin.position, position());
    }
    if (skip('@')) {
      STOKER_TRY(origin.pass, pass());
    }
    return origin;
  }
  Result<Origin> members(int32_t source, int depth) {
    std::vector<Origin> all;
    do {
      STOKER_TRY(Origin member, part(skip_source().value_or(source), depth + 1));
      all.push_back(std::move(member));
    } while (skip(','));
    if (!skip(')')) return syntax_error();
    Origin origin;
    origin.members = std::make_shared<const std::vector<Origin>>(std::move(all));
    return origin;
  }

  const std::string_view whole_;
  std::string_view rest_;
  const std::vector<std::string>& sources_;
};

}  // namespace

std::string origin_text(const Origin& origin, const std::vector<std::string>& sources) {
  const int32_t source = outermost(origin).source;
  return name_of_source(source, sources) + ":" + part_text(origin, source, sources);
}

std::string epoch_text(const EpochPasses& passes) {
  const bool all_equal = std::ranges::adjacent_find(passes, std::not_equal_to()) == passes.end();
  std::string text;
  for (size_t i = 0; i < (all_equal ? std::min<size_t>(passes.size(), 1) : passes.size()); ++i)
    text += (i == 0 ? "~" : ".") + std::to_string(passes[i]);
  return text;
}

Result<OriginInEpoch> origin_from_text(std::string_view text, const std::vector<std::string>& sources) {
  return Reader(text, sources).origin();
}

}  // namespace stoker
