#include "stoker/codecs/jpeg_codes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "stoker/codecs/jpeg_huffman.h"

namespace stoker {
namespace {

// The positions of the coefficients in the rows of a block. Positions beyond the block map to the
// last coefficient.
constexpr auto kOrder = [] {
  std::array<uint8_t, 128> order{};
  order.fill(63);
  std::ranges::copy(kJpegOrder, order.begin());
  return order;
}();

// libjpeg-turbo decodes without further checks if at least this many bytes per block remain.
constexpr int kBytesOfBlock = 512;

uint64_t word_at(const uint8_t* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

bool has_ff(uint64_t word) { return ((~word - 0x0101010101010101) & word & 0x8080808080808080) != 0; }

// `size` bits as a number. If the first bit is zero, the number is negative.
int32_t with_sign(uint32_t bits, int size) {
  const auto value = static_cast<int32_t>(bits);
  return value >> (size - 1) != 0 ? value : value - (1 << size) + 1;
}

}  // namespace

// ---- bits

// Provides at least 56 bits.
inline void JpegCodes::Reader::refill() {
  if (end - at >= 8)
    if (const uint64_t word = word_at(at); !has_ff(word)) {
      bits |= word >> count;
      at += (63 - count) >> 3;
      count |= 56;
      return;
    }
  const Reader now = *this;
  *this = now.refilled_slowly();
}

// Reads byte by byte, because some bytes are not codes. Takes and returns the reader by value: an
// object whose address is taken is kept in memory instead of registers.
[[gnu::noinline]] JpegCodes::Reader JpegCodes::Reader::refilled_slowly() const {
  auto [at, end, bits, count, missing, bad] = *this;
  while (count < 56) {
    if (at == end) break;
    if (*at == 0xff) {
      if (end - at < 2) break;
      if (at[1] == 0xff) {  // a fill byte before a marker
        ++at;
        continue;
      }
      if (at[1] != 0) break;
    }
    bits |= uint64_t{*at} << (56 - count);
    count += 8;
    at += *at == 0xff ? 2 : 1;
  }
  if (count < 56) {
    missing += 56 - count;
    count = 56;
  }
  return {at, end, bits, count, missing, bad};
}

inline int32_t JpegCodes::Reader::signed_value(int size) {
  const auto value = static_cast<uint32_t>(bits >> (64 - size));
  drop(size);
  return with_sign(value, size);
}

// ---- tables

bool JpegCodes::Lookup::is_built(const Table& table) const {
  int all = 0;
  for (int i = 1; i <= kLongest; ++i) {
    if (table.counts[i] != counts_[at(i)]) return false;
    all += table.counts[i];
  }
  return all > 0 && std::equal(table.symbols, table.symbols + all, symbols_.begin());
}

void JpegCodes::Lookup::build(const Table& table, Kind kind) {
  if (is_built(table)) return;  // most files of one encoder have the same tables
  steps_.fill({});
  codes_.fill({});
  symbols_.fill(0);
  uint32_t code = 0;
  int symbol = 0;
  for (int length = 1; length <= kLongest; ++length, code <<= 1) {
    first_code_[at(length)] = static_cast<int32_t>(code);
    first_symbol_[at(length)] = symbol;
    counts_[at(length)] = table.counts[length];
    for (int i = 0; i < table.counts[length] && symbol < 256; ++i, ++code, ++symbol) {
      symbols_[at(symbol)] = table.symbols[symbol];
      if (length <= kBits) add(code, length, table.symbols[symbol], kind);
    }
  }
}

void JpegCodes::Lookup::add(uint32_t code, int length, uint8_t symbol, Kind kind) {
  const uint32_t first = code << (kBits - length), end = first + (1u << (kBits - length));
  if (end > codes_.size()) return;
  std::fill(codes_.begin() + first, codes_.begin() + end, Code{symbol, static_cast<uint8_t>(length)});
  const int size = symbol & 15, whole = length + size;
  if (kind == Kind::kDifference || whole > kBits) return;
  const auto zeros = static_cast<uint8_t>(symbol >> 4);
  if (size == 0) {  // 16 zeros, or nothing but zeros
    const Step step{static_cast<uint8_t>(length), zeros == 15 ? zeros : kBeyond, 0};
    std::fill(steps_.begin() + first, steps_.begin() + end, step);
    return;
  }
  const uint32_t each = 1u << (kBits - whole);
  for (uint32_t bits = 0; bits < 1u << size; ++bits) {
    const Step step{static_cast<uint8_t>(whole), zeros, static_cast<int16_t>(with_sign(bits, size))};
    std::fill_n(steps_.begin() + first + bits * each, each, step);
  }
}

inline int JpegCodes::Lookup::symbol(Reader& reader) const {
  const Code& code = codes_[reader.bits >> (64 - kBits)];
  if (code.length > 0) {
    reader.drop(code.length);
    return code.symbol;
  }
  for (int length = kBits + 1; length <= kLongest; ++length) {
    const int32_t number = static_cast<int32_t>(reader.bits >> (64 - length)) - first_code_[at(length)];
    if (number < 0 || number >= counts_[at(length)]) continue;
    reader.drop(length);
    return symbols_[at(first_symbol_[at(length)] + number)];
  }
  reader.bad = true;
  reader.drop(kLongest + 1);
  return 0;
}

// ---- units

void JpegCodes::set_blocks(const Block* blocks, int count) {
  std::copy_n(blocks, count, blocks_.begin());
  block_count_ = count;
}

void JpegCodes::start(Bytes bytes, size_t begin) {
  begin_ = reinterpret_cast<const uint8_t*>(bytes.data());
  reader_ = {begin_ + begin, begin_ + bytes.size()};
  last_dc_ = {};
}

template <bool kKept>
inline JpegCodes::End JpegCodes::read_block(Reader& reader, const Block& block, int16_t* to) {
  reader.refill();
  const int size = dc_[at(block.dc)].symbol(reader);
  if (size > 15) return End::kBadCode;
  int64_t& last = last_dc_[at(block.component)];
  if (size > 0) last += reader.signed_value(size);
  if (last != static_cast<int32_t>(last)) return End::kTooLarge;
  if (kKept) to[0] = static_cast<int16_t>(last);

  // Codes that do not fit a lookup are handled like the end of the block: a zero is written at the
  // position of the last coefficient, which is decoded later.
  const Lookup& ac = ac_[at(block.ac)];
  int k = 1, length = 0;
  const auto goes_on = [&] {
    const Lookup::Step step = ac.step(reader);
    length = step.length;
    reader.drop(length);
    k += step.zeros;
    if (kKept) to[kOrder[at(k)]] = step.value;
    return ++k < 64;
  };
  static_assert(4 * kBits <= 56);
  while (true) {
    do reader.refill();
    while (goes_on() && goes_on() && goes_on() && goes_on());
    if (length > 0) return End::kFine;
    k -= 64;
    reader.refill();
    const int symbol = ac.symbol(reader), bits = symbol & 15;
    k += symbol >> 4;
    if (bits == 0 && symbol >> 4 != 15) return End::kFine;
    const int32_t value = bits > 0 ? reader.signed_value(bits) : 0;
    if (kKept) to[kOrder[at(k)]] = static_cast<int16_t>(value);
    if (++k >= 64) return End::kFine;
  }
}

template <bool kKept>
JpegCodes::End JpegCodes::read_unit(int16_t (*const* blocks)[64]) {
  Reader reader = reader_;
  const bool is_near_end = reader.end - reader.at < ptrdiff_t{kBytesOfBlock} * block_count_;
  End end = End::kFine;
  for (int i = 0; i < block_count_ && end == End::kFine; ++i)
    end = read_block<kKept>(reader, blocks_[at(i)], kKept ? *blocks[i] : nullptr);
  reader_ = reader;
  // Zeros that are not in the data were decoded as codes.
  if (reader.count < reader.missing) return reader.end - reader.at < 2 ? End::kBytes : End::kMarker;
  if (reader.bad && (is_near_end || reader.missing > 0)) return End::kBadCode;
  reader_.bad = false;
  return end;
}

JpegCodes::End JpegCodes::read(int16_t (*const* blocks)[64]) {
  return blocks ? read_unit<true>(blocks) : read_unit<false>(nullptr);
}

}  // namespace stoker
