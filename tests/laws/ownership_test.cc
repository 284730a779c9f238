// What the engine delivers is the receiver's to modify: writing to it changes no
// source, cache, component, element, epoch or iterator.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>

#include "stoker/core/hash.h"
#include "support/law.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

STOKER_LAW(Ownership);

// Memory as NumPy and LibTorch receive it: they write to it directly.
std::span<unsigned char> memory_of(const Array& array) {
  if (array.type() == DType::kBytes || array.is_number()) return {};
  return {static_cast<unsigned char*>(const_cast<void*>(array.raw())), static_cast<size_t>(array.byte_size())};
}

// Fills each array of the element with its own pattern, and returns the number of bytes.
int64_t scribble(const Element& element, unsigned char& pattern) {
  int64_t bytes = 0;
  for (const Array& leaf : element.leaves) {
    std::ranges::fill(memory_of(leaf), ++pattern);
    bytes += static_cast<int64_t>(memory_of(leaf).size());
  }
  return bytes;
}

// When the receiver writes to the elements.
enum class Write { kNever, kAtOnce, kAfterTheEpoch };

struct Epoch {
  std::vector<std::string> words;  // of each element, before it was written to; of each error, its message
  int64_t elements = 0;
  int64_t written = 0;  // bytes
};

// An array that shares memory with one that was written to later has lost its
// pattern.
void expect_separate_memory(const std::vector<Element>& elements) {
  unsigned char pattern = 0;
  for (const Element& element : elements)
    for (const Array& leaf : element.leaves) {
      ++pattern;
      for (const unsigned char byte : memory_of(leaf)) ASSERT_EQ(byte, pattern) << "two arrays share memory";
    }
}

Epoch read_epoch(Loader& loader, Write write) {
  Epoch epoch;
  std::vector<Element> all;
  unsigned char pattern = 0;
  for (int i = 0; i < 500; ++i) {
    Result<std::optional<Element>> next = loader.next();
    if (next && !*next) break;
    epoch.words.push_back(next ? (*next)->describe() : next.error().message());
    if (!next) continue;
    ++epoch.elements;
    if (write == Write::kAtOnce) epoch.written += scribble(**next, pattern);
    if (write != Write::kNever) all.push_back(**std::move(next));
  }
  if (write == Write::kAfterTheEpoch)
    for (const Element& element : all) epoch.written += scribble(element, pattern);
  expect_separate_memory(all);
  return epoch;
}

// The delivered elements, and the number of bytes that were written to.
Epoch expect_ownership(const std::function<Dataset()>& make) {
  Epoch sum;
  for (const int workers : {0, 2}) {
    WithResources here({.workers = workers, .memory_bytes = int64_t{1} << 24});
    Loader untouched(make());
    Loader at_once(make());
    Loader after(make());
    for (int epoch = 0; epoch < 3; ++epoch) {
      SCOPED_TRACE("epoch " + std::to_string(epoch) + ", " + std::to_string(workers) + " workers");
      const Epoch wanted = read_epoch(untouched, Write::kNever);
      const Epoch written_at_once = read_epoch(at_once, Write::kAtOnce);
      const Epoch written_after = read_epoch(after, Write::kAfterTheEpoch);
      EXPECT_EQ(written_at_once.words, wanted.words) << "each element was written to when it was read";
      EXPECT_EQ(written_after.words, wanted.words) << "all elements were written to after the epoch";
      EXPECT_EQ(written_at_once.written, written_after.written);
      sum.elements += wanted.elements;
      sum.written += written_at_once.written;
      for (Loader* loader : {&untouched, &at_once, &after}) loader->begin_epoch();
    }
  }
  return sum;
}

TEST_P(Ownership, WritingToWhatIsDeliveredChangesNothingElse) {
  (void)expect_ownership([this] { return made(); });
}

// Numbers and strings are values; these arrays are made of them.
TEST_P(Ownership, HoldsForBatchesAndForArraysMadeOfTheElements) {
  const auto array_of = [](const Element& e) -> Result<Array> {
    STOKER_TRY(Array array, Array::make({4}, DType::kUint64));
    std::ranges::fill(array.mutable_values<uint64_t>(), hash_of(e.describe()));
    return array;
  };
  const Epoch batches = expect_ownership([this] { return made().batch({.batch_size = 2}); });
  const Epoch arrays = expect_ownership([&] { return made().map({array_of}).cache({}); });
  EXPECT_EQ(arrays.written > 0, arrays.elements > 0);
  EXPECT_TRUE(arrays.elements > 0 || batches.elements == 0) << "no element was an array";
}

// ---- arrays of every kind of owner

Element rows_of_three(int64_t rows) {
  Array array = Array::make({rows, 3}, DType::kFloat32).value();
  float value = 0;
  for (float& item : array.mutable_values<float>()) item = value++;
  return Element(std::move(array));
}

Dataset slices(int64_t rows) { return Dataset::from_tensor_slices({.tensors = rows_of_three(rows)}); }

Array ones() {
  Array array = Array::make({3}, DType::kFloat32).value();
  std::ranges::fill(array.mutable_values<float>(), 1.0f);
  return array;
}

// Emits what it receives twice.
struct Twice {
  static constexpr std::string_view kName = "twice";
  static constexpr std::string_view kDoc = "Emits each element twice.";
  struct State {
    void describe(Fields&) {}
  };
  void describe(Fields&) {}
  Result<Flow> step(State&, Element element, Emit& out, Context& context) const {
    out.put(element, context.origin());
    out.put(std::move(element), context.origin());
    return Flow::kMore;
  }
};

Element doubled_in_place(Element element) {
  for (float& value : element.leaves[0].mutable_values<float>()) value *= 2;
  return element;
}

DATASET_EXAMPLE(slices(7));
DATASET_EXAMPLE(slices(7).shuffle({.buffer_size = 3, .seed = 1}));
DATASET_EXAMPLE(slices(8).batch({.batch_size = 3}));
DATASET_EXAMPLE(slices(40).batch({.batch_size = 2}));
DATASET_EXAMPLE(slices(8).filter({[](Value x) { return reduce_sum(x) >= 0.0; }}).batch({.batch_size = 3}));
DATASET_EXAMPLE(slices(8).cache({}).repeat({.count = 2}));
DATASET_EXAMPLE(slices(8).filter({[](Value x) { return reduce_sum(x) >= 0.0; }}).cache({}));
DATASET_EXAMPLE(slices(8).batch({.batch_size = 2}).cache({}));
DATASET_EXAMPLE(Dataset::from_tensors({.tensors = rows_of_three(2)}).repeat({.count = 3}));
DATASET_EXAMPLE(slices(8).map({[](Value x) {
  const Value y = x * 2.0f;
  return tuple(y, y);
}}));
DATASET_EXAMPLE(slices(8).batch({.batch_size = 3}).map({[](Value x) { return tuple(x, x, x * 1.0f); }}));
DATASET_EXAMPLE(Dataset::zip({.datasets = {slices(8), slices(8)}}).batch({.batch_size = 3}));
DATASET_EXAMPLE(slices(5).batch({.batch_size = 2}).unbatch({}));
DATASET_EXAMPLE(slices(5).map({[](Value) { return Value(ones()); }}));
DATASET_EXAMPLE(slices(5).map({[captured = ones()](Element) { return Element(captured); }}));
DATASET_EXAMPLE(slices(5).map({[captured = ones()](Array row) { return std::tuple(captured, row, row); }}));
DATASET_EXAMPLE(slices(9).map({&doubled_in_place}).cache({}).map({&doubled_in_place}));
DATASET_EXAMPLE(slices(6).flat_map({[](const Element& row) {
  return Dataset::from_tensors({.tensors = row}).repeat({.count = 2});
}}));
DATASET_EXAMPLE(Dataset::from_generator({.generator = [captured = ones()]() -> NextElement {
  return [captured, left = 4]() mutable -> Result<std::optional<Element>> {
    if (left-- == 0) return std::optional<Element>();
    return std::optional<Element>(Element(captured));
  };
}}));

TEST(Delivery, AnElementThatAStageEmitsTwiceIsTwoElements) {
  for (const Dataset& dataset :
       {slices(5).then(Twice{}), slices(5).map({[](Element e) { return e; }}).then(Twice{}).batch({.batch_size = 2})}) {
    const Epoch all = expect_ownership([&] { return dataset; });
    EXPECT_GT(all.written, 0);
  }
}

// ---- in C++

TEST(ArrayWrites, MutableAccessToASharedBufferDetachesIt) {
  Array first = ones();
  Array second = first;
  second.mutable_values<float>()[0] = 5;
  EXPECT_EQ(first.values<float>()[0], 1);
  EXPECT_EQ(second.values<float>()[0], 5);
}

TEST(ArrayWrites, AnArrayOfItsOwnIsWrittenInPlace) {
  Array array = ones();
  const void* const before = array.raw();
  array.mutable_values<float>()[0] = 5;
  EXPECT_EQ(array.raw(), before);
}

TEST(ArrayWrites, MemoryOfAnotherOwnerIsNeverWrittenTo) {
  const float values[] = {1, 2, 3};
  const int64_t dims[] = {3};
  Array array = Array::over(values, dims, DType::kFloat32, Buffer::wrap(values, sizeof(values), [] {}));
  array.mutable_values<float>()[0] = 9;
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(array.values<float>()[0], 9);
}

TEST(ArrayWrites, AFunctionMayKeepWhatItReceivesAndReturns) {
  auto kept = std::make_shared<std::vector<Element>>();
  WithResources alone({.workers = 0, .memory_bytes = int64_t{1} << 24});
  Loader loader(slices(4).map({[kept](Element e) {
    kept->push_back(e);
    return e;
  }}));
  while (true) {
    Result<std::optional<Element>> next = loader.next();
    ASSERT_TRUE(next.ok());
    if (!*next) break;
    std::ranges::fill(memory_of((**next)[0]), 0xff);
  }
  ASSERT_EQ(kept->size(), 4);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ((*kept)[i][0].values<float>()[0], static_cast<float>(3 * i));
}

// Results of decoding and computing are delivered in place.
TEST(Delivery, FreshBatchesAreNotCopied) {
  for (const int workers : {0, 2}) {
    WithResources here({.workers = workers, .memory_bytes = int64_t{1} << 24});
    std::mutex mutex;
    std::set<const void*> produced;
    Loader loader(slices(64)
                      .map({[&](Element e, Context& context) -> Result<Element> {
                        STOKER_TRY(Array out, context.output(0, e[0].shape(), DType::kFloat32));
                        std::ranges::copy(e[0].values<float>(), out.mutable_values<float>().begin());
                        const std::lock_guard lock(mutex);
                        produced.insert(out.raw());
                        return Element(std::move(out));
                      }})
                      .batch({.batch_size = 8}));
    while (true) {
      Result<std::optional<Element>> next = loader.next();
      ASSERT_TRUE(next.ok());
      if (!*next) break;
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(produced.contains((**next)[0].raw())) << workers << " workers";
    }
  }
}

}  // namespace
}  // namespace stoker
