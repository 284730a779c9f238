#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
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
std::shared_ptr<const Stage> make_stage(T stage);

// An immutable description of how elements are produced. Each method returns a new
// dataset and leaves this one unchanged. Building a dataset starts no threads and
// computes no elements.
//
// A method with an invalid parameter returns a dataset that carries the error:
// error() returns it, and a Loader returns it as its first result.
//
// A copy is cheap and shares the graph. Members are safe from several threads.
class Dataset {
 public:
  Dataset(Graph graph) : node_(graph.node()) {}
  Dataset(Error error) : error_(std::move(error)) {}

#define SOURCE(method, Type) static Dataset method(Type stage, Location at = Location::current());
#define JOIN SOURCE
// Each stage has three spellings: ds.batch({.batch_size = 64, .drop_remainder = true}); ds.batch(64), with the first
// parameter; and, if no parameter is required, ds.repeat().
#define STAGE(method, Type)                                                \
  Dataset method(Type stage, Location at = Location::current()) const;     \
  template <typename First, typename Stage = Type>                         \
    requires(!std::is_same_v<std::remove_cvref_t<First>, Type>)            \
  Dataset method(First&& first, Location at = Location::current()) const { \
    return method(Stage(std::forward<First>(first)), std::move(at));       \
  }                                                                        \
  template <typename Stage = Type>                                         \
  Dataset method(Location at = Location::current()) const {                \
    return method(Stage{}, std::move(at));                                 \
  }
#define ENGINE STAGE
#include "stoker/api/stages.def"
#undef SOURCE
#undef JOIN
#undef STAGE
#undef ENGINE

  // Append a stage of your own, or start with one: any struct with one of the forms
  // listed in CONTRIBUTING.md.
  template <typename T>
  Dataset then(T stage, Location at = Location::current()) const {
    return appended(make_stage(std::move(stage)), std::move(at));
  }
  template <typename T>
  static Dataset from(T stage, Location at = Location::current()) {
    return started(make_stage(std::move(stage)), std::move(at));
  }

  // Names the last stage in statistics and errors.
  Dataset named(std::string name) const;

  // The error of an invalid parameter; null if there is none. Valid as long as this
  // dataset.
  const Error* error() const { return error_ ? &*error_ : nullptr; }
  // Structure, types and partly known shapes of the elements.
  Spec element_spec() const;
  // Returns the number of elements, kInfinite or kUnknown, by the rules of tf.data.
  // Unlike in tf.data, the records of files with positions (TFRecord) are counted,
  // which may read the files; Counting::kAsKnown does not count.
  Result<int64_t> cardinality(Counting counting = Counting::kCounted) const;
  // Returns element i of the first pass. Fails if the elements before it would have
  // to be computed.
  Result<Element> at(int64_t i) const;
  // Recomputes the element with this origin, as an error prints it:
  // "train:18204@2", "train:3/17", "a:(3,b:4)". Returns what the pipeline delivers
  // with that origin, or its error. An element that is delivered as part of another
  // one, such as a batch, is returned as it was before that. Computes the element
  // from its position if the graph allows it, and runs the epoch up to the element
  // otherwise.
  Result<Element> replay(std::string_view origin) const;
  // Describes the segments, which maps are native, and what is held in memory.
  Result<std::string> explain() const;

  // The graph as JSON: {"stoker": 1, "stages": […]}. save_graph() stores arrays of
  // more than 4 KB in files next to the graph file, and load_graph() reads them. A
  // graph file has at most 256 MB, far more than any graph.
  static constexpr int64_t kMostGraphBytes = int64_t{256} << 20;
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

// All stages and operations. Lives until the process ends.
const Registry& registry();

}  // namespace stoker
