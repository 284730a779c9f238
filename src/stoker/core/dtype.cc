#include "stoker/core/dtype.h"

#include <array>
#include <utility>

namespace stoker {
namespace {

constexpr std::array<std::pair<DType, std::string_view>, 14> kNames{{
    {DType::kBool, "bool"},
    {DType::kInt8, "int8"},
    {DType::kInt16, "int16"},
    {DType::kInt32, "int32"},
    {DType::kInt64, "int64"},
    {DType::kUint8, "uint8"},
    {DType::kUint16, "uint16"},
    {DType::kUint32, "uint32"},
    {DType::kUint64, "uint64"},
    {DType::kFloat16, "float16"},
    {DType::kBfloat16, "bfloat16"},
    {DType::kFloat32, "float32"},
    {DType::kFloat64, "float64"},
    {DType::kBytes, "string"},
}};

}  // namespace

std::string_view name_of(DType type) { return kNames[static_cast<size_t>(type)].second; }

std::optional<DType> dtype_named(std::string_view name) {
  if (name == "bytes") return DType::kBytes;
  for (const auto& [type, known] : kNames)
    if (known == name) return type;
  return std::nullopt;
}

Float16::Float16(float value) {
  const auto word = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (word >> 16) & 0x8000u;
  const uint32_t magnitude = word & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) {  // infinity and NaN; a NaN stays a NaN
    bits =
        static_cast<uint16_t>(sign | 0x7c00u | (magnitude > 0x7f800000u ? 0x200u | ((magnitude >> 13) & 0x3ffu) : 0u));
    return;
  }
  if (magnitude >= 0x477ff000u) {  // rounds to more than the largest finite value
    bits = static_cast<uint16_t>(sign | 0x7c00u);
    return;
  }
  if (magnitude < 0x38800000u) {  // subnormal: the addition rounds to nearest even
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) - 0x3f000000u));
    return;
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  bits = static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

Float16::operator float() const {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

Bfloat16::Bfloat16(float value) {
  const auto word = std::bit_cast<uint32_t>(value);
  if ((word & 0x7fffffffu) > 0x7f800000u) {
    bits = static_cast<uint16_t>((word >> 16) | 0x40u);
    return;
  }
  bits = static_cast<uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
}

}  // namespace stoker
