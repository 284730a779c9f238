#include "stoker/sources/from_generator.h"

namespace stoker {

namespace {

// What the signature does not allow, in words; nothing when it fits.
std::optional<Error> misfit(const Spec& wanted, const Element& found) {
  if (!wanted.known()) return std::nullopt;
  if (wanted.nest != found.nest)
    return Error::invalid("the generator gave structure ", found.nest->words(), " and its signature is ",
                          wanted.words());
  for (size_t i = 0; i < wanted.leaves.size(); ++i) {
    const LeafSpec& leaf = wanted.leaves[i];
    const Array& array = found.leaves[i];
    bool fits = !leaf.type || *leaf.type == array.type();
    if (leaf.shape) {
      fits &= leaf.shape->size() == array.dims().size();
      for (size_t d = 0; fits && d < leaf.shape->size(); ++d)
        fits = (*leaf.shape)[d] < 0 || (*leaf.shape)[d] == array.dims()[d];
    }
    if (!fits)
      return Error::invalid("the generator gave ", name_of(array.type()), words_of(array.dims()), " for component ", i,
                            " and its signature is ", leaf.words());
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<Element>> FromGenerator::next(State& state, Context&) const {
  if (state.ended) return std::optional<Element>();
  state.ended = true;  // and stays so behind an exception
  if (!state.next) state.next = std::make_shared<Next>(generator());
  Result<std::optional<Element>> element = (*state.next)();
  state.ended = element && !*element;
  if (element && *element)
    if (std::optional<Error> error = misfit(output_signature, **element)) return *error;
  return element;
}

template <>
const Codec& plain_codec<std::function<NextElement()>>() {
  using Generator = std::function<NextElement()>;
  static const Codec codec{"generator",
                           [](const Json&, ReadContext&, void*) -> Result<void> {
                             return Error::invalid("is a function; it cannot stand in a graph file");
                           },
                           [](const void*, WriteContext&) -> Result<Json> { return Json(); }, &take_given<Generator>};
  return codec;
}

template <>
const Codec& plain_codec<Spec>() {
  static const Codec codec{"spec or null",
                           [](const Json& from, ReadContext&, void*) -> Result<void> {
                             if (from.is_null()) return {};
                             return Error::invalid("belongs to a function; it cannot stand in a graph file");
                           },
                           [](const void*, WriteContext&) -> Result<Json> { return Json(); }, &take_given<Spec>};
  return codec;
}

}  // namespace stoker
