// Making variables of both kinds.
#include "ops/variables.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "graph/error.h"
#include "ops/array_ops.h"
#include "ops/initial_value.h"

namespace runnel {
namespace {

// What a variable is made from: one of the three.
struct Start {
  Output output;
  const Tensor* tensor = nullptr;
  const InitialValue* function = nullptr;
};

class Maker {
 public:
  Maker(Graph& graph, Start start, std::string_view name, const VariableOptions& options)
      : graph_(graph),
        options_(options),
        start_(start),
        at_(graph, options.where),
        outside_(graph, ControlDependencies::Clear{}),
        scope_(graph, name.empty() ? "Variable" : name),
        name_(scope_.name().substr(0, scope_.name().size() - 1)) {}

  Variable make() {
    if (options_.use_resource) {
      make_resource();
    } else {
      make_ref();
    }
    parts_.is_resource = options_.use_resource;
    parts_.trainable = options_.trainable;
    const Variable out(std::make_shared<VariableParts>(std::move(parts_)));
    std::vector<std::string> keys = options_.collections;
    if (options_.trainable && std::find(keys.begin(), keys.end(), keys::kTrainableVariables) == keys.end())
      keys.emplace_back(keys::kTrainableVariables);
    for (const std::string& key : keys) graph_.add_to_collection(key, out);
    return out;
  }

 private:
  void make_ref();
  void make_resource();
  Output initial_value();
  Attrs attrs() const;

  Graph& graph_;
  const VariableOptions& options_;
  const Start start_;
  const MadeAt at_;
  const ControlDependencies outside_;  // initial values run apart from what is going on around
  const NameScope scope_;
  const std::string name_;
  VariableParts parts_;
};

// Made in the current scope where it does not exist yet.
Output Maker::initial_value() {
  if (start_.output) return start_.output;
  if (start_.tensor)
    return constant(graph_, *start_.tensor, {.name = "initial_value", .where = options_.where});
  return (*start_.function)(graph_);
}

Attrs Maker::attrs() const {
  const Output& value = parts_.initial_value;
  if (options_.validate_shape && !value.shape().is_known())
    throw InvalidArgument(cat("variable '", name_, "': its initial value ", value.name(), " has shape ",
                              value.shape(), "; give one whose shape is known, or validate_shape = false"),
                          options_.where, name_);
  return {{"dtype", base_of(value.dtype())},
          {"shape", options_.validate_shape ? value.shape() : Shape::unknown()}};
}

void Maker::make_ref() {
  {
    std::optional<ColocateWith> with;
    std::optional<NameScope> inner;
    if (start_.function) {
      with.emplace(graph_, name_);
      inner.emplace(graph_, "Initializer");
    }
    parts_.initial_value = initial_value();
    parts_.variable = graph_.add("VariableV2", {}, attrs(), name_ + "/", options_.where);
  }
  const Output safe = safe_initial_value(parts_.initial_value, scope_.name());
  const ColocateWith with(parts_.variable.node());
  parts_.initializer = graph_.add("Assign", {parts_.variable, safe},
                                  {{"validate_shape", options_.validate_shape}}, "Assign", options_.where);
  parts_.snapshot = identity(parts_.variable, {.name = "read", .where = options_.where});
}

void Maker::make_resource() {
  {
    const ColocateWith with(graph_, name_);
    {
      const NameScope inner(graph_, "Initializer");
      parts_.initial_value = initial_value();
    }
    Attrs all = attrs();
    all.emplace("shared_name", name_);
    parts_.variable = graph_.add("VarHandleOp", {}, std::move(all), name_ + "/", options_.where);
  }
  {
    const NameScope inner(graph_, "IsInitialized");
    graph_.add("VarIsInitializedOp", {parts_.variable}, {}, "", options_.where);
  }
  const DType type = parts_.variable.node().type("dtype");
  {
    const Output safe = safe_initial_value(parts_.initial_value, scope_.name());
    const ColocateWith nothing(graph_, ColocateWith::Nothing{});
    parts_.initializer =
        graph_.add("AssignVariableOp", {parts_.variable, safe}, {{"dtype", type}}, "Assign", options_.where);
  }
  const NameScope inner(graph_, "Read");
  parts_.snapshot = graph_.add("ReadVariableOp", {parts_.variable}, {{"dtype", type}}, "", options_.where);
}

}  // namespace

Variable variable(Output initial_value, std::string_view name, VariableOptions options) {
  return Maker(initial_value.graph(), {.output = initial_value}, name, options).make();
}

Variable variable(Graph& graph, const Tensor& initial_value, std::string_view name, VariableOptions options) {
  return Maker(graph, {.output = {}, .tensor = &initial_value}, name, options).make();
}

Variable variable(Graph& graph, const InitialValue& initial_value, std::string_view name,
                  VariableOptions options) {
  return Maker(graph, {.output = {}, .tensor = nullptr, .function = &initial_value}, name, options).make();
}

}  // namespace runnel
