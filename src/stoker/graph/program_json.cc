// Converts programs to and from JSON.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "stoker/graph/array_json.h"
#include "stoker/graph/program_plan.h"
#include "stoker/graph/stage.h"

namespace stoker {
namespace {

// Files are read with at most 512 levels, of which an operation takes two. A deeper expression is written in pieces of
// kPieceHeight levels.
constexpr int kPieceHeight = 100;
constexpr int kDeepestWritten = 256;

bool has_parts(const Expr& expr) { return expr.kind != Expr::Kind::kArgument && expr.kind != Expr::Kind::kConstant; }

class Writer {
 public:
  Writer(const Expr& root, const Order& order, WriteContext& context) : context_(context) {
    std::unordered_map<const Expr*, int> uses;
    for (const Expr* expr : order.nodes)
      for (const Expr::Ref& input : expr->inputs) ++uses[input.get()];
    for (const Expr* expr : order.nodes) {
      if (!has_parts(*expr)) continue;
      const bool piece = expr != &root && order.height.at(expr) % kPieceHeight == 0;
      if (piece) pieces_.push_back(expr);
      if (piece || uses[expr] > 1) ids_[expr] = kNotWritten;
    }
  }

  // A deep expression is the last item of a tuple. It refers to the other items, its pieces, by id:
  // {"get": {"tuple": [piece, piece, value]}, "key": "2"}.
  Result<Json> value(const Expr& root) {
    if (pieces_.empty()) return write(root);
    Json items = Json::list();
    for (const Expr* piece : pieces_) {
      STOKER_TRY(Json item, write(*piece));
      items.push(std::move(item));
    }
    STOKER_TRY(Json last, write(root));
    items.push(std::move(last));
    Json tuple = Json::dict(), get = Json::dict();
    tuple.set("tuple", std::move(items));
    get.set("get", std::move(tuple));
    get.set("key", std::to_string(pieces_.size()));
    return get;
  }

 private:
  static constexpr int64_t kNotWritten = -1;

  Result<Json> write(const Expr& expr) {
    const auto id = ids_.find(&expr);
    Json json = Json::dict();
    if (id == ids_.end()) {
      STOKER_TRY(write_new(expr, json));
      return json;
    }
    if (id->second != kNotWritten) {
      json.set("ref", id->second);
      return json;
    }
    STOKER_TRY(write_new(expr, json));
    json.set("id", id->second = next_id_++);
    return json;
  }
  Result<Json> write_all(const std::vector<Expr::Ref>& parts) {
    Json list = Json::list();
    for (const Expr::Ref& part : parts) {
      STOKER_TRY(Json item, write(*part));
      list.push(std::move(item));
    }
    return list;
  }
  Result<void> write_new(const Expr& expr, Json& json) {
    switch (expr.kind) {
      case Expr::Kind::kArgument: json = Json(argument_name(expr.argument)); return {};
      case Expr::Kind::kConstant: return write_constant(expr, json);
      case Expr::Kind::kOp: {
        json.set("op", expr.op->type().name);
        STOKER_TRY(Json in, write_all(expr.inputs));
        json.set("in", std::move(in));
        Result<Json> params = expr.op->params(context_);
        if (!params) return named(std::move(params).error(), expr.op->type().name);
        for (auto& [key, value] : std::get<Json::Dict>(params->value)) json.set(key, std::move(value));
        return {};
      }
      case Expr::Kind::kTuple: {
        STOKER_TRY(Json parts, write_all(expr.inputs));
        json.set("tuple", std::move(parts));
        return {};
      }
      case Expr::Kind::kDict: {
        Json fields = Json::dict();
        for (size_t i = 0; i < expr.keys.size(); ++i) {
          STOKER_TRY(Json part, write(*expr.inputs[i]));
          fields.set(expr.keys[i], std::move(part));
        }
        json.set("dict", std::move(fields));
        return {};
      }
      case Expr::Kind::kGet: {
        STOKER_TRY(Json from, write(*expr.inputs[0]));
        json.set("get", std::move(from));
        json.set("key", expr.key);
        return {};
      }
    }
    return {};
  }
  Result<void> write_constant(const Expr& expr, Json& json) {
    if (!expr.weak) {
      STOKER_TRY(json, array_to_json(expr.constant, context_));
      return {};
    }
    const bool finite = expr.constant.type() != DType::kFloat64 || std::isfinite(expr.constant.scalar<double>());
    if (finite) {
      json = values_to_json(expr.constant);
      return {};
    }
    json.set("const", values_to_json(expr.constant));  // "inf" alone would be read as the name of an argument
    json.set("weak", true);
    return {};
  }

  WriteContext& context_;
  std::vector<const Expr*> pieces_;
  std::unordered_map<const Expr*, int64_t> ids_;
  int64_t next_id_ = 0;
};

class Reader {
 public:
  Reader(std::vector<std::string> arguments, ReadContext& context)
      : arguments_(std::move(arguments)), context_(context) {}

  Result<Expr::Ref> read(const Json& json, int depth) {
    if (depth > kDeepestWritten)
      return Error::invalid("an expression is written deeper than ", kDeepestWritten,
                            " levels; give parts of it an \"id\" and use {\"ref\": id}");
    if (const bool* b = json.as<bool>()) return Value(*b).expr();
    if (const int64_t* i = json.as<int64_t>()) return Value(*i).expr();
    if (const double* d = json.as<double>()) return Value(*d).expr();
    if (const std::string* name = json.as<std::string>()) return argument(*name);
    if (json.is_null()) return Error::unimplemented("null as a component is not supported");
    const Json::Dict* dict = json.as<Json::Dict>();
    if (!dict) return Error::invalid("expected an expression, got a list; write {\"tuple\": […]} or {\"const\": […]}");
    if (const Json* id = json.find("ref")) return reference(*id, *dict);
    STOKER_TRY(Expr::Ref expr, read_new(json, *dict, depth));
    const Json* id = json.find("id");
    if (id && !ids_.emplace(id->text(), expr).second) return Error::invalid("the id ", id->text(), " is present twice");
    return expr;
  }

 private:
  // Fails if there is another key, or a key that is present twice.
  static Result<void> check_keys(const Json::Dict& dict, std::initializer_list<std::string_view> keys) {
    for (size_t i = 0; i < dict.size(); ++i) {
      const std::string& key = dict[i].first;
      if (key != "id" && std::ranges::find(keys, key) == keys.end())
        return Error::invalid("an expression with '", *keys.begin(), "' cannot have '", key, "'");
      for (size_t k = 0; k < i; ++k)
        if (dict[k].first == key) return Error::invalid("'", key, "' is present twice in an expression");
    }
    return {};
  }

  Result<Expr::Ref> argument(const std::string& name) const {
    const auto at = std::ranges::find(arguments_, name);
    if (at != arguments_.end()) return Expr::of_argument(static_cast<int>(at - arguments_.begin()));
    std::string all;
    for (const std::string& known : arguments_) all += (all.empty() ? "" : ", ") + known;
    return Error::invalid("no argument named '", name, "'; the arguments are ", all,
                          ", and a string is {\"const\": \"…\"}");
  }
  Result<Expr::Ref> reference(const Json& id, const Json::Dict& dict) const {
    STOKER_TRY(check_keys(dict, {"ref"}));
    const auto known = ids_.find(id.text());
    if (known == ids_.end()) return Error::invalid("no expression before this one has the id ", id.text());
    return known->second;
  }
  Result<std::vector<Expr::Ref>> read_all(const Json& json, int depth) {
    const Json::List* list = json.as<Json::List>();
    if (!list) return wrong_kind("a list of expressions", json);
    std::vector<Expr::Ref> parts;
    for (const Json& item : *list) {
      STOKER_TRY(Expr::Ref part, read(item, depth + 1));
      parts.push_back(std::move(part));
    }
    return parts;
  }
  Result<Expr::Ref> read_new(const Json& json, const Json::Dict& dict, int depth) {
    if (const Json* name = json.find("op")) return operation(*name, json, depth);
    if (const Json* parts = json.find("tuple")) {
      STOKER_TRY(check_keys(dict, {"tuple"}));
      STOKER_TRY(std::vector<Expr::Ref> read, read_all(*parts, depth));
      return Expr::of_tuple(std::move(read));
    }
    if (const Json* fields = json.find("dict")) {
      STOKER_TRY(check_keys(dict, {"dict"}));
      if (!fields->as<Json::Dict>()) return wrong_kind("an object of expressions", *fields);
      std::vector<std::string> keys;
      std::vector<Expr::Ref> parts;
      for (const auto& [key, item] : *fields->as<Json::Dict>()) {
        STOKER_TRY(Expr::Ref part, read(item, depth + 1));
        keys.push_back(key);
        parts.push_back(std::move(part));
      }
      return Expr::of_dict(std::move(keys), std::move(parts));
    }
    if (const Json* from = json.find("get")) {
      STOKER_TRY(check_keys(dict, {"get", "key"}));
      const Json* key = json.find("key");
      if (!key || !(key->as<std::string>() || key->as<int64_t>()))
        return Error::invalid("an expression with 'get' requires a 'key' that is a name or a number");
      STOKER_TRY(Expr::Ref read_from, read(*from, depth + 1));
      return Expr::of_get(std::move(read_from), key->as<std::string>() ? *key->as<std::string>() : key->text());
    }
    if (is_component(json)) {
      STOKER_TRY(Element part, component_of(json, context_));
      size_t next = 0;
      return constants_of(*part.nest, part, next);
    }
    if (json.find("const") || json.find("array")) return constant(json, dict);
    return Error::invalid("expected an expression with op, tuple, dict, get, const, array or ref, got ", json.text());
  }
  Result<Expr::Ref> operation(const Json& name, const Json& json, int depth) {
    if (!name.as<std::string>()) return wrong_kind("the name of an operation", name);
    if (!context_.registry) return Error::internal("no table of operations to read an operation with");
    const OpType* type = context_.registry->find_op(*name.as<std::string>());
    if (!type) {
      std::vector<std::string_view> known;
      for (const OpType* op : context_.registry->ops()) known.push_back(op->name);
      return Error::invalid("no operation named '", *name.as<std::string>(), "'",
                            did_you_mean(*name.as<std::string>(), known));
    }
    std::vector<Expr::Ref> inputs;
    if (const Json* in = json.find("in")) {
      STOKER_TRY(inputs, read_all(*in, depth));
    }
    STOKER_TRY(std::shared_ptr<const Op> op, type->read(json, context_));
    return Expr::of_op(std::move(op), std::move(inputs));
  }
  Result<Expr::Ref> constant(const Json& json, const Json::Dict& dict) {
    const Json* given = json.find("const");
    const bool number = given && (given->as<bool>() || given->as<int64_t>() || given->as<double>());
    if (given && json.find("weak")) {
      STOKER_TRY(check_keys(dict, {"const", "weak"}));
      double value = 0;
      STOKER_TRY(codec_of<double>().read(*given, context_, &value));
      return Value(value).expr();
    }
    if (number && !json.find("dtype") && !json.find("shape")) {
      STOKER_TRY(check_keys(dict, {"const"}));
      return read(*given, 0);
    }
    Json array = Json::dict();
    for (const auto& [key, item] : dict)
      if (key != "id") array.set(key, item);
    STOKER_TRY(Array value, array_from_json(array, context_));
    return Expr::of_constant(std::move(value), false);
  }
  static Expr::Ref constants_of(const Nest& nest, const Element& element, size_t& next) {
    if (nest.kind() == Nest::Kind::kLeaf) return Expr::of_constant(element.leaves[next++], false);
    std::vector<std::string> keys;
    std::vector<Expr::Ref> parts;
    for (size_t i = 0; i < nest.fields().size(); ++i) {
      size_t leaf = next + nest.first_leaf(i);
      keys.push_back(nest.fields()[i].first);
      parts.push_back(constants_of(*nest.fields()[i].second, element, leaf));
    }
    next += nest.leaf_count();
    if (nest.kind() == Nest::Kind::kTuple) return Expr::of_tuple(std::move(parts));
    return Expr::of_dict(std::move(keys), std::move(parts));
  }

  std::vector<std::string> arguments_;
  ReadContext& context_;
  std::unordered_map<std::string, Expr::Ref> ids_;
};

}  // namespace

Result<Json> Program::to_json(WriteContext& context) const {
  STOKER_TRY(Order order, order_of(*result_));
  STOKER_TRY(Json value, Writer(*result_, order, context).value(*result_));
  Json names = Json::list();
  for (int i = 0; i < arguments_; ++i) names.push(argument_name(i));
  Json json = Json::dict();
  json.set("args", std::move(names));
  json.set("value", std::move(value));
  return json;
}

Result<std::shared_ptr<const Program>> Program::from_json(const Json& json, ReadContext& context) {
  const Json::Dict* dict = json.as<Json::Dict>();
  if (!dict) return wrong_kind("a function {\"args\": […], \"value\": …}", json);
  for (const auto& [key, item] : *dict)
    if (key != "args" && key != "value")
      return Error::invalid("expected a function with the keys args and value, got '", key, "'");
  const Json *args = json.find("args"), *value = json.find("value");
  if (!args || !value || dict->size() != 2)
    return Error::invalid("a function requires the keys args and value, each once");
  std::vector<std::string> names;
  if (!args->as<Json::List>()) return wrong_kind("a list of arguments", *args);
  for (const Json& name : *args->as<Json::List>()) {
    if (!name.as<std::string>()) return wrong_kind("names of arguments", name);
    if (std::ranges::find(names, *name.as<std::string>()) != names.end())
      return Error::invalid("the argument '", *name.as<std::string>(), "' is present twice");
    names.push_back(*name.as<std::string>());
  }
  const auto count = static_cast<int>(names.size());
  STOKER_TRY(Expr::Ref result, Reader(std::move(names), context).read(*value, 0));
  return compile(std::move(result), count);
}

}  // namespace stoker
