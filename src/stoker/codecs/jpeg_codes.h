#pragma once

#include <array>
#include <cstdint>

#include "stoker/codecs/picture.h"

namespace stoker {

// The Huffman codes of a JPEG's scan in one pass, read into the coefficients of
// 8x8 blocks. Nearly all the time of decoding photographs goes here: what a code
// and the bits behind it say is found in one look, and what nobody asks for is
// passed over. 500x400 in 110 KB: 0.6 ms, libjpeg-turbo 0.9 ms.
class JpegCodes {
 public:
  static constexpr int kMostBlocks = 10;  // of a unit of the scan
  static constexpr int kMostTables = 4;

  // A table as its segment gives it; it must be one that codes fit into.
  struct Table {
    const uint8_t* counts = nullptr;   // [1, 16]: codes of each length
    const uint8_t* symbols = nullptr;  // what they stand for, the shortest first
  };
  // One block of a unit: whose coefficient before it counts from, and its tables.
  struct Block {
    int component = 0;
    int dc = 0;
    int ac = 0;
  };

  void set_dc_table(int number, const Table& table) { dc_[at(number)].build(table, Kind::kDifference); }
  void set_ac_table(int number, const Table& table) { ac_[at(number)].build(table, Kind::kCoefficients); }
  void set_blocks(const Block* blocks, int count);

  // Begins anew at a byte of `bytes`: the scan, or what follows a restart marker.
  void start(Bytes bytes, size_t begin);

  enum class End : uint8_t { kFine, kBadCode, kMarker, kBytes, kTooLarge };
  // One unit: the coefficients of its blocks that are not zero, in the order of
  // rows, or nothing where `blocks` is null. Anything but kFine: there is none,
  // because of a marker, the end of the bytes, a sum beyond all numbers or a code
  // that no table has; the latter only where libjpeg-turbo minds, too: before a
  // marker and near the end of the bytes. Elsewhere it stands for zeros.
  End read(int16_t (*const* blocks)[64]);

  // The first byte that was not looked at: a marker's where there was one.
  size_t place() const { return static_cast<size_t>(reader_.at - begin_); }

 private:
  static constexpr int kBits = 10;  // that one look takes
  static constexpr int kLongest = 16;

  // Bits from the left end of a word. Behind the last ones are zeros, `missing`
  // of which are in the word.
  struct Reader {
    const uint8_t* at = nullptr;
    const uint8_t* end = nullptr;
    uint64_t bits = 0;
    int count = 0;
    int missing = 0;
    bool bad = false;  // a code was in no table

    void refill();
    Reader refilled_slowly() const;
    void drop(int n) {
      bits <<= n;
      count -= n;
    }
    int32_t signed_value(int size);
  };

  enum class Kind : uint8_t { kDifference, kCoefficients };

  class Lookup {
   public:
    void build(const Table& table, Kind kind);
    int symbol(Reader& reader) const;

    // A coefficient and the zeros before it, of codes that are short with all
    // their bits. Nothing but zeros lead beyond the block; so do other codes, of
    // length 0.
    static constexpr uint8_t kBeyond = 63;
    struct Step {
      uint8_t length = 0;
      uint8_t zeros = kBeyond;
      int16_t value = 0;
    };
    const Step& step(const Reader& reader) const { return steps_[reader.bits >> (64 - kBits)]; }

   private:
    struct Code {
      uint8_t symbol = 0;
      uint8_t length = 0;
    };
    void add(uint32_t code, int length, uint8_t symbol, Kind kind);
    bool is_built(const Table& table) const;

    std::array<uint8_t, kLongest + 1> counts_{};
    std::array<uint8_t, 256> symbols_{};
    std::array<Step, 1 << kBits> steps_{};
    std::array<Code, 1 << kBits> codes_{};
    std::array<int32_t, kLongest + 1> first_code_{};    // of each length
    std::array<int32_t, kLongest + 1> first_symbol_{};  // its place
  };

  static constexpr size_t at(int number) { return static_cast<size_t>(number); }
  template <bool kKept>
  End read_block(Reader& reader, const Block& block, int16_t* to);
  template <bool kKept>
  End read_unit(int16_t (*const* blocks)[64]);

  std::array<Lookup, kMostTables> dc_, ac_;
  std::array<Block, kMostBlocks> blocks_;
  int block_count_ = 0;
  std::array<int64_t, kMostTables> last_dc_{};  // by component
  const uint8_t* begin_ = nullptr;
  Reader reader_;
};

}  // namespace stoker
