#include "stoker/graph/param_doc.h"

#include <gtest/gtest.h>

#include "stoker/graph/fields.h"

namespace stoker {
namespace {

TEST(ParamDoc, HasTheTypeTheDocumentationAndTheDefault) {
  int64_t batch_size = 0;
  double share = 0.5;
  std::optional<int64_t> limit;
  std::vector<std::string> files;
  Fields fields;
  fields.required("batch_size", batch_size, "elements in a batch");
  fields("share", share);
  fields("limit", limit);
  fields("files", files);
  const std::vector<ParamDoc> params = documented(fields);
  ASSERT_EQ(params.size(), 4u);
  EXPECT_EQ(params[0].name, "batch_size");
  EXPECT_EQ(params[0].type, "int64");
  EXPECT_EQ(params[0].doc, "elements in a batch");
  EXPECT_TRUE(params[0].required && params[0].default_value.is_null());
  EXPECT_EQ(params[1].default_value, Json(0.5));
  EXPECT_EQ(params[2].type, "int64 or null");
  EXPECT_EQ(params[3].type, "list of string");
}

}  // namespace
}  // namespace stoker
