#include "stoker/codecs/jpeg_codes.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "stoker/core/rng.h"

namespace stoker {
namespace {

using Coefficients = std::array<int16_t, 64>;  // in the order in which they are written

struct Codes {
  std::array<uint8_t, 17> counts;  // by length
  std::vector<uint8_t> symbols;

  JpegCodes::Table table() const { return {counts.data(), symbols.data()}; }
};

class Writer {
 public:
  void put(uint32_t value, int size) {
    for (int i = size - 1; i >= 0; --i) put_bit((value >> i) & 1);
  }
  void put_symbol(const Codes& codes, uint8_t symbol) {
    uint32_t code = 0;
    size_t at = 0;
    for (int length = 1; length <= 16; ++length, code <<= 1)
      for (int i = 0; i < codes.counts[static_cast<size_t>(length)]; ++i, ++code)
        if (codes.symbols[at++] == symbol) return put(code, length);
    FAIL() << "no code for " << int{symbol};
  }
  // Writes a number in as few bits as it needs, after the symbol that contains their number.
  void put_number(const Codes& codes, int zeros, int value) {
    const int size = size_of(value);
    put_symbol(codes, static_cast<uint8_t>(zeros << 4 | size));
    put(static_cast<uint32_t>(value < 0 ? value + (1 << size) - 1 : value), size);
  }
  void put_block(const Codes& dc, const Codes& ac, int difference, const Coefficients& block) {
    put_number(dc, 0, difference);
    int zeros = 0;
    for (size_t k = 1; k < 64; ++k) {
      if (block[k] == 0) {
        ++zeros;
        continue;
      }
      for (; zeros > 15; zeros -= 16) put_symbol(ac, 0xf0);
      put_number(ac, zeros, block[k]);
      zeros = 0;
    }
    if (zeros > 0) put_symbol(ac, 0);
  }
  std::string bytes() {
    while (bits_ > 0) put_bit(1);
    return bytes_;
  }

  static int size_of(int value) {
    int size = 0;
    for (int rest = std::abs(value); rest > 0; rest /= 2) ++size;
    return size;
  }

 private:
  void put_bit(uint32_t bit) {
    byte_ = static_cast<uint8_t>(byte_ << 1 | bit);
    if (++bits_ < 8) return;
    bytes_ += static_cast<char>(byte_);
    if (byte_ == 0xff) bytes_ += '\0';
    bits_ = 0;
  }

  std::string bytes_;
  uint8_t byte_ = 0;
  int bits_ = 0;
};

// About as many codes of each length as in the tables of most files.
const Codes& dc_codes() {
  static const Codes codes{{0, 0, 1, 5, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15}};
  return codes;
}
const Codes& ac_codes() {
  static const Codes codes{{0, 0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125}, [] {
                             std::vector<uint8_t> all{0x01, 0x00, 0xf0};
                             for (int size = 1; size <= 10; ++size)
                               for (int zeros = size == 1 ? 1 : 0; zeros < 16; ++zeros)
                                 all.push_back(static_cast<uint8_t>(zeros << 4 | size));
                             return all;
                           }()};
  return codes;
}

JpegCodes reader_of(Bytes bytes, int blocks = 1) {
  JpegCodes codes;
  codes.set_dc_table(0, dc_codes().table());
  codes.set_ac_table(0, ac_codes().table());
  const std::vector<JpegCodes::Block> all(static_cast<size_t>(blocks));
  codes.set_blocks(all.data(), blocks);
  codes.start(bytes, 0);
  return codes;
}

// Rows, as they are read.
using Block = int16_t[64];
int16_t written_at(const Block& block, int k) {
  int x = 0, y = 0;
  for (; k > 0; --k) {
    const bool up = (x + y) % 2 == 0;
    if (up && x == 7)
      ++y;
    else if (!up && y == 7)
      ++x;
    else if (up)
      ++x, y = std::max(y - 1, 0);
    else
      ++y, x = std::max(x - 1, 0);
  }
  return block[8 * y + x];
}

// Some blocks with almost all coefficients, some with few; small and large numbers.
Coefficients some_block(Rng& rng) {
  Coefficients block{};
  const double share = rng.uniform();
  const int64_t most = rng.below(2) == 0 ? 3 : 1023;
  for (size_t k = 1; k < 64; ++k)
    if (rng.uniform() < share) block[k] = static_cast<int16_t>(rng.below(2 * most + 1) - most);
  return block;
}

TEST(JpegCodes, DecodeToTheCoefficientsThatWereWritten) {
  Rng rng(1, 2, 3, 4);
  std::vector<Coefficients> blocks;
  Writer writer;
  for (int i = 0; i < 500; ++i) {
    blocks.push_back(some_block(rng));
    blocks.back()[0] = static_cast<int16_t>(rng.below(2000) - 1000);
    writer.put_block(dc_codes(), ac_codes(), blocks[i][0] - (i > 0 ? blocks[i - 1][0] : 0), blocks.back());
  }
  const std::string bytes = writer.bytes() + "\xff\xd9";
  JpegCodes codes = reader_of(bytes);
  for (const Coefficients& wanted : blocks) {
    Block block{};
    Block* const unit[1] = {&block};
    ASSERT_EQ(codes.read(unit), JpegCodes::End::kFine);
    for (int k = 0; k < 64; ++k) ASSERT_EQ(written_at(block, k), wanted[static_cast<size_t>(k)]);
  }
  EXPECT_EQ(codes.place(), bytes.size() - 2);
}

TEST(JpegCodes, ThatAreSkippedAffectTheCodesAfterThem) {
  Rng rng(1, 2, 3, 4);
  Writer writer;
  for (int i = 0; i < 50; ++i) writer.put_block(dc_codes(), ac_codes(), 3, some_block(rng));
  const std::string bytes = writer.bytes() + "\xff\xd9";
  JpegCodes codes = reader_of(bytes);
  for (int i = 1; i < 50; ++i) ASSERT_EQ(codes.read(nullptr), JpegCodes::End::kFine);
  Block block{};
  Block* const unit[1] = {&block};
  ASSERT_EQ(codes.read(unit), JpegCodes::End::kFine);
  EXPECT_EQ(block[0], 150);
}

TEST(JpegCodes, StartAgainAfterARestartMarker) {
  Writer first, second;
  first.put_block(dc_codes(), ac_codes(), 7, {});
  second.put_block(dc_codes(), ac_codes(), -5, {});
  const std::string bytes = first.bytes() + "\xff\xd0" + second.bytes() + "\xff\xd9";
  JpegCodes codes = reader_of(bytes);
  Block block{};
  Block* const unit[1] = {&block};
  ASSERT_EQ(codes.read(unit), JpegCodes::End::kFine);
  EXPECT_EQ(block[0], 7);
  ASSERT_EQ(codes.place(), first.bytes().size());
  codes.start(bytes, codes.place() + 2);
  ASSERT_EQ(codes.read(unit), JpegCodes::End::kFine);
  EXPECT_EQ(block[0], -5);
}

TEST(JpegCodes, ThatEndEarlyReturnNoUnit) {
  Rng rng(5, 6, 7, 8);
  Writer writer;
  for (int i = 0; i < 6; ++i) writer.put_block(dc_codes(), ac_codes(), 1000, some_block(rng));
  const std::string whole = writer.bytes();
  for (size_t size = 0; size + 1 < whole.size(); ++size) {
    if (size > 0 && whole[size - 1] == '\xff') continue;
    const std::string cut = whole.substr(0, size), marked = cut + "\xff\xd9";
    EXPECT_EQ(reader_of(cut, 6).read(nullptr), JpegCodes::End::kBytes) << size;
    EXPECT_EQ(reader_of(marked, 6).read(nullptr), JpegCodes::End::kMarker) << size;
  }
}

TEST(JpegCodes, ThatAreInNoTableAreZerosOrAnErrorNearTheEnd) {
  Writer writer;
  writer.put_number(dc_codes(), 0, 9);
  writer.put(0x1ffff, 17);
  writer.put_block(dc_codes(), ac_codes(), -4, {});
  const std::string bytes = writer.bytes();
  EXPECT_EQ(reader_of(bytes).read(nullptr), JpegCodes::End::kBadCode);
  EXPECT_EQ(reader_of(bytes + "\xff\xd0" + std::string(2000, '\0')).read(nullptr), JpegCodes::End::kBadCode);
  const std::string longer = bytes + std::string(2000, '\0');
  JpegCodes codes = reader_of(longer);
  Block block{};
  Block* const unit[1] = {&block};
  EXPECT_EQ(codes.read(unit), JpegCodes::End::kFine);
  EXPECT_EQ(block[0], 9);
  EXPECT_EQ(codes.read(unit), JpegCodes::End::kFine);
  EXPECT_EQ(block[0], 5);
}

TEST(JpegCodes, WhoseSumsOverflowAreTooLarge) {
  Writer writer;
  const int blocks = 1 << 17;
  for (int i = 0; i < blocks; ++i) writer.put_block(dc_codes(), ac_codes(), 32767, {});
  const std::string bytes = writer.bytes();
  JpegCodes codes = reader_of(bytes);
  JpegCodes::End end = JpegCodes::End::kFine;
  for (int i = 0; i < blocks && end == JpegCodes::End::kFine; ++i) end = codes.read(nullptr);
  EXPECT_EQ(end, JpegCodes::End::kTooLarge);
}

TEST(JpegCodes, OfAnyBytesStayInBounds) {
  Rng rng(9, 9, 9, 9);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (int64_t n = rng.below(60); n > 0; --n) bytes += static_cast<char>(rng.below(4) == 0 ? 255 : rng.below(256));
    JpegCodes codes = reader_of(bytes, 3);
    Block blocks[3] = {};
    Block* const unit[3] = {&blocks[0], &blocks[1], &blocks[2]};
    while (codes.read(unit) == JpegCodes::End::kFine) {
    }
    EXPECT_LE(codes.place(), bytes.size());
  }
}

}  // namespace
}  // namespace stoker
