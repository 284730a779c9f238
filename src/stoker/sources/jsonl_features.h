#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/core/array.h"
#include "stoker/core/charge.h"
#include "stoker/graph/json.h"

namespace stoker {

// Collects the values of one key of a JSON object into an array. Values are converted when they are read. Errors are
// those of the whole value: a list that has another length than expected comes before a wrong item.
class JsonFeature {
 public:
  JsonFeature(DType type, std::vector<int64_t> shape) : type_(type), shape_(std::move(shape)) {}

  // Starts a value. The last of several values of a key counts.
  void start();
  // Parts of the value. They return false if there is no memory.
  bool scalar(const Json& value);
  bool open(bool dict);
  bool close();

  // Returns null if the value is missing or null.
  Result<std::optional<Array>> result();
  bool is_missing() const { return !started_; }

 private:
  bool begin_value(std::string_view kind);
  bool add_item(const Json& value);
  bool add_text(const std::string& text);
  template <typename T>
  bool add_number(const Json& value);
  Result<Array> numbers() const;
  Result<Array> texts() const;
  std::vector<int64_t> dims() const;

  const DType type_;
  const std::vector<int64_t> shape_;
  bool started_ = false;
  bool is_null_ = false;
  struct List {
    int64_t items = 0;
    bool wrong_before = false;  // an error precedes the list
  };
  std::vector<List> lists_;    // that are open
  int64_t inside_ = 0;         // open lists and objects that are no part of the array
  std::vector<int64_t> dims_;  // as far as known
  std::optional<Error> wrong_list_, wrong_item_;
  ChargedVector<char> bytes_;   // of numbers, or of the characters of all texts
  ChargedVector<size_t> ends_;  // of the texts
};

// Collects the requested features of a JSON object, and skips all others without taking memory for them.
class JsonFeatures final : public JsonVisitor {
 public:
  JsonFeatures(const std::vector<std::string>& names, std::vector<JsonFeature> features)
      : names_(names), features_(std::move(features)) {}

  bool scalar(Json value) override;
  bool open(bool dict) override;
  bool close() override;
  bool key(std::string& name) override;

  // The kind of the whole text if it is not an object; otherwise empty.
  std::string_view other_kind() const { return other_kind_; }
  std::vector<JsonFeature>& features() { return features_; }

 private:
  const std::vector<std::string>& names_;
  std::vector<JsonFeature> features_;
  JsonFeature* current_ = nullptr;  // the feature of the current value
  int64_t depth_ = 0;
  std::string_view other_kind_;
};

}  // namespace stoker
