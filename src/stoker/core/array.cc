#include "stoker/core/array.h"

#include <algorithm>
#include <new>

namespace stoker {
namespace {

std::string item_text(const Array& array, int64_t i) {
  if (array.type() == DType::kBytes) return "'" + std::string(array.bytes_at(i)) + "'";
  return visit_dtype(array.type(), [&](auto zero) -> std::string {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Bytes>) {
      return "";
    } else {
      const T value = array.values<T>()[static_cast<size_t>(i)];
      std::ostringstream text;
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>)
        text << static_cast<float>(value);
      else
        text << +value;
      return text.str();
    }
  });
}

}  // namespace

std::optional<int64_t> count_of(Dims dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  return count;
}

std::string shape_text(Dims dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + (dims[i] < 0 ? "?" : std::to_string(dims[i]));
  return text + "]";
}

void Array::copy(const Array& other) {
  owner_ = other.owner_;
  if (owner_) owner_->keep();
  inside_ = other.inside_;
  rank_ = other.rank_;
  type_ = other.type_;
  if (rank_ > kInside) {
    more_ = room_for(rank_);
    std::copy_n(other.more_, rank_, more_);
  } else {
    std::copy_n(other.dims_, kInside, dims_);
  }
}

void Array::set_dims(Dims dims) {
  STOKER_CHECK(dims.size() < 256);
  if (dims.size() > kInside) more_ = room_for(dims.size());
  rank_ = static_cast<uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), rank_ > kInside ? more_ : dims_);
}

Array Array::of_bytes(Bytes text) {
  Buffer* owner = Buffer::make_small(text.size());
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(owner->data()));
  return view_bytes({reinterpret_cast<const char*>(owner->data()), text.size()}, owner);
}

Array Array::view_bytes(Bytes text, Buffer* owner) {
  Array a;
  a.owner_ = owner;
  a.type_ = DType::kBytes;
  a.data_ = text.data();
  a.length_ = static_cast<int64_t>(text.size());
  return a;
}

Array Array::view_strings(std::span<const Bytes> texts, Buffer* owner) {
  Buffer* table = Buffer::make_table(texts.size_bytes(), owner);
  std::ranges::copy(texts, reinterpret_cast<Bytes*>(table->data()));
  const auto n = static_cast<int64_t>(texts.size());
  return over(table->data(), Dims(&n, 1), DType::kBytes, table);
}

Result<Array> Array::make(Dims dims, DType type) {
  const std::optional<int64_t> count = count_of(dims);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, static_cast<int64_t>(size_of(type)), &bytes))
    return Error::exhausted("an array of shape ", shape_text(dims), " is too large");
  STOKER_TRY(Buffer * owner, Buffer::make(static_cast<size_t>(bytes)));
  if (type == DType::kBytes)
    std::uninitialized_fill_n(reinterpret_cast<Bytes*>(owner->data()), static_cast<size_t>(*count), Bytes());
  return over(owner->data(), dims, type, owner);
}

Array Array::make_small(Dims dims, DType type) {
  const std::optional<int64_t> count = count_of(dims);
  STOKER_CHECK(count && *count < (int64_t{1} << 40));
  Buffer* owner = Buffer::make_small(static_cast<size_t>(*count) * size_of(type));
  if (type == DType::kBytes)
    std::uninitialized_fill_n(reinterpret_cast<Bytes*>(owner->data()), static_cast<size_t>(*count), Bytes());
  return over(owner->data(), dims, type, owner);
}

Array Array::over(const void* data, Dims dims, DType type, Buffer* owner) {
  Array a;
  a.owner_ = owner;
  a.type_ = type;
  a.data_ = data;
  a.set_dims(dims);
  if (type == DType::kBytes && dims.empty()) {  // the view replaces the table of one view
    const Bytes text = *static_cast<const Bytes*>(data);
    a.data_ = text.data();
    a.length_ = static_cast<int64_t>(text.size());
  }
  return a;
}

Result<Array> Array::clone() const {
  if (is_number()) {
    Array copy;
    copy.type_ = type_;
    std::memcpy(&copy.inside_, raw(), size_of(type_));
    return copy;
  }
  if (type_ == DType::kBytes) {
    std::vector<Bytes> texts;
    for (int64_t i = 0, n = count(); i < n; ++i) texts.push_back(bytes_at(i));
    STOKER_TRY(Array copy, of_strings(texts, shape()));
    STOKER_TRY(check_intact());
    return copy;
  }
  STOKER_TRY(Array copy, make(shape(), type_));
  std::memcpy(copy.mutable_raw(), raw(), static_cast<size_t>(byte_size()));
  STOKER_TRY(check_intact());
  return copy;
}

Error Array::lost_error() const {
  if (const std::optional<Buffer::Source> file = source()) return truncated_error(file->path, file->offset);
  const Buffer::Source* const file = owner_->characters()->source();  // of the strings of a table
  return truncated_error(file ? file->path : std::string(), -1);
}

void Array::detach() {
  Result<Array> copy = clone();
  if (!copy) throw std::move(copy).error();
  *this = *std::move(copy);
}

void Array::isolate_memory(Buffer::Access access) {
  if (type_ == DType::kBytes || !owner_->shared()) return;
  owner_ = Buffer::part_of(owner_, raw(), static_cast<size_t>(byte_size()), access);
}

namespace {

size_t bytes_for(std::span<const Bytes> texts) {
  size_t characters = 0;
  for (Bytes text : texts) characters += text.size();
  return texts.size() * sizeof(Bytes) + characters;
}

// Stores the table first, then the characters.
Array strings_in(Buffer* owner, std::span<const Bytes> texts, Dims dims) {
  const std::optional<int64_t> count = count_of(dims);
  STOKER_CHECK(count && *count == static_cast<int64_t>(texts.size()));
  auto* table = reinterpret_cast<Bytes*>(owner->data());
  auto* to = reinterpret_cast<char*>(owner->data() + texts.size() * sizeof(Bytes));
  for (size_t i = 0; i < texts.size(); ++i) {
    new (table + i) Bytes(to, texts[i].size());
    to = std::copy(texts[i].begin(), texts[i].end(), to);
  }
  return Array::over(table, dims, DType::kBytes, owner);
}

}  // namespace

Result<Array> Array::of_strings(std::span<const Bytes> texts, Dims dims) {
  STOKER_TRY(Buffer * owner, Buffer::make(bytes_for(texts)));
  return strings_in(owner, texts, dims);
}

Array Array::small_strings(std::span<const Bytes> texts, Dims dims) {
  return strings_in(Buffer::make_small(bytes_for(texts)), texts, dims);
}

int64_t Array::count() const {
  int64_t count = 1;
  for (int64_t dim : shape()) count *= dim;
  return count;
}

int64_t Array::byte_size() const {
  if (type_ != DType::kBytes) return count() * static_cast<int64_t>(size_of(type_));
  if (rank_ == 0) return length_;
  int64_t total = 0;
  for (int64_t i = 0, n = count(); i < n; ++i) total += static_cast<int64_t>(bytes_at(i).size());
  return total;
}

Array Array::view_at(int64_t i) const {
  Array a;
  a.type_ = type_;
  const Dims rest = shape().subspan(1);
  a.owner_ = owner_ && rest.empty() ? owner_->characters() : owner_;
  if (a.owner_) a.owner_->keep();
  if (rest.empty()) {
    const Bytes text = bytes_at(i);
    a.data_ = text.data();
    a.length_ = static_cast<int64_t>(text.size());
    return a;
  }
  int64_t stride = static_cast<int64_t>(size_of(type_));
  for (int64_t dim : rest) stride *= dim;
  a.data_ = static_cast<const std::byte*>(data_) + i * stride;
  a.set_dims(rest);
  return a;
}

Array Array::rows(int64_t first, int64_t n) const {
  Array a(*this);
  int64_t stride = static_cast<int64_t>(size_of(type_));
  for (int64_t dim : shape().subspan(1)) stride *= dim;
  a.data_ = static_cast<const std::byte*>(data_) + first * stride;
  (a.rank_ > kInside ? a.more_ : a.dims_)[0] = n;
  return a;
}

Array Array::reshaped(Dims dims) const {
  if (rank_ == 0 && type_ == DType::kBytes) {  // needs a table with one view
    const Bytes text = bytes();
    return small_strings({&text, 1}, dims);
  }
  Array a;
  a.type_ = type_;
  if (rank_ == 0 && !owner_) {
    Array block = make_small(dims, type_);
    std::memcpy(block.mutable_raw(), &inside_, size_of(type_));
    return block;
  }
  a.owner_ = owner_;
  if (owner_) owner_->keep();
  a.data_ = data_;
  a.set_dims(dims);
  if (dims.empty() && type_ == DType::kBytes) {
    const Bytes text = bytes_at(0);
    a.data_ = text.data();
    a.length_ = static_cast<int64_t>(text.size());
  }
  return a;
}

bool Array::operator==(const Array& other) const {
  if (type_ != other.type_ || !std::ranges::equal(shape(), other.shape())) return false;
  if (type_ != DType::kBytes) return std::memcmp(raw(), other.raw(), static_cast<size_t>(byte_size())) == 0;
  for (int64_t i = 0, n = count(); i < n; ++i)
    if (bytes_at(i) != other.bytes_at(i)) return false;
  return true;
}

void Array::throw_wrong_type(DType expected) const {
  throw Error::invalid("expected an array of ", name_of(expected), ", got ", name_of(type_), shape_text(shape()));
}

std::string Array::describe() const {
  if (rank_ == 0) return item_text(*this, 0);
  std::string text = "[";
  const int64_t n = count();
  for (int64_t i = 0; i < std::min<int64_t>(n, 3); ++i) text += (i ? ", " : "") + item_text(*this, i);
  text += n > 3 ? ", …] " : "] ";
  return text + std::string(name_of(type_)) + " of shape " + shape_text(shape());
}

// The offset of a source belongs to the first byte of the buffer. A view that starts at a later
// byte has a larger offset.
std::optional<Buffer::Source> Array::source() const {
  if (!owner_ || !owner_->source()) return std::nullopt;
  Buffer::Source source = *owner_->source();
  Buffer* const whole = owner_->root();
  const auto distance = static_cast<const std::byte*>(raw()) - whole->data();
  const bool inside = distance >= 0 && distance < static_cast<ptrdiff_t>(whole->size());
  if (source.offset != -1 && inside) source.offset += distance;
  return source;
}

namespace {

Result<void> check_intact(std::span<const Array> rows) {
  if (!Buffer::any_backed()) return {};
  const Backing* last = nullptr;  // most rows are of one file
  for (const Array& row : rows) {
    if (row.backing() == last) continue;
    STOKER_TRY(row.check_intact());
    last = row.backing();
  }
  return {};
}

}  // namespace

Result<Array> stacked(std::span<const Array> rows) {
  STOKER_CHECK(!rows.empty());
  const Array& first = rows[0];
  std::vector<int64_t> dims{static_cast<int64_t>(rows.size())};
  dims.insert(dims.end(), first.shape().begin(), first.shape().end());
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].type() != first.type())
      return Error::invalid("row ", i, " is ", name_of(rows[i].type()), ", but row 0 is ", name_of(first.type()));
    if (!std::ranges::equal(rows[i].shape(), first.shape()))
      return Error::invalid("row ", i, " has shape ", shape_text(rows[i].shape()), ", but row 0 has shape ",
                            shape_text(first.shape()));
  }
  if (first.type() == DType::kBytes) {
    std::vector<Bytes> texts;
    for (const Array& row : rows)
      for (int64_t i = 0, n = row.count(); i < n; ++i) texts.push_back(row.bytes_at(i));
    STOKER_TRY(Array block, Array::of_strings(texts, dims));
    STOKER_TRY(check_intact(rows));
    return block;
  }
  STOKER_TRY(Array block, Array::make(dims, first.type()));
  const auto row_bytes = static_cast<size_t>(first.byte_size());
  auto* to = static_cast<std::byte*>(block.mutable_raw());
  for (size_t i = 0; i < rows.size(); ++i) std::memcpy(to + i * row_bytes, rows[i].raw(), row_bytes);
  STOKER_TRY(check_intact(rows));
  return block;
}

}  // namespace stoker
