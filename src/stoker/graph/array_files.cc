#include "stoker/graph/array_files.h"

#include <algorithm>
#include <optional>

#include "stoker/core/hash.h"
#include "stoker/graph/codec.h"
#include "stoker/graph/json_values.h"
#include "stoker/graph/npy.h"

namespace stoker {
namespace {

// `path` has no suffix.
Result<void> write_strings(const std::string& path, const Array& array) {
  const int64_t n = array.count();
  STOKER_TRY(Array characters, Array::make({array.byte_size()}, DType::kUint8));
  STOKER_TRY(Array offsets, Array::make({n + 1}, DType::kInt64));
  auto* to = static_cast<char*>(characters.mutable_raw());
  auto* offset = static_cast<int64_t*>(offsets.mutable_raw());
  offset[0] = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Bytes text = array.bytes_at(i);
    to = std::ranges::copy(text, to).out;
    offset[i + 1] = offset[i] + static_cast<int64_t>(text.size());
  }
  STOKER_TRY(write_npy(path + ".data.npy", characters));
  return write_npy(path + ".offsets.npy", offsets);
}

Result<Array> read_strings(const std::string& path, const Json* shape) {
  STOKER_TRY(Array data, read_npy(path + ".data.npy"));
  STOKER_TRY(Array offsets, read_npy(path + ".offsets.npy"));
  if (data.type() != DType::kUint8 || data.rank() != 1 || offsets.type() != DType::kInt64 || offsets.rank() != 1 ||
      offsets.count() == 0)
    return Error::corrupt(path, ".data.npy and .offsets.npy do not contain one-dimensional uint8 and int64 arrays");
  const auto* characters = static_cast<const char*>(data.raw());
  const auto at = offsets.values<int64_t>();
  std::vector<Bytes> texts;
  for (size_t i = 0; i + 1 < at.size(); ++i) {
    if (at[i] < 0 || at[i] > at[i + 1] || at[i + 1] > data.count())
      return Error::corrupt(path, ".offsets.npy has offsets ", at[i], " and ", at[i + 1], " into ", data.count(),
                            " bytes");
    texts.emplace_back(characters + at[i], static_cast<size_t>(at[i + 1] - at[i]));
  }
  std::vector<int64_t> dims{static_cast<int64_t>(texts.size())};
  if (shape) {
    STOKER_TRY(dims, dims_in(*shape));
  }
  if (count_of(dims) != static_cast<int64_t>(texts.size()))
    return Error::corrupt(path, ".offsets.npy has ", texts.size(), " strings, but the graph expects shape ",
                          shape_text(dims));
  if (dims.empty()) return Array::of_bytes(texts[0]);
  return Array::of_strings(texts, dims);
}

}  // namespace

std::string fingerprint_of(const Array& array) {
  uint64_t hash = hash_of(name_of(array.type()));
  hash = hash_of({reinterpret_cast<const char*>(array.shape().data()), array.shape().size_bytes()}, hash);
  if (array.type() == DType::kBytes) {
    for (int64_t i = 0, n = array.count(); i < n; ++i) hash = hash_of(array.bytes_at(i), hash);
  } else {
    hash = hash_of({static_cast<const char*>(array.raw()), static_cast<size_t>(array.byte_size())}, hash);
  }
  return hex_of(hash);
}

Result<Json> array_to_files(const Array& array, WriteContext& context) {
  const std::string name = (context.stem.empty() ? "array" : context.stem) + "-" + std::to_string(++context.arrays);
  const std::string path = context.folder + "/" + name;
  const bool strings = array.type() == DType::kBytes;
  STOKER_TRY(strings ? write_strings(path, array) : write_npy(path + ".npy", array));
  Json json = Json::dict();
  json.set("array", name + ".npy");
  json.set("dtype", name_of(array.type()));
  if (strings) json.set("shape", dims_to_json(array.shape()));
  json.set("hash", fingerprint_of(array));
  return json;
}

Result<Array> array_from_files(const Json& json, const ReadContext& context) {
  const std::string* file = json.find("array")->as<std::string>();
  if (!file) return wrong_kind("the name of a .npy file", *json.find("array"));
  if (file->empty() || file->find('/') != std::string::npos || file->find('\0') != std::string::npos)
    return Error::invalid("expected the name of a file in the folder of the graph, got '", *file, "'");
  std::string stem = *file;
  if (stem.ends_with(".npy")) stem.resize(stem.size() - 4);
  std::optional<DType> type;
  if (const Json* dtype = json.find("dtype")) {
    STOKER_TRY(type, dtype_in(*dtype));
  }
  const std::string path = (context.folder.empty() ? "." : context.folder) + "/" + stem;
  STOKER_TRY(Array array, type == DType::kBytes ? read_strings(path, json.find("shape")) : read_npy(path + ".npy"));
  if (type && array.type() != *type)
    return Error::corrupt(*file, " contains ", name_of(array.type()), ", but the graph was saved with ",
                          name_of(*type));
  if (const Json* hash = json.find("hash");
      hash && (!hash->as<std::string>() || *hash->as<std::string>() != fingerprint_of(array)))
    return Error::corrupt(*file, " does not contain the array that the graph was saved with");
  return array;
}

}  // namespace stoker
