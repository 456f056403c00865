// Settings first, then collections, then defaults.
#include "train/supervisor/supervised_graph.h"

#include <optional>
#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "graph/op_spec.h"
#include "ops/array_ops.h"
#include "ops/variable_init.h"
#include "summary/summary_ops.h"

namespace runnel {
namespace {

class Supervising {
 public:
  Supervising(Graph& graph, const SupervisorOptions& options) : graph_(graph), o_(options) {}

  SupervisedGraph all() {
    SupervisedGraph out;
    out.ready_op = output(o_.ready_op, keys::kReadyOp,
                          [&] { return report_uninitialized_variables(graph_, {.where = o_.where}); });
    out.ready_for_local_init_op =
        output(o_.ready_for_local_init_op, keys::kReadyForLocalInitOp, [] { return Output(); });
    out.init_op = operation(o_.init_op, keys::kInitOp,
                            [&] { return initialize_global_variables(graph_, {.where = o_.where}); });
    out.local_init_op = operation(o_.local_init_op, keys::kLocalInitOp, [&] {
      return group({initialize_local_variables(graph_, {.where = o_.where}),
                    initialize_tables(graph_, {.where = o_.where})},
                   {.where = o_.where});
    });
    take_saver(out);
    out.summary_op = output(o_.summary_op, keys::kSummaryOp,
                            [&] { return summary::merge_all(graph_, {.where = o_.where}); });
    take_global_step(out);
    return out;
  }

 private:
  std::optional<CollectionItem> first_of(const char* key) const {
    const Collection items = graph_.collection(key);
    if (items.empty()) return std::nullopt;
    if (items.size() > 1)
      log_info(cat("the collection '", key, "' holds ", items.size(), " items; the first is taken"));
    return items.front();
  }

  [[noreturn]] void refuse(const char* key, const char* wanted) const {
    throw InvalidArgument(cat("Supervisor: the first item of the collection '", key, "' is no ", wanted),
                          o_.where);
  }

  template <class Make>
  Output output(const Setting<Output>& setting, const char* key, Make make) const {
    if (setting.has_value()) return setting.value();
    if (setting.is_none()) return {};
    if (const auto item = first_of(key)) {
      if (const auto* output = std::get_if<Output>(&*item)) return *output;
      refuse(key, "tensor");
    }
    const Output made = make();
    if (made) graph_.add_to_collection(key, made);
    return made;
  }

  template <class Make>
  Operation operation(const Setting<Operation>& setting, const char* key, Make make) const {
    if (setting.has_value()) return setting.value();
    if (setting.is_none()) return {};
    if (const auto item = first_of(key)) {
      if (const auto* operation = std::get_if<Operation>(&*item)) return *operation;
      if (const auto* output = std::get_if<Output>(&*item)) return Operation(output->node());
      refuse(key, "operation");
    }
    const Operation made = make();
    graph_.add_to_collection(key, made);
    return made;
  }

  void take_saver(SupervisedGraph& out) const {
    if (o_.saver.has_value()) out.saver = std::shared_ptr<Saver>(std::shared_ptr<Saver>(), o_.saver.value());
    if (!o_.saver.is_default()) return;
    const SaverOptions options{.clock = o_.clock, .where = o_.where};
    if (const auto item = first_of(keys::kSavers)) {
      const auto* def = std::get_if<std::string>(&*item);
      if (!def) refuse(keys::kSavers, "SaverDef");
      out.saver = std::make_shared<Saver>(Saver::from_saver_def(graph_, *def, options));
    } else if (!graph_.variables().empty()) {
      out.saver = std::make_shared<Saver>(graph_, options);
      graph_.add_to_collection(keys::kSavers, out.saver->saver_def());
    }
  }

  void take_global_step(SupervisedGraph& out) const {
    if (o_.global_step.is_none()) return;
    if (o_.global_step.has_value()) return use_step(out, o_.global_step.value());
    if (const auto item = first_of(keys::kGlobalStep)) {
      if (const auto* variable = std::get_if<Variable>(&*item)) return use_step(out, variable->value());
      if (const auto* output = std::get_if<Output>(&*item)) return use_step(out, *output);
      refuse(keys::kGlobalStep, "tensor");
    }
    const Node* node = graph_.find(keys::kGlobalStep);
    if (!node || node->outputs() == 0) return;
    const Variable variable = variable_of(node->output(0));
    const DType type = variable ? variable.dtype() : base_of(node->output_type(0));
    if (type != DType::kInt32 && type != DType::kInt64) {
      log_warning(cat("Supervisor: 'global_step' is ", type, ", not an int type: steps are not known"));
      return;
    }
    use_step(out, node->output(0));
    graph_.add_to_collection(keys::kGlobalStep,
                             variable ? CollectionItem(variable) : CollectionItem(node->output(0)));
  }

  // The variable that a tensor is: its ref, its handle, or its value.
  Variable variable_of(Output tensor) const {
    for (const Variable& variable : graph_.variables())
      if (variable.parts().variable == tensor || variable.value() == tensor) return variable;
    return {};
  }

  void use_step(SupervisedGraph& out, Output tensor) const {
    const Variable variable = variable_of(tensor);
    out.global_step = variable ? variable.value() : tensor;
    out.step_name = variable ? variable.name() : tensor.node().name();
  }

  Graph& graph_;
  const SupervisorOptions& o_;
};

}  // namespace

SupervisedGraph supervise(Graph& graph, const SupervisorOptions& options) {
  return Supervising(graph, options).all();
}

void require_devices(const Graph& graph, Location where) {
  for (const Node* node : graph.nodes())
    if (node->spec().traits.role == Role::kVariable && node->device().empty())
      throw InvalidArgument(cat("Supervisor: this replica is not chief, and the variable '", node->name(),
                                "' has no device: replicas share variables by their devices, so make it in a "
                                "DeviceScope"),
                            where, node->name());
}

}  // namespace runnel
