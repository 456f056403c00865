// Variables shared by name: get_variable makes a variable once and a VariableScope decides whether asking
// again is a mistake or means the same one. Names are TensorFlow's: variables take the scope's name as it is
// ("layer/w", also when the scope is opened again), ops the next free one ("layer_1/"). Regularizers,
// partitioners and custom getters are left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"
#include "graph/node.h"
#include "graph/shape.h"
#include "ops/initializers.h"

namespace runnel {

// Whether get_variable makes variables, finds them, or finds them where they exist. kInherit: as the scope
// outside.
enum class Reuse { kInherit, kNo, kYes, kAuto };

struct VariableScopeOptions {
  Reuse reuse = Reuse::kInherit;
  Location where = Location::here();
};

// While it lives, get_variable of this thread puts NAME/ before names, and ops are made in a name scope NAME.
class [[nodiscard]] VariableScope {
 public:
  VariableScope(Graph& graph, std::string_view name, VariableScopeOptions options = {});
  ~VariableScope();
  VariableScope(const VariableScope&) = delete;
  VariableScope& operator=(const VariableScope&) = delete;

  const std::string& name() const { return name_; }  // "outer/layer"
  Reuse reuse() const { return reuse_; }

 private:
  const VariableScope* outer_;
  std::string name_;
  Reuse reuse_;
  NameScope ops_;
};

// What get_variable would put before a name now: "outer/layer/", or "" outside of all scopes.
std::string variable_prefix(const Graph& graph);

struct GetVariableOptions {
  Initializer initializer =
      {};  // default: glorot_uniform_initializer, zeros for dtypes that are not floating
  DType dtype = DType::kFloat;
  bool trainable = true;
  std::vector<std::string> collections = {keys::kGlobalVariables};
  bool use_resource = false;
  Location where = Location::here();
};

// The variable of that name within the open VariableScopes: a new one, or the one that exists, as they say.
//
//   name     without the scopes' names
//   shape    known in full
//   returns  T[shape]
//   errors   AlreadyExists if there is one and the scope does not reuse; NotFound if there is none and it
//            must; InvalidArgument if the one that exists has another shape or dtype
//   source   tf.get_variable
Variable get_variable(Graph& graph, std::string_view name, const Shape& shape,
                      GetVariableOptions options = {});

}  // namespace runnel
