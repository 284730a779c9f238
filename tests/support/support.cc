#include "support/support.h"

#include <atomic>

#include "stoker/runtime/budget.h"
#include "stoker/runtime/pool.h"

namespace stoker {

Dataset numbers(int64_t n) { return Dataset::range({.stop = n}); }

namespace {

void add_numbers(const Element& element, Values& to) {
  const Array& array = element.leaves[element.leaves.size() - 1];
  for (int64_t i = 0; i < array.count(); ++i)
    visit_dtype(array.type(), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_same_v<T, Bytes>)
        to.push_back(static_cast<int64_t>(array.bytes_at(i).size()));
      else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>)
        to.push_back(static_cast<int64_t>(static_cast<float>(array.values<T>()[static_cast<size_t>(i)])));
      else
        to.push_back(static_cast<int64_t>(array.values<T>()[static_cast<size_t>(i)]));
    });
}

}  // namespace

Values values(const Dataset& dataset) {
  Values all;
  for (const Element& element : elements(dataset)) add_numbers(element, all);
  return all;
}

Values values_and_errors(const Dataset& dataset) {
  Values all;
  Loader loader(dataset);
  while (true) {
    Result<std::optional<Element>> next = loader.next();
    if (!next) {
      all.push_back(-1'000'000);
      continue;
    }
    if (!*next) return all;
    add_numbers(**next, all);
  }
}

std::vector<Element> elements(const Dataset& dataset) {
  std::vector<Element> all;
  Loader loader(dataset);
  while (true) {
    Result<std::optional<Element>> next = loader.next();
    if (!next) {
      ADD_FAILURE() << next.error().describe();
      if (all.size() > 100'000 || dataset.error()) return all;
      continue;
    }
    if (!*next) return all;
    all.push_back(**std::move(next));
  }
}

Sizes sizes(const Dataset& dataset) {
  Sizes all;
  for (const Element& element : elements(dataset)) all.push_back(element.leaves[0].dim(0));
  return all;
}

std::vector<std::string> text_of_rest(Loader& loader, int64_t at_most) {
  std::vector<std::string> all;
  while (static_cast<int64_t>(all.size()) < at_most) {
    Result<std::optional<Element>> next = loader.next();
    if (next && !*next) break;
    if (!next) {
      all.push_back("error: " + next.error().message());
      continue;
    }
    std::string words;
    for (const Array& leaf : (*next)->leaves) {
      words += std::string(name_of(leaf.type())) + shape_text(leaf.shape());
      for (int64_t i = 0; i < leaf.count(); ++i) {
        const Array flat = leaf.rank() == 0 ? leaf : leaf.reshaped(std::vector<int64_t>{leaf.count()}).row(i);
        words += " " + flat.describe();
      }
      words += ";";
    }
    all.push_back(std::move(words));
  }
  return all;
}

std::vector<std::string> text_of(const Dataset& dataset, LoaderOptions options) {
  Loader loader(dataset, options);
  return text_of_rest(loader);
}

std::string error_of(const Dataset& dataset) { return dataset.error() ? dataset.error()->message() : ""; }

std::string first_error(const Dataset& dataset) {
  Loader loader(dataset);
  while (true) {
    Result<std::optional<Element>> next = loader.next();
    if (!next) return next.error().message();
    if (!*next) return "";
  }
}

WithResources::WithResources(Resources resources) {
  previous_.workers = Pool::process().workers();
  previous_.memory_bytes = Budget::process().limit();
  configure(resources);
}
WithResources::~WithResources() { configure(previous_); }

Result<Element> FailSome::apply(Element element, Context&) const {
  const auto number = element.leaves[0].scalar<int64_t>();
  if (number % every == 3) return Error::corrupt("number ", number, " is bad");
  return element;
}

Result<Element> Jitter::apply(Element element, Context& context) const {
  const auto turns = context.rng(static_cast<uint64_t>(seed)).below(most);
  std::atomic<int64_t> spun{0};  // which the compiler does not optimize away
  while (spun.load(std::memory_order_relaxed) < turns) spun.fetch_add(1, std::memory_order_relaxed);
  return element;
}

Result<Element> AddNoise::apply(Element element, Context& context) const {
  // A damaged checkpoint may open a range of any length, so numbers may wrap around.
  const auto number = static_cast<uint64_t>(element.leaves[0].scalar<int64_t>());
  const auto noise = static_cast<uint64_t>(context.rng().below(1000));
  element.leaves[0] = Array::of<int64_t>(static_cast<int64_t>(number * 1000 + noise));
  return element;
}

std::vector<StageExample>& stage_examples() {
  static auto* all = new std::vector<StageExample>;
  return *all;
}

}  // namespace stoker
