#include "stoker/codecs/example.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace stoker {
namespace {

// The messages. In most of them, only field 1 matters:
//   Example          { Features features = 1; }
//   SequenceExample  { Features context = 1; FeatureLists feature_lists = 2; }
//   Features         { map<string, Feature> feature = 1; }, entries { key = 1; value = 2; }
//   FeatureLists     { map<string, FeatureList> feature_list = 1; }, the same entries
//   FeatureList      { repeated Feature feature = 1; }
//   Feature          { oneof: BytesList = 1, FloatList = 2, Int64List = 3 }
//   lists            { repeated value = 1; }, numbers mostly packed
enum Wire : uint32_t { kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5 };

constexpr const char* kCut = "the data ends inside a field";

struct Field {
  uint32_t number = 0;
  uint32_t wire = 0;
  uint64_t varint = 0;  // kVarint
  Bytes bytes = {};     // the other wire types
};

// Removes a varint from the front. Returns a description of the damage, or null.
const char* take_varint(Bytes& from, uint64_t& value) {
  if (!from.empty() && from[0] >= 0) {
    value = static_cast<uint64_t>(from[0]);
    from.remove_prefix(1);
    return nullptr;
  }
  value = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    const auto byte = static_cast<uint8_t>(from[i]);
    if (i == 9 && byte > 1) return "a number has more than 64 bits";
    value |= uint64_t{byte & 127u} << (7 * i);
    if (byte >= 128) continue;
    from.remove_prefix(i + 1);
    return nullptr;
  }
  return kCut;
}

const char* take_bytes(Bytes& from, uint64_t size, Bytes& bytes) {
  if (size > from.size()) return kCut;
  bytes = from.substr(0, size);
  from.remove_prefix(size);
  return nullptr;
}

// Removes a field from the front of a message. Returns a description of the damage, or null.
const char* take_field(Bytes& from, Field& field) {
  uint64_t tag = 0;
  if (const char* wrong = take_varint(from, tag)) return wrong;
  if (tag < 8 || tag > UINT32_MAX) return "a field has no number";
  field.number = static_cast<uint32_t>(tag >> 3);
  field.wire = static_cast<uint32_t>(tag & 7);
  uint64_t size = 0;
  switch (field.wire) {
    case kVarint: return take_varint(from, field.varint);
    case kFixed64: return take_bytes(from, 8, field.bytes);
    case kFixed32: return take_bytes(from, 4, field.bytes);
    case kDelimited:
      if (const char* wrong = take_varint(from, size)) return wrong;
      return take_bytes(from, size, field.bytes);
    default: return "a field has an unknown wire type";
  }
}

constexpr char tag_of(uint32_t number) { return static_cast<char>(number << 3 | kDelimited); }

// Removes a field of that number whose length takes one byte, as almost all do. For any other
// field, returns false and removes nothing.
bool take_short(Bytes& from, uint32_t number, Bytes& message) {
  if (from.size() < 2 || from[0] != tag_of(number) || from[1] < 0) return false;
  const auto size = static_cast<size_t>(from[1]);
  if (size > from.size() - 2) return false;
  message = Bytes(from.data() + 2, size);
  from.remove_prefix(size + 2);
  return true;
}

constexpr const char* kNoMessage = "a field is a number, expected a message";

// Removes fields from the front up to one with this number. `found` is false at the end.
const char* take_message(Bytes& from, uint32_t number, Bytes& message, bool& found) {
  found = take_short(from, number, message);
  while (!from.empty() && !found) {
    Field field;
    if (const char* wrong = take_field(from, field)) return wrong;
    if (field.number != number) continue;
    if (field.wire != kDelimited) return kNoMessage;
    message = field.bytes;
    found = true;
  }
  return nullptr;
}

const char* take_entry(Bytes entry, Bytes& key, Bytes& value) {
  key = value = Bytes(entry.data(), 0);
  if (take_short(entry, 1, key) && take_short(entry, 2, value) && entry.empty()) return nullptr;
  while (!entry.empty()) {
    Field field;
    if (const char* wrong = take_field(entry, field)) return wrong;
    if (field.number > 2) continue;
    if (field.wire != kDelimited) return kNoMessage;
    (field.number == 1 ? key : value) = field.bytes;
  }
  return nullptr;
}

const char* take_list(Bytes message, Feature& feature) {
  for (uint32_t number = 1; number <= 3; ++number)
    if (take_short(message, number, feature.list)) {
      feature.kind = static_cast<Feature::Kind>(number);
      break;
    }
  while (!message.empty()) {
    Field field;
    if (const char* wrong = take_field(message, field)) return wrong;
    if (field.number > 3) continue;
    if (field.wire != kDelimited) return kNoMessage;
    if (feature.kind != Feature::Kind::kMissing) return "a feature has two lists";
    feature = {static_cast<Feature::Kind>(field.number), field.bytes};
  }
  return nullptr;
}

// Calls visit(field) for the values of a list; packed values are one field.
template <typename Visit>
const char* each_value(Bytes list, uint32_t wire, Visit visit) {
  while (!list.empty()) {
    Field field;
    if (const char* wrong = take_field(list, field)) return wrong;
    if (field.number != 1) continue;
    if (field.wire != wire && field.wire != kDelimited) return "a value has a different type than its list";
    if (const char* wrong = visit(field)) return wrong;
  }
  return nullptr;
}

Error in_list(const char* what) { return Error::invalid("the list of values cannot be read: ", what); }

// The last byte of a varint has no high bit.
int64_t count_varints(Bytes packed) {
  int64_t count = 0;
  for (const char byte : packed) count += byte >= 0;
  return count;
}

uint32_t wire_of(Feature::Kind kind) {
  switch (kind) {
    case Feature::Kind::kInt64: return kVarint;
    case Feature::Kind::kFloat32: return kFixed32;
    default: return kDelimited;
  }
}

int64_t count_in(Feature::Kind kind, const Field& field) {
  if (field.wire != kDelimited || kind == Feature::Kind::kBytes) return 1;
  return kind == Feature::Kind::kInt64 ? count_varints(field.bytes) : static_cast<int64_t>(field.bytes.size() / 4);
}

constexpr const char* kTooMany = "there are more values than expected";

const char* read_ints(Bytes packed, std::span<int64_t>& out) {
  while (!packed.empty()) {
    uint64_t value = 0;
    if (const char* wrong = take_varint(packed, value)) return wrong;
    if (out.empty()) return kTooMany;
    out[0] = static_cast<int64_t>(value);
    out = out.subspan(1);
  }
  return nullptr;
}

const char* read_floats(Bytes packed, std::span<float>& out) {
  if (packed.size() % 4 != 0) return kCut;
  if (packed.size() / 4 > out.size()) return kTooMany;
  static_assert(std::endian::native == std::endian::little);
  if (!packed.empty()) std::memcpy(out.data(), packed.data(), packed.size());
  out = out.subspan(packed.size() / 4);
  return nullptr;
}

Result<void> all_filled(const char* wrong, size_t left) {
  if (wrong) return in_list(wrong);
  if (left > 0) return in_list("there are fewer values than expected");
  return {};
}

// The values of a list of this kind, if it is written in one piece and the message contains nothing
// else.
bool plain_list(Bytes message, Feature::Kind kind, Bytes& values) {
  Bytes list;
  return take_short(message, static_cast<uint32_t>(kind), list) && message.empty() && take_short(list, 1, values) &&
         list.empty();
}

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

// Appends the tag and length of a field of this many bytes.
void append_opening(std::string& out, uint32_t number, size_t bytes) {
  append_varint(out, number << 3 | kDelimited);
  append_varint(out, bytes);
}

void append_delimited(std::string& out, uint32_t number, Bytes bytes) {
  append_opening(out, number, bytes.size());
  out += bytes;
}

std::string message_of(uint32_t number, Bytes bytes) {
  std::string out;
  append_delimited(out, number, bytes);
  return out;
}

// A feature with these packed values; without values, an empty list.
std::string packed_feature(Feature::Kind kind, Bytes values) {
  return message_of(static_cast<uint32_t>(kind), values.empty() ? "" : message_of(1, values));
}

std::string feature_with(std::span<const int64_t> values) {
  std::string packed;
  for (const int64_t value : values) append_varint(packed, static_cast<uint64_t>(value));
  return packed_feature(Feature::Kind::kInt64, packed);
}

std::string feature_with(std::span<const float> values) {
  const Bytes packed(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return packed_feature(Feature::Kind::kFloat32, packed);
}

std::string feature_with(std::span<const Bytes> values) {
  std::string list;
  for (const Bytes value : values) append_delimited(list, 1, value);
  return message_of(static_cast<uint32_t>(Feature::Kind::kBytes), list);
}

// A field that maps names to messages.
std::string map_of(ExamplePart part, const std::map<std::string, std::string, std::less<>>& messages) {
  std::string entries;
  for (const auto& [name, message] : messages)
    append_delimited(entries, 1, message_of(1, name) + message_of(2, message));
  return message_of(static_cast<uint32_t>(part), entries);
}

}  // namespace

Error FeatureWalk::damaged(const char* what, const char* at) const {
  return Error::invalid("the data is not a tf.train.Example: ", what, ", at or after byte ", at - begin_);
}

const char* FeatureWalk::advance(bool& found, const char*& at) {
  Bytes entry;
  while (true) {
    const char* wrong = take_message(features_, 1, entry, found);
    at = features_.data();
    if (wrong) return wrong;
    if (found) break;
    wrong = take_message(example_, static_cast<uint32_t>(part_), features_, found);
    at = example_.data();
    if (wrong || !found) return wrong;
  }
  at = entry.data();
  return take_entry(entry, name_, message_);
}

Result<bool> FeatureWalk::next() {
  bool found = false;
  const char* at = nullptr;
  if (const char* wrong = advance(found, at)) return damaged(wrong, at);
  return found;
}

Result<Feature> FeatureWalk::feature() const {
  Feature feature;
  if (const char* wrong = take_list(message_, feature)) return damaged(wrong, message_.data());
  return feature;
}

Result<bool> StepWalk::next() {
  bool found = false;
  if (const char* wrong = take_message(list_, 1, message_, found))
    return Error::invalid("the list of steps cannot be read: ", wrong);
  return found;
}

FeatureNames::FeatureNames(std::span<const std::string> names) {
  names_.reserve(names.size());
  for (const std::string& name : names) names_.push_back({name, names_.size()});
  std::ranges::sort(names_, {}, &Name::text);
}

// Most writers use one order of names, usually sorted, so the next name is the best guess.
const FeatureNames::Name* FeatureNames::known(Bytes name, size_t& guess) const {
  if (guess < names_.size() && names_[guess].text == name) return &names_[guess++];
  const auto at = std::ranges::lower_bound(names_, name, {}, &Name::text);
  if (at == names_.end() || at->text != name) return nullptr;
  guess = static_cast<size_t>(at - names_.begin()) + 1;
  return &*at;
}

Result<void> FeatureNames::find(Bytes example, ExamplePart part, std::span<Bytes> messages) const {
  std::ranges::fill(messages, Bytes());
  FeatureWalk walk(example, part);
  size_t guess = 0;
  while (true) {
    bool found = false;
    const char* at = nullptr;
    if (const char* wrong = walk.advance(found, at)) return walk.damaged(wrong, at);
    if (!found) return {};
    if (const Name* name = known(walk.name_, guess)) messages[name->place] = walk.message_;
  }
}

Result<Feature> feature_in(Bytes message) {
  Feature feature;
  if (const char* wrong = take_list(message, feature)) return Error::invalid("a feature cannot be read: ", wrong);
  return feature;
}

Result<Feature> find_feature(Bytes example, Bytes name) {
  FeatureWalk walk(example), found(example);
  bool any = false;
  while (true) {
    STOKER_TRY(const bool more, walk.next());
    if (!more) break;
    if (walk.name() != name) continue;
    found = walk;
    any = true;
  }
  return any ? found.feature() : Feature();
}

Result<int64_t> count_steps(Bytes list) {
  StepWalk walk(list);
  for (int64_t steps = 0;; ++steps) {
    STOKER_TRY(const bool more, walk.next());
    if (!more) return steps;
  }
}

Result<int64_t> count_values(const Feature& feature) {
  int64_t count = 0;
  const char* wrong = each_value(feature.list, wire_of(feature.kind), [&](const Field& field) -> const char* {
    count += count_in(feature.kind, field);
    return nullptr;
  });
  if (wrong) return in_list(wrong);
  return count;
}

Result<void> read_values(const Feature& feature, std::span<int64_t> out) {
  const char* wrong = each_value(feature.list, kVarint, [&](const Field& field) -> const char* {
    if (field.wire == kDelimited) return read_ints(field.bytes, out);
    if (out.empty()) return kTooMany;
    out[0] = static_cast<int64_t>(field.varint);
    out = out.subspan(1);
    return nullptr;
  });
  return all_filled(wrong, out.size());
}

Result<void> read_values(const Feature& feature, std::span<float> out) {
  const char* wrong =
      each_value(feature.list, kFixed32, [&](const Field& field) { return read_floats(field.bytes, out); });
  return all_filled(wrong, out.size());
}

Result<void> read_values(const Feature& feature, std::span<Bytes> out) {
  const char* wrong = each_value(feature.list, kDelimited, [&](const Field& field) -> const char* {
    if (out.empty()) return kTooMany;
    out[0] = field.bytes;
    out = out.subspan(1);
    return nullptr;
  });
  return all_filled(wrong, out.size());
}

bool read_if_plain(Bytes message, std::span<int64_t> out) {
  Bytes packed;
  if (!plain_list(message, Feature::Kind::kInt64, packed)) return false;
  return read_ints(packed, out) == nullptr && out.empty();
}

bool read_if_plain(Bytes message, std::span<float> out) {
  Bytes packed;
  if (!plain_list(message, Feature::Kind::kFloat32, packed)) return false;
  return read_floats(packed, out) == nullptr && out.empty();
}

bool read_if_plain(Bytes message, Bytes& out) { return plain_list(message, Feature::Kind::kBytes, out); }

void ExampleWriter::set(std::string name, std::span<const int64_t> values) {
  features_[std::move(name)] = feature_with(values);
}
void ExampleWriter::set(std::string name, std::span<const float> values) {
  features_[std::move(name)] = feature_with(values);
}
void ExampleWriter::set(std::string name, std::span<const Bytes> values) {
  features_[std::move(name)] = feature_with(values);
}

std::string ExampleWriter::serialized() const { return map_of(ExamplePart::kFeatures, features_); }

ExampleWriter::Around ExampleWriter::serialized_around(Bytes name, size_t bytes) const {
  // From the inside out: each opening contains the size of its contents.
  std::string before;
  const auto open = [&](uint32_t number, size_t more) {
    std::string outside;
    append_opening(outside, number, before.size() + bytes + more);
    before.insert(0, outside);
  };
  open(1, 0);                                             // the value
  open(static_cast<uint32_t>(Feature::Kind::kBytes), 0);  // its list
  open(2, 0);                                             // the feature
  before.insert(0, message_of(1, name));
  open(1, 0);  // its entry
  std::string earlier, behind;
  for (const auto& [other, message] : features_)
    append_delimited(other < name ? earlier : behind, 1, message_of(1, other) + message_of(2, message));
  before.insert(0, earlier);
  open(static_cast<uint32_t>(ExamplePart::kFeatures), behind.size());
  return {std::move(before), std::move(behind)};
}

void SequenceExampleWriter::add_step(const std::string& name, std::span<const int64_t> values) {
  append_delimited(lists_[name], 1, feature_with(values));
}
void SequenceExampleWriter::add_step(const std::string& name, std::span<const float> values) {
  append_delimited(lists_[name], 1, feature_with(values));
}
void SequenceExampleWriter::add_step(const std::string& name, std::span<const Bytes> values) {
  append_delimited(lists_[name], 1, feature_with(values));
}

// A part that was never set is not written, as in protocol buffers.
std::string SequenceExampleWriter::serialized() const {
  std::string out;
  if (!context.features_.empty()) out += map_of(ExamplePart::kFeatures, context.features_);
  if (!lists_.empty()) out += map_of(ExamplePart::kLists, lists_);
  return out;
}

}  // namespace stoker
