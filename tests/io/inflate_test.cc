#include "stoker/io/inflate.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/core/rng.h"
#include "support/compress.h"

namespace stoker {
namespace {

struct Whole {
  std::string bytes;
  size_t consumed = 0;
  bool finished = false;
  bool damaged = false;
};

// Decompresses with input and output pieces of `in` and `out` bytes.
Whole inflate(Inflater& inflater, std::string_view bytes, size_t in, size_t out) {
  Whole whole;
  std::vector<char> buffer(out);
  for (;;) {
    const std::string_view piece = bytes.substr(whole.consumed, in);
    const Inflater::Step step = inflater.step(piece, buffer);
    whole.consumed = static_cast<size_t>(static_cast<ptrdiff_t>(whole.consumed) + step.consumed);
    whole.bytes.append(buffer.data(), step.produced);
    whole.finished = step.finished;
    whole.damaged = step.damage != nullptr;
    if (whole.finished || whole.damaged || (step.consumed == 0 && step.produced == 0)) return whole;
  }
}

std::string random_text(Rng& rng, int64_t size) {
  const int64_t letters = 1 + rng.below(256);
  std::string text;
  while (static_cast<int64_t>(text.size()) < size) {
    text += static_cast<char>(rng.below(letters));
    if (text.size() > 10 && rng.below(10) == 0) text += text.substr(static_cast<size_t>(rng.below(10)), 300);
  }
  return text;
}

TEST(Inflater, AgreesWithZlibForPiecesOfEverySize) {
  const auto fast = make_isal_inflater(Wrapper::kGzip);
  if (!fast) GTEST_SKIP() << "built without ISA-L";
  const auto plain = make_zlib_inflater(Wrapper::kGzip);
  for (uint64_t i = 0; i < 300; ++i) {
    Rng rng(1, 0, 0, i);
    const std::string text = random_text(rng, rng.below(100000));
    const std::string bytes = gzipped(text, static_cast<int>(rng.below(10))) + "behind";
    const auto in = static_cast<size_t>(1 + rng.below(i % 2 ? 20 : 100000));
    const auto out = static_cast<size_t>(1 + rng.below(i % 3 ? 20 : 100000));
    for (Inflater* inflater : {fast.get(), plain.get()}) {
      inflater->restart();
      const Whole whole = inflate(*inflater, bytes, in, out);
      EXPECT_TRUE(whole.finished);
      EXPECT_EQ(whole.bytes, text);
      EXPECT_EQ(whole.consumed, bytes.size() - 6);
    }
  }
}

TEST(Inflater, AgreesWithZlibOnDamagedData) {
  const auto fast = make_isal_inflater(Wrapper::kZlib);
  if (!fast) GTEST_SKIP() << "built without ISA-L";
  const auto plain = make_zlib_inflater(Wrapper::kZlib);
  for (uint64_t i = 0; i < 2000; ++i) {
    Rng rng(2, 0, 0, i);
    const std::string text = random_text(rng, rng.below(1000));
    std::string bytes = zlibbed(text);
    const int64_t bit = rng.below(static_cast<int64_t>(8 * bytes.size()));
    bytes[static_cast<size_t>(bit / 8)] = static_cast<char>(bytes[static_cast<size_t>(bit / 8)] ^ (1 << bit % 8));
    fast->restart();
    plain->restart();
    const Whole whole = inflate(*plain, bytes, 100, 100);
    EXPECT_EQ(inflate(*fast, bytes, 100, 100).finished, whole.finished) << i;
    EXPECT_TRUE(!whole.finished || whole.bytes == text) << i;
  }
}

}  // namespace
}  // namespace stoker
