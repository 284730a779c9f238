#include "support/op_example.h"

#include "stoker/core/rng.h"

namespace stoker {
namespace {

struct Registered {
  std::string name;
  std::function<OpExample()> make;
};

std::vector<Registered>& registered() {
  static auto* all = new std::vector<Registered>;
  return *all;
}

Array bytes_of(int64_t row, std::vector<int64_t> dims) {
  Array array = Array::make(dims, DType::kUint8).value();
  Rng numbers(1, 2, 3, static_cast<uint64_t>(row));
  for (uint8_t& value : array.mutable_values<uint8_t>()) value = static_cast<uint8_t>(numbers.below(256));
  return array;
}

Array floats_of(const Array& bytes, float scale, float offset) {
  Array array = Array::make(bytes.shape(), DType::kFloat32).value();
  const auto from = bytes.values<uint8_t>();
  auto to = array.mutable_values<float>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(from[i]) / 255 * scale + offset;
  return array;
}

}  // namespace

RegisterOpExample::RegisterOpExample(std::string name, std::function<OpExample()> make) {
  registered().push_back({std::move(name), std::move(make)});
}

const std::vector<OpExample>& op_examples() {
  static const auto* all = [] {
    auto* made = new std::vector<OpExample>;
    for (const Registered& each : registered()) {
      made->push_back(each.make());
      made->back().name = each.name;
    }
    return made;
  }();
  return *all;
}

Function function_of(std::shared_ptr<const Op> op, size_t arguments) {
  std::vector<Expr::Ref> inputs;
  for (size_t i = 0; i < arguments; ++i) inputs.push_back(Expr::of_argument(static_cast<int>(i)));
  const Expr::Ref result = Expr::of_op(std::move(op), std::move(inputs));
  return Function(Program::compile(result, static_cast<int>(arguments)).value());
}

Arrays float_rows(int64_t row) { return {floats_of(bytes_of(row, {2, 3}), 6, -3)}; }

Arrays two_float_rows(int64_t row) {
  return {floats_of(bytes_of(row, {2, 3}), 6, -3), floats_of(bytes_of(row + 1000, {2, 3}), 6, -3)};
}

Arrays two_integer_rows(int64_t row) {
  const auto number = [&](int64_t i) { return 1 + (row * 3 + i * 5) % 9; };
  return {Array::from(std::vector<int32_t>{static_cast<int32_t>(number(0)), static_cast<int32_t>(number(1)), 7}),
          Array::from(std::vector<uint8_t>{static_cast<uint8_t>(number(2)), static_cast<uint8_t>(number(3)), 2})};
}

Arrays two_bool_rows(int64_t row) {
  return {Array::from(std::vector<bool>{false, true, row % 2 == 0, row % 3 == 0}),
          Array::from(std::vector<bool>{row % 4 == 0, true, false, row % 5 == 0})};
}

Arrays image_rows(int64_t row) { return {bytes_of(row, {6, 7, 3})}; }
Arrays gray_image_rows(int64_t row) { return {bytes_of(row, {6, 7, 1})}; }
Arrays float_image_rows(int64_t row) { return {floats_of(bytes_of(row, {6, 7, 3}), 1, 0)}; }

Arrays image_and_seed_rows(int64_t row) {
  return {bytes_of(row, {6, 7, 3}), Array::from(std::vector<int64_t>{5, row})};
}

Arrays image_batch_rows(int64_t row) { return {bytes_of(row, {3, 4, 5, 3})}; }

}  // namespace stoker
