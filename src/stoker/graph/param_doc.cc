#include "stoker/graph/param_doc.h"

#include "stoker/graph/fields.h"

namespace stoker {

std::vector<ParamDoc> documented(const Fields& fields) {
  std::vector<ParamDoc> params;
  for (const Fields::Field& field : fields.list()) {
    WriteContext context;
    Result<Json> value = field.required ? Result<Json>(Json()) : field.codec->write(field.address, context);
    params.push_back({std::string(field.name), field.codec->type, std::string(field.doc), field.required,
                      value ? *std::move(value) : Json()});
  }
  return params;
}

}  // namespace stoker
