// Choosing and making the pieces of a scaffold, in TensorFlow's order and under its names, so that a graph of
// ours and one of theirs have the same nodes.
#include "train/monitored/scaffold.h"

#include <utility>
#include <variant>

#include "graph/error.h"
#include "graph/log.h"
#include "graph/tensor.h"
#include "ops/array_join_ops.h"
#include "ops/array_ops.h"
#include "ops/control_flow_ops.h"
#include "ops/variable_init.h"
#include "summary/summary_ops.h"
#include "train/supervisor/saved_model_initializers.h"

namespace runnel {

struct Scaffold::State {
  ScaffoldOptions given;
  std::shared_ptr<Saver> own_saver = nullptr;  // if the scaffold had to make one
};

namespace {

template <class T>
const T& first(const T& a, const T& b) {
  return a ? a : b;
}
const std::vector<Feed>& first(const std::vector<Feed>& a, const std::vector<Feed>& b) {
  return a.empty() ? b : a;
}

// The only item of a collection; none if it is empty.
std::optional<CollectionItem> only_item(Graph& graph, std::string_view argument, std::string_view key) {
  Collection items = graph.collection(key);
  if (items.size() > 1)
    throw FailedPrecondition(cat("Scaffold: the collection '", key, "' holds ", items.size(),
                                 " items: say which one to use by .", argument));
  if (items.empty()) return {};
  return std::move(items.front());
}

[[noreturn]] void wrong_kind(std::string_view argument, std::string_view key, const char* kind) {
  throw InvalidArgument(cat("Scaffold: the item of the collection '", key, "' is not ", kind,
                            ": give the one to use as .", argument));
}

// What tells of resources that have no value; there are none but variables, which are told of elsewhere.
Output report_uninitialized_resources(Graph& graph, const std::string& name) {
  NameScope scope(graph, name);
  DeviceScope device(graph, "/cpu:0");
  return constant(graph, Tensor(DType::kString, Shape{0}));
}

Output report(Graph& graph, Output variables) {
  return concat({variables, report_uninitialized_resources(graph, "report_uninitialized_resources")}, 0);
}

Operation default_init_op(Graph& graph) {
  std::vector<Operation> all{initialize_global_variables(graph), no_op(graph, {.name = "init"})};
  for (const Operation& operation : saved_model_initializers(graph)) all.push_back(operation);
  return group(graph, all);
}

}  // namespace

Scaffold::Scaffold() : Scaffold(ScaffoldOptions{}) {}

Scaffold::Scaffold(ScaffoldOptions options) : state_(std::make_shared<State>()) {
  if (options.copy_from_scaffold) {
    const State& from = *options.copy_from_scaffold->state_;
    const ScaffoldOptions& f = from.given;
    options.init_op = first(options.init_op, f.init_op);
    options.init_feed_dict = first(options.init_feed_dict, f.init_feed_dict);
    options.init_fn = first(options.init_fn, f.init_fn);
    options.ready_op = first(options.ready_op, f.ready_op);
    options.ready_for_local_init_op = first(options.ready_for_local_init_op, f.ready_for_local_init_op);
    options.local_init_op = first(options.local_init_op, f.local_init_op);
    options.local_init_feed_dict = first(options.local_init_feed_dict, f.local_init_feed_dict);
    options.summary_op = first(options.summary_op, f.summary_op);
    if (!options.saver) {
      options.saver = f.saver;
      state_->own_saver = from.own_saver;
    }
    options.copy_from_scaffold.reset();
  }
  state_->given = std::move(options);
}

Output Scaffold::get_or_default(Graph& graph, std::string_view argument, std::string_view collection_key,
                                const std::function<Output()>& make) {
  if (const auto item = only_item(graph, argument, collection_key)) {
    if (const auto* output = std::get_if<Output>(&*item)) return *output;
    wrong_kind(argument, collection_key, "a tensor");
  }
  const Output made = make();
  if (made) graph.add_to_collection(collection_key, made);
  return made;
}

Operation Scaffold::get_or_default(Graph& graph, std::string_view argument, std::string_view collection_key,
                                   const std::function<Operation()>& make) {
  if (const auto item = only_item(graph, argument, collection_key)) {
    if (const auto* operation = std::get_if<Operation>(&*item)) return *operation;
    if (const auto* output = std::get_if<Output>(&*item)) return Operation(output->node());
    wrong_kind(argument, collection_key, "an operation");
  }
  const Operation made = make();
  if (made) graph.add_to_collection(collection_key, made);
  return made;
}

Operation Scaffold::default_local_init_op(Graph& graph) {
  const std::vector<Operation> all{initialize_local_variables(graph), initialize_tables(graph),
                                   no_op(graph, {.name = "init"})};
  return group(graph, all);
}

namespace {

// The saver of the collection `savers`, or a new one, added there.
std::shared_ptr<Saver> saver_or_default(Graph& graph) {
  if (const auto item = only_item(graph, "saver", keys::kSavers)) {
    const auto* saver_def = std::get_if<std::string>(&*item);
    if (!saver_def) wrong_kind("saver", keys::kSavers, "a SaverDef");
    return std::make_shared<Saver>(Saver::from_saver_def(graph, *saver_def));
  }
  auto saver = std::make_shared<Saver>(graph, SaverOptions{.sharded = true, .allow_empty = true});
  if (const std::string def = saver->saver_def(); !def.empty()) graph.add_to_collection(keys::kSavers, def);
  return saver;
}

}  // namespace

void Scaffold::finalize(Graph& graph) {
  ScaffoldOptions& s = state_->given;
  if (!s.init_op)
    s.init_op = get_or_default(graph, "init_op", keys::kInitOp,
                               [&]() -> Operation { return default_init_op(graph); });
  if (!s.ready_op)
    s.ready_op = get_or_default(graph, "ready_op", keys::kReadyOp, [&]() -> Output {
      return report(graph, report_uninitialized_variables(graph));
    });
  if (!s.ready_for_local_init_op)
    s.ready_for_local_init_op = get_or_default(
        graph, "ready_for_local_init_op", keys::kReadyForLocalInitOp,
        [&]() -> Output { return report(graph, report_uninitialized_variables(graph, graph.variables())); });
  if (!s.local_init_op)
    s.local_init_op = get_or_default(graph, "local_init_op", keys::kLocalInitOp,
                                     [&]() -> Operation { return default_local_init_op(graph); });
  if (!s.summary_op)
    s.summary_op = get_or_default(graph, "summary_op", keys::kSummaryOp,
                                  [&]() -> Output { return summary::merge_all(graph); });
  if (!s.saver) {
    if (!state_->own_saver) state_->own_saver = saver_or_default(graph);
    s.saver = state_->own_saver.get();
  }
  s.saver->build();
  graph.finalize();
  log_info("Graph was finalized.");
}

Operation Scaffold::init_op() const { return state_->given.init_op; }
const std::vector<Feed>& Scaffold::init_feed_dict() const { return state_->given.init_feed_dict; }
std::function<void(Session&)> Scaffold::init_fn() const {
  if (!state_->given.init_fn) return {};
  return [self = *this](Session& session) mutable { self.state_->given.init_fn(self, session); };
}
Output Scaffold::ready_op() const { return state_->given.ready_op; }
Output Scaffold::ready_for_local_init_op() const { return state_->given.ready_for_local_init_op; }
Operation Scaffold::local_init_op() const { return state_->given.local_init_op; }
const std::vector<Feed>& Scaffold::local_init_feed_dict() const { return state_->given.local_init_feed_dict; }
Output Scaffold::summary_op() const { return state_->given.summary_op; }
Saver* Scaffold::saver() const { return state_->given.saver; }

}  // namespace runnel
