#include "stoker/graph/npy.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temp_dir.h"

namespace stoker {
namespace {

// Returns a file with this header, padded as NumPy does.
std::string npy(std::string header, std::string values = "", char version = 1) {
  const size_t before = version == 1 ? 10 : 12;
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  for (size_t i = 0; i < before - 8; ++i) file += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return file + header + values;
}

std::string error_in(const std::string& file) {
  const Result<Array> array = parse_npy(file);
  return array ? "" : array.error().message();
}

TEST(Npy, WritesTheHeaderThatNumPyWrites) {
  // np.save(f, np.array([[1, 2, 3]], dtype=np.int16))
  const Array array = Array::from(std::vector<int16_t>{1, 2, 3}).reshaped(std::vector<int64_t>{1, 3});
  EXPECT_EQ(*npy_header(array), npy("{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3), }"));
  EXPECT_EQ(*npy_header(Array::from(std::vector<bool>{true})),
            npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }"));
  EXPECT_EQ(*npy_header(Array::of(1.5)), npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }"));
}

TEST(Npy, ReadsWhatItWrote) {
  const TempDir folder;
  for (int type = 0; type < static_cast<int>(DType::kBytes); ++type)
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {0}, {7}, {2, 3}, {1, 2, 1, 2, 1}}) {
      Array array = Array::make(dims, static_cast<DType>(type)).value();
      auto* bytes = static_cast<uint8_t*>(array.mutable_raw());
      for (int64_t i = 0; i < array.byte_size(); ++i) bytes[i] = static_cast<uint8_t>(type == 0 ? i % 2 : 37 * i);
      const std::string path = folder.at("a.npy");
      ASSERT_TRUE(write_npy(path, array).ok());
      const Result<Array> again = read_npy(path);
      ASSERT_TRUE(again.ok()) << again.error().describe();
      EXPECT_EQ(*again, array) << name_of(array.type()) << shape_text(dims);
    }
}

TEST(Npy, LeavesNoTemporaryFile) {
  const TempDir folder;
  EXPECT_EQ(write_npy(folder.at("none/a.npy"), Array::of(1)).error().code(), Code::kNotFound);
  ASSERT_TRUE(write_npy(folder.at("a.npy"), Array::of(1)).ok());
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
  EXPECT_EQ(files, 1u);
}

TEST(Npy, ReadsOtherVersionsAndByteOrders) {
  const std::string two("\0\1\0\2", 4);
  EXPECT_EQ(*parse_npy(npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", two)),
            Array::from(std::vector<int16_t>{1, 2}));
  EXPECT_EQ(*parse_npy(npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", two, 2)),
            Array::from(std::vector<int16_t>{256, 512}));
  EXPECT_EQ(*parse_npy(npy("{\"shape\":(2,),\"descr\":\"|u1\",\"fortran_order\":True}", "ab")),
            Array::from(std::vector<uint8_t>{'a', 'b'}));
}

TEST(Npy, ConvertsFortranOrderToCOrder) {
  // np.asfortranarray([[1, 2, 3], [4, 5, 6]]) in big-endian int16
  const std::string columns("\0\1\0\4\0\2\0\5\0\3\0\6", 12);
  EXPECT_EQ(*parse_npy(npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", columns)),
            Array::from(std::vector<int16_t>{1, 2, 3, 4, 5, 6}).reshaped(std::vector<int64_t>{2, 3}));
  EXPECT_EQ(parse_npy(npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 0, 3), }"))->count(), 0);
}

TEST(Npy, ReadsEveryNonzeroByteAsTrue) {
  EXPECT_EQ(*parse_npy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", std::string("\0\1\x80", 3))),
            Array::from(std::vector<bool>{false, true, true}));
}

TEST(Npy, ReportsWhatIsWrongWithAFile) {
  EXPECT_EQ(error_in("PK\x03\x04"), "not a .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(error_in(std::string("\x93NUMPY\x01\x00\xff", 9)), ".npy data ends at byte 9, inside the header");
  EXPECT_EQ(error_in(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", "1234")),
            ".npy data ends at byte 132 of 140");
  EXPECT_EQ(error_in(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }")),
            "arrays of NumPy type '<c8' cannot be read");
  EXPECT_EQ(error_in(npy("{'descr': [('a', '<i4'), ('b', '<f8')], 'fortran_order': False, 'shape': (3,), }")),
            "arrays of a structured NumPy type cannot be read");
  EXPECT_EQ(error_in(npy("{'descr': '<i4', 'shape': (3,)}")),
            "the header of a .npy file lacks descr, fortran_order or shape");
  EXPECT_EQ(error_in(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (9223372036854775807, 2)}")),
            "the header of a .npy file has shape [9223372036854775807, 2], which is too large");
  EXPECT_EQ(error_in(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}")),
            "the shape of a .npy file has a dim that is not a non-negative integer");
  EXPECT_EQ(error_in(npy("{'descr': '<i4")), "the header of a .npy file ends inside a string");
  EXPECT_EQ(error_in(npy("{'evil': __import__('os')}")), "the header of a .npy file has an unexpected key 'evil'");
}

TEST(Npy, AllocatesNothingIfTheFileIsShorterThanItsHeaderStates) {
  const TempDir folder;
  const std::string path =
      folder.write("a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"));
  const Result<Array> array = read_npy(path);
  ASSERT_FALSE(array.ok());
  EXPECT_EQ(array.error().message(), ".npy data ends at byte 128 of 8000000000128");
  EXPECT_EQ(array.error().place().path, path);
}

TEST(Npy, CannotRepresentStrings) {
  EXPECT_EQ(npy_header(Array::of_bytes("a")).error().message(), "strings cannot be written as .npy");
}

}  // namespace
}  // namespace stoker
