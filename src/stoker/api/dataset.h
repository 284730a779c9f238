#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stoker/graph/graph.h"
#include "stoker/graph/stage.h"

namespace stoker {

#define SOURCE(method, Type) struct Type;
#define JOIN SOURCE
#define STAGE SOURCE
#define ENGINE SOURCE
#include "stoker/api/stages.def"
#undef SOURCE
#undef JOIN
#undef STAGE
#undef ENGINE

template <typename T>
class StageOf;

// A data set: an immutable description of how elements are made. Each method
// gives a new one. A wrong parameter makes the data set carry the error, which
// `error()` tells at once and a loader as its first result.
class Dataset {
 public:
  Dataset(Graph graph) : node_(graph.node()) {}
  Dataset(Error error) : error_(std::move(error)) {}

#define SOURCE(method, Type) static Dataset method(Type stage, Location at = Location::current());
#define JOIN SOURCE
#define STAGE(method, Type) Dataset method(Type stage, Location at = Location::current()) const;
#define ENGINE STAGE
#include "stoker/api/stages.def"
#undef SOURCE
#undef JOIN
#undef STAGE
#undef ENGINE

  // A stage of your own: any struct with one of the forms of a stage.
  template <typename T>
  Dataset then(T stage, Location at = Location::current()) const {
    return appended(std::make_shared<const StageOf<T>>(std::move(stage)), std::move(at));
  }
  template <typename T>
  static Dataset from(T stage, Location at = Location::current()) {
    return started(std::make_shared<const StageOf<T>>(std::move(stage)), std::move(at));
  }

  // The name under which the last stage shows in statistics and errors.
  Dataset named(std::string name) const;

  // What is wrong with it; null when nothing is.
  const Error* error() const { return error_ ? &*error_ : nullptr; }
  // Structure, types and partly known shapes of the elements.
  Spec element_spec() const;
  // A length, kInfinite or kUnknown, by tf.data's rules; but what has positions
  // in its files (TFRecord) is counted, unless only what is known is asked for.
  Result<int64_t> cardinality(Counting counting = Counting::kCounted) const;
  // What the first pass gives at place i; only where that can be known
  // without making the elements before it.
  Result<Element> at(int64_t i) const;
  // Makes the element with this origin again, as an error names it:
  // "train:18204@2", "train:3/17", "a:(3,b:4)". Returns what the pipeline
  // delivers with that origin, or its error. An element that is delivered inside
  // another (in a batch) is returned as it was before that. By position where the
  // graph allows it; else the pass is run up to the element.
  Result<Element> replay(std::string_view origin) const;
  // The segments it is cut into, what is native, what is held.
  Result<std::string> explain() const;

  // {"stoker": 1, "stages": […]}. Arrays over 4 KB lie beside the file.
  Result<std::string> to_json() const;
  Result<void> save_graph(const std::string& path) const;
  static Result<Dataset> from_json(std::string_view text);
  static Result<Dataset> load_graph(const std::string& path);

  operator Graph() const { return Graph(node_); }
  const std::shared_ptr<const Node>& node() const { return node_; }

 private:
  Dataset appended(std::shared_ptr<const Stage> stage, Location at) const;
  static Dataset started(std::shared_ptr<const Stage> stage, Location at);

  std::shared_ptr<const Node> node_;
  std::optional<Error> error_;
};

// Every stage and operation there is.
const Registry& registry();

}  // namespace stoker
