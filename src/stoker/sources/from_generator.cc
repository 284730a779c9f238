#include "stoker/sources/from_generator.h"

namespace stoker {

namespace {

// Returns an error if an element does not match the signature.
std::optional<Error> misfit(const Spec& wanted, const Element& found) {
  if (!wanted.known()) return std::nullopt;
  if (wanted.nest != found.nest)
    return Error::invalid("the generator yielded the structure ", found.nest->describe(), ", expected ",
                          wanted.describe(), " as in output_signature");
  for (size_t i = 0; i < wanted.leaves.size(); ++i) {
    const LeafSpec& leaf = wanted.leaves[i];
    const Array& array = found.leaves[i];
    bool fits = !leaf.type || *leaf.type == array.type();
    if (leaf.shape) {
      fits &= leaf.shape->size() == array.shape().size();
      for (size_t d = 0; fits && d < leaf.shape->size(); ++d)
        fits = (*leaf.shape)[d] < 0 || (*leaf.shape)[d] == array.shape()[d];
    }
    if (!fits)
      return Error::invalid("the generator yielded ", name_of(array.type()), shape_text(array.shape()),
                            " for component ", i, ", expected ", leaf.describe(), " as in output_signature");
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<Element>> FromGenerator::next(State& state, Context&) const {
  if (state.ended) return std::optional<Element>();
  Result<std::optional<Element>> element = [&]() -> Result<std::optional<Element>> {
    try {
      if (!state.next) state.next = std::make_shared<Next>(generator());
      return (*state.next)();
    } catch (...) {
      return error_of_exception().set_last();
    }
  }();
  state.ended = element ? !*element : element.error().is_last();
  if (element && *element)
    if (std::optional<Error> error = misfit(output_signature, **element)) return *error;
  return element;
}

template <>
const Codec& plain_codec<std::function<NextElement()>>() {
  using Generator = std::function<NextElement()>;
  static const Codec codec{"generator",
                           [](const Json&, ReadContext&, void*) -> Result<void> {
                             return Error::invalid("a function cannot be read from a graph file");
                           },
                           [](const void* from, WriteContext& context) -> Result<Json> {
                             const auto* known = static_cast<const Generator*>(from)->target<IdentifiedGenerator>();
                             return context.compares && known ? Json(known->identity) : Json();
                           },
                           &take_given<Generator>};
  return codec;
}

template <>
const Codec& plain_codec<Spec>() {
  static const Codec codec{"spec or null",
                           [](const Json& from, ReadContext&, void*) -> Result<void> {
                             if (from.is_null()) return {};
                             return Error::invalid("the signature of a function cannot be read from a graph file");
                           },
                           [](const void* from, WriteContext& context) -> Result<Json> {
                             if (!context.compares) return Json();
                             return Json(static_cast<const Spec*>(from)->describe());
                           },
                           &take_given<Spec>};
  return codec;
}

}  // namespace stoker
