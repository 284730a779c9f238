#pragma once

#include <deque>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "stoker/graph/codec.h"
#include "stoker/graph/spelling.h"

namespace stoker {

// The parameters of a stage, an operation or a state. `describe(Fields&)` of the struct adds them. The names, the
// documentation and the members must outlive the fields.
class Fields {
 public:
  struct Field {
    std::string_view name;
    std::string_view doc;
    bool required;
    const Codec* codec;
    void* address;
    bool is_data = false;
  };

  Fields() = default;
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  // Adds an optional parameter, whose default is the current value of the member.
  template <typename T>
  void operator()(std::string_view name, T& value, std::string_view doc = {}) {
    fields_.push_back({name, doc, false, &codec_of<T>(), &value});
  }
  template <typename T>
  void required(std::string_view name, T& value, std::string_view doc = {}) {
    fields_.push_back({name, doc, true, &codec_of<T>(), &value});
  }
  // Adds a parameter that names the files of a source or contains its elements. Checkpoints compare the fingerprint of
  // the source instead of this parameter, so that a dataset can be moved between save and restore.
  template <typename T>
  void required_data(std::string_view name, T& value, std::string_view doc = {}) {
    fields_.push_back({name, doc, true, &codec_of<T>(), &value, true});
  }
  // Adds two members as one parameter: "size": [height, width].
  void required(std::string_view name, int64_t& first, int64_t& second, std::string_view doc);

  const std::vector<Field>& list() const { return fields_; }

 private:
  std::vector<Field> fields_;
  std::deque<NumberPair> pairs_;  // the addresses of two-member fields; a deque does not move them
};

// Reads parameters from an object. Keys in `reserved` are ignored. Fails with InvalidArgument for a parameter that is
// unknown, missing, present twice or of the wrong type; the message starts with `owner`, such as "batch".
Result<void> read_fields(const Fields& fields, const Json& from, ReadContext& context, std::string_view owner,
                         std::initializer_list<std::string_view> reserved = {});

// Appends the parameters to an object. Parameters that are null are omitted.
Result<void> write_fields(const Fields& fields, Json& into, WriteContext& context);

}  // namespace stoker
