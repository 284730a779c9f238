#include "stoker/runtime/deferred_parts.h"

#include "stoker/graph/function.h"

namespace stoker {
namespace {

// A dict with this key is a placeholder. No line writes this key.
constexpr std::string_view kPart = "deferred part";

void replace_placeholders(Json& json, std::vector<Json>& parts) {
  if (auto* list = std::get_if<Json::List>(&json.value))
    for (Json& item : *list) replace_placeholders(item, parts);
  auto* dict = std::get_if<Json::Dict>(&json.value);
  if (!dict) return;
  if (dict->size() == 1 && dict->front().first == kPart) {
    const auto number = static_cast<size_t>(*dict->front().second.as<int64_t>());
    json = std::move(parts[number]);
    return;
  }
  for (auto& [key, value] : *dict) replace_placeholders(value, parts);
}

}  // namespace

Json DeferredParts::add(Write write) {
  Json placeholder = Json::dict();
  placeholder.set(std::string(kPart), static_cast<int64_t>(parts_.size()));
  parts_.push_back(std::move(write));
  return placeholder;
}

Result<Json> DeferredParts::fill(Json checkpoint) const {
  std::vector<Json> written;
  written.reserve(parts_.size());
  for (const Write& write : parts_) {
    try {
      STOKER_TRY(Json part, write());
      written.push_back(std::move(part));
    } catch (...) {
      return error_of_exception();
    }
  }
  replace_placeholders(checkpoint, written);
  return checkpoint;
}

}  // namespace stoker
