#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/dtype.h"
#include "stoker/core/recycled.h"
#include "stoker/core/result.h"

namespace stoker {

// tf.train.Example in its serialized form: named lists of int64, float32 or byte strings. The
// context of a SequenceExample consists of such features; in addition, it has named lists of
// features, one feature for each step. Reading does not allocate and returns views of the bytes.

// One named list. An empty message, which some writers use for "no value", is like a missing
// feature.
struct Feature {
  enum class Kind : uint8_t { kMissing, kBytes, kFloat32, kInt64 };
  Kind kind = Kind::kMissing;
  Bytes list = {};  // encoded
};

// The maps of names, by the number of their field.
enum class ExamplePart : uint8_t {
  kFeatures = 1,  // of an Example; the context of a SequenceExample
  kLists = 2,     // of a SequenceExample: the lists of features
};

// Iterates over the names in the order in which they are written. Does not parse the features that
// it skips. The bytes must outlive it.
class FeatureWalk {
 public:
  explicit FeatureWalk(Bytes example, ExamplePart part = ExamplePart::kFeatures)
      : begin_(example.data()), part_(part), example_(example) {}

  // Returns false at the end. An error also ends the iteration; its message contains the offset.
  Result<bool> next();
  Bytes name() const { return name_; }
  Bytes message() const { return message_; }  // the feature, or the list of features, encoded
  Result<Feature> feature() const;

 private:
  friend class FeatureNames;
  // Returns a description of the damage, or null. `found` is false at the end; `at` is the position
  // reached.
  const char* advance(bool& found, const char*& at);
  Error damaged(const char* what, const char* at) const;

  const char* begin_;
  ExamplePart part_;
  Bytes example_;   // the remaining bytes
  Bytes features_;  // the remaining bytes of the current map
  Bytes name_;
  Bytes message_;
};

// Iterates over the features of a list, one for each step, in order.
class StepWalk {
 public:
  explicit StepWalk(Bytes list) : list_(list) {}
  Result<bool> next();                        // false at the end
  Bytes message() const { return message_; }  // the feature, encoded

 private:
  Bytes list_;  // the remaining bytes
  Bytes message_;
};

// Finds a fixed set of names in many examples, each in one pass. Thread-safe.
class FeatureNames {
 public:
  // The names must outlive the object.
  explicit FeatureNames(std::span<const std::string> names);
  size_t size() const { return names_.size(); }

  // Returns the encoded message of each name, the last one if a name occurs several times. For a
  // missing name, the view is empty and its data() is null.
  Result<void> find(Bytes example, ExamplePart part, std::span<Bytes> messages) const;

 private:
  struct Name {
    Bytes text;
    size_t place;  // index in the given order
  };
  const Name* known(Bytes name, size_t& guess) const;

  RecycledVector<Name> names_;  // sorted
};

// Parses an encoded feature.
Result<Feature> feature_in(Bytes message);
// Returns the feature of that name, the last one if there are several; kMissing if there is none.
Result<Feature> find_feature(Bytes example, Bytes name);

// The number of steps in a list of features.
Result<int64_t> count_steps(Bytes list);
// The number of values in the list.
Result<int64_t> count_values(const Feature& feature);

// Reads the values of a list of this kind. Fails if their number differs from the size of `out`.
Result<void> read_values(const Feature& feature, std::span<int64_t> out);
Result<void> read_values(const Feature& feature, std::span<float> out);
Result<void> read_values(const Feature& feature, std::span<Bytes> out);

// A fast path for an encoded feature that is short, of this kind, and written in one piece, as most
// are. Returns false for any other feature, also for an invalid one; the contents of `out` are then
// undefined.
bool read_if_plain(Bytes message, std::span<int64_t> out);
bool read_if_plain(Bytes message, std::span<float> out);
bool read_if_plain(Bytes message, Bytes& out);

// Serializes an example. Names are written in sorted order, so the same features give the same
// bytes regardless of the order in which they were set.
class ExampleWriter {
 public:
  void set(std::string name, std::span<const int64_t> values);
  void set(std::string name, std::span<const float> values);
  void set(std::string name, std::span<const Bytes> values);
  void set(std::string name, Bytes value) { set(std::move(name), std::span<const Bytes>(&value, 1)); }

  std::string serialized() const;

  // Serializes the features and one additional feature with a single string of this size. Returns
  // the bytes before and after the string, which may be large and is not copied.
  struct Around {
    std::string before, behind;
  };
  Around serialized_around(Bytes name, size_t bytes) const;

 private:
  friend class SequenceExampleWriter;
  std::map<std::string, std::string, std::less<>> features_;  // encoded
};

// Serializes a SequenceExample: its context, and lists to which steps are added.
class SequenceExampleWriter {
 public:
  ExampleWriter context;

  void add_step(const std::string& name, std::span<const int64_t> values);
  void add_step(const std::string& name, std::span<const float> values);
  void add_step(const std::string& name, std::span<const Bytes> values);
  // Adds a list without steps, unless there is one of that name.
  void add_list(const std::string& name) { lists_[name]; }

  std::string serialized() const;

 private:
  std::map<std::string, std::string, std::less<>> lists_;  // encoded
};

}  // namespace stoker
