#include "stoker/codecs/idx.h"

#include <algorithm>

namespace stoker {
namespace {

// The format: two zero bytes, the type, the number of dims, each dim in four bytes, big endian, and
// the values, big endian.
constexpr size_t kMarkBytes = 4, kDimBytes = 4;

std::optional<DType> type_of(uint8_t code) {
  switch (code) {
    case 0x08: return DType::kUint8;
    case 0x09: return DType::kInt8;
    case 0x0b: return DType::kInt16;
    case 0x0c: return DType::kInt32;
    case 0x0d: return DType::kFloat32;
    case 0x0e: return DType::kFloat64;
    default: return std::nullopt;
  }
}

int64_t dim_at(Bytes bytes) {
  uint32_t dim = 0;
  for (const char byte : bytes.substr(0, kDimBytes)) dim = dim << 8 | static_cast<uint8_t>(byte);
  return dim;
}

Result<DType> check_mark(Bytes whole) {
  if (whole.starts_with("\x1f\x8b")) return Error::invalid("expected an idx file, got GZIP data; decompress it first");
  if (whole.size() < kMarkBytes || whole[0] != 0 || whole[1] != 0)
    return Error::invalid(
        "the data is not an idx file, which starts with two zero bytes, a type and the number of dims");
  const auto code = static_cast<uint8_t>(whole[2]);
  const std::optional<DType> type = type_of(code);
  if (!type) return Error::invalid("an idx file has the unknown type ", int{code}, ", expected 8, 9, 11, 12, 13 or 14");
  return *type;
}

Result<std::vector<int64_t>> read_dims(Bytes whole) {
  const size_t rank = static_cast<uint8_t>(whole[3]);
  if (whole.size() < kMarkBytes + rank * kDimBytes)
    return Error::corrupt("an idx file of ", rank, " dims ends inside its header, at byte ", whole.size());
  std::vector<int64_t> dims;
  for (size_t i = 0; i < rank; ++i) dims.push_back(dim_at(whole.substr(kMarkBytes + i * kDimBytes)));
  return dims;
}

// The size must match the header exactly. This is checked before memory is allocated.
Result<void> check_size(Dims dims, DType type, size_t found) {
  size_t wanted = size_of(type);
  bool fits = true;
  for (const int64_t dim : dims) fits = fits && !__builtin_mul_overflow(wanted, static_cast<size_t>(dim), &wanted);
  if (fits && found == wanted) return {};
  return Error::corrupt("an idx file of shape ", shape_text(dims), " and type ", name_of(type), " has ", found,
                        " bytes of values, expected ", fits ? std::to_string(wanted) : "far more");
}

}  // namespace

Result<Array> parse_idx(Bytes whole) {
  STOKER_TRY(const DType type, check_mark(whole));
  STOKER_TRY(const std::vector<int64_t> dims, read_dims(whole));
  const Bytes values = whole.substr(kMarkBytes + dims.size() * kDimBytes);
  STOKER_TRY(check_size(dims, type, values.size()));
  STOKER_TRY(Array array, Array::make(dims, type));
  auto* out = static_cast<char*>(array.mutable_raw());
  const size_t size = size_of(type);
  if (size == 1) {
    std::copy(values.begin(), values.end(), out);
    return array;
  }
  for (size_t i = 0; i < values.size(); i += size) std::reverse_copy(&values[i], &values[i] + size, out + i);
  return array;
}

}  // namespace stoker
