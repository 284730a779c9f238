#include "stoker/codecs/exif.h"

#include <gtest/gtest.h>

#include <string>

#include "support/exifs.h"
#include "support/fixture.h"
#include "support/jpegs.h"
#include "support/pngs.h"

namespace stoker {
namespace {

std::string png_with(const std::string& notes) {
  std::string bytes = make_png({.samples = {1, 2, 3}});
  return bytes.insert(8 + 25, png_chunk("eXIf", notes));  // after the header
}

TEST(Exif, ReturnsTheOrientationOfAnImage) {
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (const bool big : {false, true}) {
      const std::string notes = exif_notes(orientation, big);
      EXPECT_EQ(exif_orientation(with_exif(make_jpeg({}), notes)), orientation);
      EXPECT_EQ(exif_orientation(png_with(notes)), orientation);
    }
  EXPECT_EQ(exif_orientation(fixture("image_formats/turned.webp")), 6);
}

TEST(Exif, IsUprightWithoutMetadata) {
  for (const std::string& bytes : {std::string(), make_jpeg({}), make_png({.samples = {1, 2, 3}}),
                                   fixture("image_formats/still.webp"), std::string("GIF89a")})
    EXPECT_EQ(exif_orientation(bytes), 1);
}

TEST(Exif, IsUprightIfTheMetadataIsInvalid) {
  for (const int orientation : {0, 9, 65535})
    EXPECT_EQ(exif_orientation(with_exif(make_jpeg({}), exif_notes(orientation))), 1);
  EXPECT_EQ(exif_orientation(with_exif(make_jpeg({}), "II*" + std::string("\0\xff\xff\xff\xff", 5))), 1);
}

TEST(Exif, IsValidWithAnyByteChangedOrMissing) {
  for (const std::string& whole :
       {with_exif(make_jpeg({}), exif_notes(6)), png_with(exif_notes(3)), fixture("image_formats/turned.webp")}) {
    const std::string bytes = whole.substr(0, 200);
    for (size_t i = 0; i < bytes.size(); ++i)
      for (const int change : {0, 1, 0x80, 0xff}) {
        std::string changed = change == 0 ? bytes.substr(0, i) : bytes;
        if (change != 0) changed[i] = static_cast<char>(changed[i] ^ change);
        const int orientation = exif_orientation(changed);
        EXPECT_TRUE(orientation >= 1 && orientation <= 8);
      }
  }
}

}  // namespace
}  // namespace stoker
