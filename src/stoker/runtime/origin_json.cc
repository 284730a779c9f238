#include "stoker/runtime/origin_json.h"

#include "stoker/graph/fields.h"

namespace stoker {
namespace {

constexpr int kDeepest = 64;

Result<Origin> read(const Json& json, int depth) {
  const Json::List* list = json.as<Json::List>();
  if (depth > kDeepest || !list || list->size() < 3)
    return Error::invalid("the checkpoint is damaged: expected an origin, got ", json.text());
  auto number = [&](size_t i) { return (*list)[i].as<int64_t>() ? *(*list)[i].as<int64_t>() : 0; };
  Origin origin{.source = static_cast<int32_t>(number(0)), .pass = number(1), .position = number(2)};
  if (origin.pass < 0 || origin.pass > kMostPasses)
    return Error::invalid("the checkpoint is damaged: expected a pass number, got ", origin.pass);
  if (list->size() > 3 && !(*list)[3].is_null()) {
    STOKER_TRY(Origin parent, read((*list)[3], depth + 1));
    origin.parent = std::make_shared<const Origin>(std::move(parent));
  }
  if (list->size() > 4) {
    std::vector<Origin> members;
    const Json::List* member_list = (*list)[4].as<Json::List>();
    if (!member_list)
      return Error::invalid("the checkpoint is damaged: expected a list of origins, got ", (*list)[4].text());
    for (const Json& item : *member_list) {
      STOKER_TRY(Origin member, read(item, depth + 1));
      members.push_back(std::move(member));
    }
    origin.members = std::make_shared<const std::vector<Origin>>(std::move(members));
  }
  return origin;
}

}  // namespace

Json origin_to_json(const Origin& origin) {
  Json json = Json::list();
  json.push(int64_t{origin.source});
  json.push(origin.pass);
  json.push(origin.position);
  if (origin.parent || origin.members) json.push(origin.parent ? origin_to_json(*origin.parent) : Json());
  if (origin.members) {
    Json members = Json::list();
    for (const Origin& member : *origin.members) members.push(origin_to_json(member));
    json.push(std::move(members));
  }
  return json;
}

Result<Origin> origin_from_json(const Json& json) { return read(json, 0); }

Result<Json> row_to_json(const Run& run) {
  Json json = Json::dict();
  json.set("origin", origin_to_json(run.origins.at(0)));
  if (const Failure* failure = run.failure_of(0)) {
    json.set("code", static_cast<int64_t>(failure->error.code()));
    json.set("error", failure->error.message());
    return json;
  }
  WriteContext context;
  const Element element = run.element(0);
  STOKER_TRY(Json value, codec_of<Element>().write(&element, context));
  json.set("element", std::move(value));
  return json;
}

Result<Run> row_from_json(const Json& json) {
  const Json* origin_json = json.find("origin");
  if (!origin_json) return Error::invalid("the checkpoint is damaged: expected an element with an origin, found none");
  STOKER_TRY(Origin origin, origin_from_json(*origin_json));
  if (const Json* code = json.find("code"); code && code->as<int64_t>()) {
    const Json* message = json.find("error");
    return Run::failure(Error(static_cast<Code>(*code->as<int64_t>()),
                              message && message->as<std::string>() ? *message->as<std::string>() : ""),
                        std::move(origin));
  }
  const Json* value = json.find("element");
  if (!value) return Error::invalid("the checkpoint is damaged: expected an element or an error, found neither");
  Element element;
  ReadContext context;
  STOKER_TRY(codec_of<Element>().read(*value, context, &element));
  return Run::of(std::move(element), std::move(origin));
}

}  // namespace stoker
