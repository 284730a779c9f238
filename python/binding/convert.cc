#include "python/binding/convert.h"

#include <cxxabi.h>

#include <nanobind/ndarray.h>

#include <limits>

#include "python/binding/calls.h"

namespace stoker::python {
namespace {

nb::dlpack::dtype dlpack_type(DType type) {
  using Code = nb::dlpack::dtype_code;
  const auto bits = static_cast<uint8_t>(8 * size_of(type));
  Code code = Code::UInt;
  if (type == DType::kBool) code = Code::Bool;
  if (is_signed_integer(type)) code = Code::Int;
  if (is_float(type) && type != DType::kBfloat16) code = Code::Float;  // NumPy has no bfloat16: the bits, as uint16
  return {static_cast<uint8_t>(code), bits, 1};
}

nb::object numpy() { return nb::module_::import_("numpy"); }

nb::object bytes_of(Bytes text) { return nb::bytes(text.data(), text.size()); }

nb::object copied_strings(const Array& array) {
  if (array.rank() == 0) return bytes_of(array.bytes());
  nb::list shape;
  for (const int64_t dim : array.shape()) shape.append(dim);
  nb::object made = numpy().attr("empty")(nb::tuple(shape), "object");
  nb::object flat = made.attr("reshape")(-1);
  for (int64_t i = 0; i < array.count(); ++i) flat[nb::int_(i)] = bytes_of(array.bytes_at(i));
  return made;
}

nb::object strings(const Array& array) {
  nb::object made = copied_strings(array);
  if (Result<void> intact = array.check_intact(); !intact) throw std::move(intact).error();
  return made;
}

// Views the bits as the type of ml_dtypes. Without it, NumPy could only show them as integers, which would be wrong.
nb::object as_bfloat16(nb::object bits) {
  try {
    return bits.attr("view")(nb::module_::import_("ml_dtypes").attr("bfloat16"));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    throw Error::unimplemented(
        "NumPy has no bfloat16 without the package ml_dtypes; install it (pip install ml_dtypes), or cast to float32");
  }
}

nb::object numbers(Array given, Ownership ownership) {
  auto* kept = new Array(std::move(given));
  const Array& array = *kept;
  nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<Array*>(pointer); });
  void* const memory = ownership == Ownership::kArgument ? kept->mutable_raw() : const_cast<void*>(array.raw());
  std::vector<size_t> shape(array.shape().begin(), array.shape().end());
  const nb::ndarray<nb::numpy> view(memory, shape.size(), shape.data(), owner, nullptr, dlpack_type(array.type()));
  nb::object made = nb::cast(view);
  if (array.type() == DType::kBfloat16) made = as_bfloat16(std::move(made));
  // nanobind returns NumPy's longlong, which equals int64 but is another class.
  if (array.type() == DType::kInt64 || array.type() == DType::kUint64)
    made = made.attr("view")(std::string(name_of(array.type())));
  return array.rank() == 0 ? nb::object(made[nb::tuple()]) : made;
}

nb::module_ composites() { return nb::module_::import_("stoker._composite"); }

nb::str key_of(const std::string& key) { return nb::str(key.data(), key.size()); }  // may contain NUL

nb::object nested(Element& element, const Nest* nest, size_t first, Ownership ownership) {
  if (nest->kind() == Nest::Kind::kLeaf) return to_python(std::move(element.leaves[first]), ownership);
  const auto part = [&](size_t i) {
    return nested(element, nest->fields()[i].second, first + nest->first_leaf(i), ownership);
  };
  if (nest->kind() == Nest::Kind::kTuple) {
    nb::list parts;
    for (size_t i = 0; i < nest->fields().size(); ++i) parts.append(part(i));
    return nb::tuple(parts);
  }
  nb::dict parts;
  for (size_t i = 0; i < nest->fields().size(); ++i) parts[key_of(nest->fields()[i].first)] = part(i);
  return nest->composite_kind().empty() ? nb::object(parts) : composites().attr("composite_of")(parts);
}

// ---- from Python

std::string_view text_of(nb::handle value, std::string& kept) {
  if (PyBytes_Check(value.ptr()))
    return {PyBytes_AS_STRING(value.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(value.ptr()))};
  // File names may contain bytes that are not UTF-8; Python represents them as surrogates.
  const nb::bytes encoded = nb::cast<nb::bytes>(value.attr("encode")("utf-8", "surrogateescape"));
  kept.assign(encoded.c_str(), encoded.size());
  return kept;
}

bool is_text(nb::handle value) { return PyBytes_Check(value.ptr()) || PyUnicode_Check(value.ptr()); }

// Compares the name of the class first, which is cheap.
bool is_composite(nb::handle value) {
  const std::string_view name = Py_TYPE(value.ptr())->tp_name;
  return (name == "SparseTensor" || name == "RaggedTensor") && nb::hasattr(value, "_parts");
}

Array strings_from(nb::handle array) {
  std::vector<std::string> kept;
  std::vector<int64_t> dims;
  for (nb::handle dim : array.attr("shape")) dims.push_back(nb::cast<int64_t>(dim));
  for (nb::handle item : array.attr("reshape")(-1).attr("tolist")()) {
    if (!is_text(item))
      throw Error::invalid("item ", kept.size(), " is of type '", nb::cast<std::string>(item.type().attr("__name__")),
                           "', expected bytes or text; an array of other objects is not supported");
    std::string own;
    kept.emplace_back(text_of(item, own));
  }
  const std::vector<Bytes> views(kept.begin(), kept.end());
  Result<Array> made = Array::of_strings(views, dims);
  if (!made) throw made.error();
  return *std::move(made);
}

Array integer(nb::handle value) {
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0)
    throw Error::invalid(nb::cast<std::string>(nb::str(value)),
                         " does not fit int64; expected an integer of at most 64 bits");
  const bool small = number >= std::numeric_limits<int32_t>::min() && number <= std::numeric_limits<int32_t>::max();
  return small ? Array::of<int32_t>(static_cast<int32_t>(number)) : Array::of<int64_t>(number);
}

Array numbers_from(nb::object array, Memory memory) {
  const auto name = nb::cast<std::string>(array.attr("dtype").attr("name"));
  const std::optional<DType> type = dtype_named(name);
  if (!type || *type == DType::kBytes)
    throw Error::invalid("an array has the type ", name,
                         ", which is not supported; convert it, for example with astype");
  if (!nb::cast<bool>(array.attr("dtype").attr("isnative")))
    array = array.attr("astype")(array.attr("dtype").attr("newbyteorder")("="));
  array = numpy().attr("require")(array, nb::none(), "C");
  std::vector<int64_t> dims;
  for (nb::handle dim : array.attr("shape")) dims.push_back(nb::cast<int64_t>(dim));
  const auto address = nb::cast<uintptr_t>(array.attr("ctypes").attr("data"));
  const auto bytes = nb::cast<size_t>(array.attr("nbytes"));
  const auto* data = reinterpret_cast<const void*>(address);
  if (memory == Memory::kShare && bytes > 0) {
    Buffer* owner = Buffer::wrap(data, bytes, [kept = keep(array)]() mutable { kept.reset(); });
    return Array::over(data, dims, *type, owner);
  }
  Result<Array> made = Array::make(dims, *type);
  if (!made) throw made.error();
  if (bytes > 0) std::memcpy(made->mutable_raw(), data, bytes);
  return *std::move(made);
}

}  // namespace

namespace {

// Disables the garbage collector, which before Python 3.12 runs inside any allocation.
// It could call a __del__ that waits. If the interpreter shuts down during this wait, it
// ends the thread by unwinding frames that must not be unwound.
class NoCollection {
#if PY_VERSION_HEX >= 0x030A0000 && PY_VERSION_HEX < 0x030C0000
 public:
  NoCollection() : was_enabled_(PyGC_Disable() != 0) {}
  ~NoCollection() {
    if (was_enabled_) PyGC_Enable();
  }
  NoCollection(const NoCollection&) = delete;
  NoCollection& operator=(const NoCollection&) = delete;

 private:
  const bool was_enabled_;
#else
 public:
  NoCollection() {}  // user-provided, so that a variable of this type is not reported as unused
#endif
};

}  // namespace

std::shared_ptr<nb::object> keep(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object* kept) {
            const PythonCall entered;
            if (!entered) return;  // the process ends, and its objects are not freed
            const nb::gil_scoped_acquire held;
            PyObject* const last = kept->release().ptr();
            delete kept;
            try {
              Py_XDECREF(last);  // its __del__ may take a long time
            } catch (abi::__forced_unwind&) {
              PythonCall::stop();
            }
          }};
}

nb::object to_python(Array array, Ownership ownership) {
  return array.type() == DType::kBytes ? strings(array) : numbers(std::move(array), ownership);
}

nb::object to_python(Element element, Ownership ownership) {
  const NoCollection held;
  return nested(element, element.nest, 0, ownership);
}

Array array_from_python(nb::handle value, Memory memory) {
  if (PyBool_Check(value.ptr())) return Array::of<bool>(value.is(nb::handle(Py_True)));
  if (PyLong_Check(value.ptr())) return integer(value);
  if (PyFloat_CheckExact(value.ptr())) return Array::of<float>(static_cast<float>(PyFloat_AS_DOUBLE(value.ptr())));
  if (is_text(value)) {
    std::string kept;
    return Array::of_bytes(text_of(value, kept));
  }
  nb::object array = numpy().attr("asarray")(value);
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind == "S" || kind == "U" || kind == "O") return strings_from(array);
  return numbers_from(std::move(array), memory);
}

Element element_from_python(nb::handle value, Memory memory) {
  if (PyTuple_Check(value.ptr())) {
    std::vector<Element> parts;
    for (nb::handle part : nb::borrow<nb::tuple>(value)) parts.push_back(element_from_python(part, memory));
    return tuple_of(std::move(parts));
  }
  if (is_composite(value)) return element_from_python(value.attr("_parts")(), memory);
  if (!PyDict_Check(value.ptr())) return Element(array_from_python(value, memory));
  std::vector<std::pair<std::string, Element>> parts;
  for (auto [key, part] : nb::borrow<nb::dict>(value))
    parts.emplace_back(nb::cast<std::string>(key), element_from_python(part, memory));
  return dict_of(std::move(parts));
}

nb::object to_python(const Spec& spec) {
  if (!spec.known()) return nb::none();
  Element numbered;
  numbered.nest = spec.nest;
  nb::list leaves;
  for (size_t i = 0; i < spec.leaves.size(); ++i) {
    const LeafSpec& leaf = spec.leaves[i];
    numbered.leaves.push_back(Array::of<int64_t>(static_cast<int64_t>(i)));
    nb::object shape = nb::none();
    if (leaf.shape) {
      nb::list dims;
      for (const int64_t dim : *leaf.shape) dims.append(dim < 0 ? nb::none() : nb::object(nb::int_(dim)));
      shape = nb::tuple(dims);
    }
    leaves.append(nb::make_tuple(leaf.type ? nb::object(nb::str(name_of(*leaf.type).data())) : nb::none(), shape));
  }
  return nb::make_tuple(to_python(std::move(numbered), Ownership::kDelivered), leaves);
}

}  // namespace stoker::python
