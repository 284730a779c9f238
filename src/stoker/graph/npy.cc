#include "stoker/graph/npy.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <utility>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/core/interrupt.h"

namespace stoker {
namespace {

constexpr Bytes kMagic("\x93NUMPY", 6);
constexpr size_t kAlign = 64;
constexpr size_t kBlockBytes = size_t{4} << 20;  // written at once

constexpr std::array<std::pair<DType, std::string_view>, 13> kDescr{{
    {DType::kBool, "|b1"},
    {DType::kInt8, "|i1"},
    {DType::kInt16, "<i2"},
    {DType::kInt32, "<i4"},
    {DType::kInt64, "<i8"},
    {DType::kUint8, "|u1"},
    {DType::kUint16, "<u2"},
    {DType::kUint32, "<u4"},
    {DType::kUint64, "<u8"},
    {DType::kFloat16, "<f2"},
    {DType::kBfloat16, "<V2"},
    {DType::kFloat32, "<f4"},
    {DType::kFloat64, "<f8"},
}};

// Parses the header: a Python dict with a string, a bool and a tuple of integers under three known keys, in any order.
class HeaderReader {
 public:
  explicit HeaderReader(Bytes text) : rest_(text) {}

  Result<NpyHeader> read() {
    STOKER_TRY(expect('{'));
    NpyHeader header;
    bool has_type = false, has_order = false, has_shape = false;
    while (!take('}')) {
      STOKER_TRY(Bytes key, quoted());
      STOKER_TRY(expect(':'));
      if (key == "descr" && !std::exchange(has_type, true)) {
        if (take('[')) return Error::unimplemented("arrays of a structured NumPy type cannot be read");
        STOKER_TRY(Bytes descr, quoted());
        STOKER_TRY(set_type(header, descr));
      } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
        STOKER_TRY(header.fortran, boolean());
      } else if (key == "shape" && !std::exchange(has_shape, true)) {
        STOKER_TRY(header.dims, shape());
      } else {
        return Error::corrupt("the header of a .npy file has an unexpected key '", printable(key), "'");
      }
      if (!take(',')) {
        STOKER_TRY(expect('}'));
        break;
      }
    }
    if (!has_type || !has_order || !has_shape)
      return Error::corrupt("the header of a .npy file lacks descr, fortran_order or shape");
    header.fortran = header.fortran && header.dims.size() > 1;
    return header;
  }

 private:
  static std::string printable(Bytes text) {
    std::string shown(text.substr(0, 40));
    for (char& c : shown)
      if (c < ' ' || c > '~') c = '?';
    return shown;
  }
  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }
  bool take(char expected) {
    skip_spaces();
    if (rest_.empty() || rest_[0] != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }
  Result<void> expect(char expected) {
    if (take(expected)) return {};
    return Error::corrupt("the header of a .npy file has '", printable(rest_.substr(0, 1)), "', expected '", expected,
                          "'");
  }
  Result<Bytes> quoted() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') STOKER_TRY(expect('"'));
    const size_t end = rest_.find(quote);
    if (end == Bytes::npos) return Error::corrupt("the header of a .npy file ends inside a string");
    const Bytes text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  Result<bool> boolean() {
    skip_spaces();
    for (const auto& [word, value] : {std::pair<Bytes, bool>{"True", true}, {"False", false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    return Error::corrupt("the header of a .npy file has no True or False for fortran_order");
  }
  Result<std::vector<int64_t>> shape() {
    STOKER_TRY(expect('('));
    std::vector<int64_t> dims;
    while (!take(')')) {
      skip_spaces();
      int64_t dim = -1;
      const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dim);
      if (problem != std::errc() || dim < 0)
        return Error::corrupt("the shape of a .npy file has a dim that is not a non-negative integer");
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      dims.push_back(dim);
      if (dims.size() > kMaxDims) return Error::corrupt("the shape of a .npy file has more than ", kMaxDims, " dims");
      if (!take(',')) {
        STOKER_TRY(expect(')'));
        break;
      }
    }
    return dims;
  }
  Result<void> set_type(NpyHeader& header, Bytes descr) {
    const Bytes plain = descr.empty() ? descr : descr.substr(1);
    const char order = descr.empty() ? '?' : descr[0];
    for (const auto& [type, known] : kDescr) {
      if (plain != known.substr(1) || (order != '<' && order != '>' && order != '|' && order != '=')) continue;
      header.type = type;
      header.swapped = order == '>';
      return {};
    }
    return Error::unimplemented("arrays of NumPy type '", printable(descr), "' cannot be read");
  }

  Bytes rest_;
};

void swap_bytes(Array& array) {
  const size_t size = size_of(array.type());
  auto* item = static_cast<std::byte*>(array.mutable_raw());
  for (int64_t i = 0, n = array.count(); i < n; ++i, item += size) std::reverse(item, item + size);
}

// In C++, a bool whose byte is neither 0 nor 1 is undefined behavior.
void make_bools(Array& array) {
  auto* item = static_cast<uint8_t*>(array.mutable_raw());
  for (int64_t i = 0, n = array.count(); i < n; ++i) item[i] = item[i] != 0;
}

// The position of the header's text in a file that starts with `start`.
struct HeaderPlace {
  size_t begin = 0;
  size_t end = 0;
};
Result<HeaderPlace> find_header(Bytes start) {
  if (!start.starts_with(kMagic)) return Error::corrupt("not a .npy file: it does not start with \\x93NUMPY");
  if (start.size() < 12) return Error::corrupt(".npy data ends at byte ", start.size(), ", inside the header");
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) return Error::unimplemented(".npy files of version ", version, " cannot be read");
  const size_t digits = version == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = 0; i < digits; ++i) length |= size_t{static_cast<unsigned char>(start[8 + i])} << (8 * i);
  return HeaderPlace{8 + digits, 8 + digits + length};
}

Result<int64_t> byte_size_of(const NpyHeader& header) {
  const std::optional<int64_t> count = count_of(header.dims);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, static_cast<int64_t>(size_of(header.type)), &bytes))
    return Error::corrupt("the header of a .npy file has shape ", shape_text(header.dims), ", which is too large");
  return bytes;
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

// Removes the file, unless it was completed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  ~TemporaryFile() {
    if (!path_.empty()) std::remove(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

}  // namespace

Result<std::string> npy_header(const Array& array) {
  const auto* known = std::ranges::find(kDescr, array.type(), &std::pair<DType, std::string_view>::first);
  if (known == kDescr.end()) return Error::unimplemented("strings cannot be written as .npy");
  std::string shape = "(";
  for (int64_t dim : array.shape()) shape += std::to_string(dim) + ", ";
  if (array.rank() > 1) shape.resize(shape.size() - 2);
  if (array.rank() == 1) shape.pop_back();
  std::string text =
      "{'descr': '" + std::string(known->second) + "', 'fortran_order': False, 'shape': " + shape + "), }";
  const size_t before = kMagic.size() + 4;  // a rank below 256 always fits version 1
  const size_t padding = kAlign - (before + text.size() + 1) % kAlign;
  text.append(padding % kAlign, ' ');
  text += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

Result<void> write_npy(const std::string& path, const Array& array) {
  STOKER_TRY(std::string header, npy_header(array));
  static std::atomic<int64_t> written_files = 0;  // other threads may write the same file
  TemporaryFile fresh(path + ".part" + std::to_string(getpid()) + "_" + std::to_string(++written_files));
  File file(std::fopen(fresh.path().c_str(), "wb"));
  if (!file) return Error::io("cannot write ", path);
  const Bytes values(static_cast<const char*>(array.raw()), static_cast<size_t>(array.byte_size()));
  bool written = std::fwrite(header.data(), 1, header.size(), file.get()) == header.size();
  for (size_t at = 0; written && at < values.size(); at += kBlockBytes) {
    stop_if_interrupted();
    const Bytes block = values.substr(at, kBlockBytes);
    written = std::fwrite(block.data(), 1, block.size(), file.get()) == block.size();
  }
  if (!written || std::fflush(file.get()) != 0) return Error::io("cannot write ", path);
  if (std::fclose(file.release()) != 0) return Error::io("cannot write ", path);
  if (std::rename(fresh.path().c_str(), path.c_str()) != 0) return Error::io("cannot write ", path);
  fresh.keep();
  return {};
}

Result<NpyHeader> read_npy_header(int64_t size, const ReadPart& read) {
  std::string start(static_cast<size_t>(std::clamp<int64_t>(size, 0, 12)), '\0');
  STOKER_TRY(read(0, start.data(), start.size()));
  STOKER_TRY(const HeaderPlace place, find_header(start));
  const auto values_at = static_cast<int64_t>(place.end);
  if (values_at > size) return Error::corrupt(".npy data ends at byte ", size, ", inside the header");
  std::string text(place.end - place.begin, '\0');
  STOKER_TRY(read(place.begin, text.data(), text.size()));
  STOKER_TRY(NpyHeader header, HeaderReader(text).read());
  header.values_at = values_at;
  STOKER_TRY(const int64_t bytes, byte_size_of(header));
  if (size - values_at < bytes)
    return Error::corrupt(".npy data ends at byte ", size, " of ",
                          static_cast<uint64_t>(values_at) + static_cast<uint64_t>(bytes));
  return header;
}

void convert_npy_values(const NpyHeader& header, Array& values) {
  if (header.swapped) swap_bytes(values);
  if (header.type == DType::kBool) make_bools(values);
}

namespace {

// Converts values from Fortran order to C order.
Result<Array> from_fortran(const Array& values) {
  STOKER_TRY(Array result, Array::make(values.shape(), values.type()));
  const size_t item = size_of(values.type());
  const auto rank = static_cast<size_t>(values.rank());
  std::vector<int64_t> index(rank, 0), strides(rank, 1);
  for (size_t axis = 1; axis < rank; ++axis) strides[axis] = strides[axis - 1] * values.shape()[axis - 1];
  const auto* const from = static_cast<const std::byte*>(values.raw());
  auto* to = static_cast<std::byte*>(result.mutable_raw());
  int64_t offset = 0;  // of the value in `from`
  for (int64_t i = 0, n = values.count(); i < n; ++i, to += item) {
    std::copy_n(from + static_cast<size_t>(offset) * item, item, to);
    for (size_t axis = rank; axis-- > 0;) {  // advances the index; the last axis varies fastest
      offset += strides[axis];
      if (++index[axis] < values.shape()[axis]) break;
      offset -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return result;
}

// Allocates nothing if the header describes more values than `size` bytes can contain.
Result<Array> read_array(int64_t size, const ReadPart& read) {
  STOKER_TRY(const NpyHeader header, read_npy_header(size, read));
  STOKER_TRY(Array array, Array::make(header.dims, header.type));
  STOKER_TRY(read(static_cast<size_t>(header.values_at), static_cast<char*>(array.mutable_raw()),
                  static_cast<size_t>(array.byte_size())));
  convert_npy_values(header, array);
  if (header.fortran) return from_fortran(array);
  return array;
}

}  // namespace

Result<Array> parse_npy(Bytes file) {
  return read_array(static_cast<int64_t>(file.size()), [&](size_t offset, char* to, size_t bytes) -> Result<void> {
    std::copy_n(file.data() + offset, bytes, to);
    return {};
  });
}

Result<Array> read_npy(const std::string& path) {
  const auto cannot = [&](const char* what) { return Error::io("cannot ", what, " ", path).set_path(path); };
  struct stat status;  // checked first, because opening a pipe waits for its writer
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return Error::precondition(path, " cannot be read at an offset: it is not a regular file").set_path(path);
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return cannot("open");
  if (std::fseek(file.get(), 0, SEEK_END) != 0) return cannot("read");
  const int64_t size = std::ftell(file.get());
  Result<Array> array = read_array(size, [&](size_t offset, char* to, size_t bytes) -> Result<void> {
    if (std::fseek(file.get(), static_cast<long>(offset), SEEK_SET) != 0) return cannot("read");
    if (std::fread(to, 1, bytes, file.get()) != bytes) return cannot("read");
    return {};
  });
  if (!array) return Error(array.error()).set_path(path);
  return array;
}

}  // namespace stoker
