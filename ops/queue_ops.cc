// Builders of queues, named as TensorFlow's Python names them.
#include "ops/queue_ops.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "graph/error.h"
#include "graph/op_spec.h"
#include "ops/queue_maker.h"

namespace runnel {
namespace {

bool has_priority(const Node& maker) { return maker.op().starts_with("PriorityQueue"); }

std::vector<Shape> listed_shapes(const Node& maker) {
  const AttrValue* attr = maker.attr("shapes");
  const auto* list = attr ? attr->if_is<std::vector<Shape>>() : nullptr;
  return list ? *list : std::vector<Shape>();
}

// What the constructors ask for.
struct NewQueue {
  const char* op;
  std::int64_t capacity;
  const std::vector<DType>& types;
  const std::vector<Shape>& shapes;
  const std::vector<std::string>& names;
  const std::string& shared_name;
  const std::string& name;
  Location where;
  Attrs more = {};
};

void check(const NewQueue& q) {
  const std::size_t priorities = std::string_view(q.op) == "PriorityQueueV2" ? 1 : 0;
  const std::string prefix = cat(q.op, " '", q.name, "': ");
  if (!q.shapes.empty() && q.shapes.size() != q.types.size())
    throw InvalidArgument(cat(prefix, q.types.size(), " dtypes, but ", q.shapes.size(),
                              " shapes; give one a component, or none"),
                          q.where);
  if (!q.names.empty() && q.names.size() != q.types.size() + priorities)
    throw InvalidArgument(cat(prefix, q.types.size() + priorities, " components, but ", q.names.size(),
                              " names; give one a component, or none"),
                          q.where);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (q.capacity > kMost || q.capacity < -kMost - 1)
    throw InvalidArgument(cat(prefix, "the capacity is ", q.capacity, "; at most ", kMost,
                              " elements can be counted, and -1 means no bound"),
                          q.where);
  const bool pads = std::string_view(q.op) == "PaddingFIFOQueueV2";
  if (pads && q.shapes.size() != q.types.size())
    throw InvalidArgument(cat(prefix, "no shapes are given; a queue that pads wants one a component"),
                          q.where);
  for (const Shape& shape : q.shapes)
    if (pads ? !shape.has_rank() : !shape.is_known())
      throw InvalidArgument(cat(prefix, "the shape ", shape,
                                pads ? " has no rank; only dimensions can be padded"
                                     : " is known in part only; a PaddingFIFOQueue takes such"),
                            q.where);
}

Output make(Graph& graph, NewQueue q) {
  check(q);
  Attrs attrs = std::move(q.more);
  attrs.insert({{"component_types", q.types},
                {"shapes", q.shapes},
                {"capacity", q.capacity},
                {"shared_name", q.shared_name}});
  return graph.add(q.op, {}, std::move(attrs), q.name, q.where);
}

Output make_fifo(Graph& graph, const NewQueue& q) {
  const ControlDependencies outside(graph, ControlDependencies::Clear{});
  const DeviceScope device(graph, "/device:CPU:*");
  return make(graph, q);
}

// The node's name is settled first, since the seed may be made of it.
Output make_shuffled(Graph& graph, NewQueue q, std::int64_t min_after_dequeue,
                     std::optional<std::int64_t> seed) {
  const std::string full_name = graph.unique_name(q.name), exact = full_name + "/";
  const auto [seed1, seed2] = graph.seeds(seed, q.shared_name.empty() ? full_name : q.shared_name);
  q.more = {{"min_after_dequeue", min_after_dequeue}, {"seed", seed1}, {"seed2", seed2}};
  return make(graph, {q.op, q.capacity, q.types, q.shapes, q.names, q.shared_name, exact, q.where, q.more});
}

}  // namespace

const Node* queue_maker(const Output& handle) {
  const Output* from = &handle;
  constexpr int kFar = 1000;
  for (int steps = 0; *from && steps < kFar; ++steps) {
    const Node& node = from->node();
    const Role role = node.spec().traits.role;
    if (role != Role::kAlias && role != Role::kSwitch) return &node;
    if (node.inputs() == 0) return nullptr;
    from = &node.input_list()[0];
  }
  return nullptr;
}

std::vector<DType> queue_types(const Node& maker) {
  const AttrValue* attr = maker.attr("component_types");
  const auto* list = attr ? attr->if_is<std::vector<DType>>() : nullptr;
  std::vector<DType> out = list ? *list : std::vector<DType>();
  if (has_priority(maker)) out.insert(out.begin(), DType::kInt64);
  return out;
}

std::vector<Shape> queue_shapes(const Node& maker) {
  std::vector<Shape> out = listed_shapes(maker);
  if (has_priority(maker) && !out.empty()) out.insert(out.begin(), Shape{});
  return out;
}

Output QueueItem::operator[](std::size_t k) const {
  if (k >= components_.size())
    throw InvalidArgument(
        cat("a queue's element has ", components_.size(), " components; there is none of number ", k));
  return components_[k];
}

Output QueueItem::operator[](std::string_view name) const {
  const auto at = std::ranges::find(names_, name);
  if (at == names_.end()) throw InvalidArgument(cat("a queue's element has no component named '", name, "'"));
  return components_[static_cast<std::size_t>(at - names_.begin())];
}

QueueItem::operator Output() const {
  if (components_.size() != 1)
    throw InvalidArgument(
        cat("a queue's element has ", components_.size(), " components: say which by a number or name"));
  return components_.front();
}

std::map<std::string, Output> QueueItem::by_name() const {
  std::map<std::string, Output> out;
  for (std::size_t k = 0; k < names_.size(); ++k) out.emplace(names_[k], components_[k]);
  return out;
}

QueueBase::QueueBase(Output handle, std::vector<std::string> names) : ref_(handle), names_(std::move(names)) {
  const Node* maker = queue_maker(handle);
  const DType type = base_of(handle.dtype());
  if (maker) dtypes_ = queue_types(*maker);
  if (dtypes_.empty() || (type != DType::kResource && type != DType::kString))
    throw InvalidArgument(cat("'", handle.name(), "' is no handle of a queue"), handle.node().where(),
                          handle.node().name());
  shapes_ = queue_shapes(*maker);
}

// "NAME_Dequeue", NAME being the last part of the queue's.
std::string QueueBase::own_name(const char* suffix, std::string asked) const {
  if (!asked.empty()) return asked;
  return name().substr(name().rfind('/') + 1) + suffix;
}

// Today's op for a resource, the old one for a string.
Node& QueueBase::add(const char* op, const std::vector<Argument>& inputs, Attrs attrs, std::string_view name,
                     Location where) const {
  const bool old = base_of(ref_.dtype()) == DType::kString;
  return ref_.graph().add(old ? std::string(op) : cat(op, "V2"), inputs, std::move(attrs), name, where);
}

std::vector<Operand> QueueBase::ordered(const NamedComponents& values, Location where) const {
  if (names_.empty())
    throw InvalidArgument(cat("queue '", name(), "' has no names for its components: give a list of tensors"),
                          where);
  std::vector<Operand> out;
  for (const std::string& component : names_) {
    const auto at = values.values().find(component);
    if (at == values.values().end())
      throw InvalidArgument(cat("queue '", name(), "' wants a component named '", component, "'"), where);
    out.push_back(at->second);
  }
  for (const auto& [given, value] : values.values())
    if (std::ranges::find(names_, given) == names_.end())
      throw InvalidArgument(cat("queue '", name(), "' has no component named '", given, "'"), where);
  return out;
}

void QueueBase::require_form(const std::vector<Operand>& values, bool batch, Location where) const {
  if (values.size() != dtypes_.size())
    throw InvalidArgument(
        cat(values.size(), " components are given, but queue '", name(), "' holds ", dtypes_.size()), where);
  std::int64_t rows = kUnknown;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Shape shape = values[k].shape();
    if (!shape.has_rank()) continue;
    if (batch && shape.rank() == 0)
      throw InvalidArgument(
          cat("component ", k, " is a scalar, not a batch of elements for queue '", name(), "'"), where);
    if (batch && rows >= 0 && shape[0] >= 0 && rows != shape[0])
      throw InvalidArgument(cat("the batch for queue '", name(), "' has ", rows,
                                " elements in one component and ", shape[0], " in component ", k),
                            where);
    if (batch) rows = std::max(rows, shape[0]);
    if (shapes_.empty()) continue;
    const Shape element(shape.dims().subspan(batch ? 1 : 0));
    if (!element.compatible_with(shapes_[k]))
      throw InvalidArgument(cat("component ", k, " has shape ", shape, ", but queue '", name(), "' holds ",
                                batch ? "elements of shape " : "", shapes_[k], " there"),
                            where);
  }
}

Operation QueueBase::put(const char* op, bool batch, const std::vector<Operand>& values, std::string name,
                         Location where) const {
  require_form(values, batch, where);
  const NameScope scope(ref_.graph(), name);
  Outputs inputs;
  for (std::size_t k = 0; k < values.size(); ++k) {
    inputs.push_back(values[k].in(ref_.graph(), dtypes_[k], cat("component_", k)));
    if (base_of(inputs.back().dtype()) != dtypes_[k])
      throw InvalidArgument(cat("component ", k, " is ", base_of(inputs.back().dtype()), ", but queue '",
                                this->name(), "' holds ", dtypes_[k], " there"),
                            where);
  }
  return Operation(add(op, {ref_, inputs}, {}, scope.name(), where));
}

Operation QueueBase::enqueue(const std::vector<Operand>& values, OpOptions o) const {
  if (!names_.empty())
    throw InvalidArgument(cat("queue '", name(), "' has names for its components: give each tensor its name"),
                          o.where);
  return put("QueueEnqueue", false, values, own_name("_enqueue", std::move(o.name)), o.where);
}

Operation QueueBase::enqueue(const NamedComponents& values, OpOptions o) const {
  return put("QueueEnqueue", false, ordered(values, o.where), own_name("_enqueue", std::move(o.name)),
             o.where);
}

Operation QueueBase::enqueue_many(const std::vector<Operand>& values, OpOptions o) const {
  if (!names_.empty())
    throw InvalidArgument(cat("queue '", name(), "' has names for its components: give each tensor its name"),
                          o.where);
  return put("QueueEnqueueMany", true, values, own_name("_EnqueueMany", std::move(o.name)), o.where);
}

Operation QueueBase::enqueue_many(const NamedComponents& values, OpOptions o) const {
  return put("QueueEnqueueMany", true, ordered(values, o.where), own_name("_EnqueueMany", std::move(o.name)),
             o.where);
}

QueueItem QueueBase::take(const char* op, const char* suffix, const Operand* n, OpOptions o) const {
  const NameScope scope(ref_.graph(), own_name(suffix, std::move(o.name)));
  std::vector<Argument> inputs{ref_};
  if (n) inputs.emplace_back(n->in(ref_.graph(), DType::kInt32, "n"));
  const Node& node = add(op, inputs, {{"component_types", dtypes_}}, scope.name(), o.where);
  Outputs components;
  for (int k = 0; k < node.outputs(); ++k) components.push_back(node.output(k));
  return {std::move(components), names_};
}

QueueItem QueueBase::dequeue(OpOptions o) const {
  return take("QueueDequeue", "_Dequeue", nullptr, std::move(o));
}
QueueItem QueueBase::dequeue_many(const Operand& n, OpOptions o) const {
  return take("QueueDequeueMany", "_DequeueMany", &n, std::move(o));
}
QueueItem QueueBase::dequeue_up_to(const Operand& n, OpOptions o) const {
  return take("QueueDequeueUpTo", "_DequeueUpTo", &n, std::move(o));
}

Operation QueueBase::close(QueueCloseOptions o) const {
  return Operation(add("QueueClose", {ref_}, {{"cancel_pending_enqueues", o.cancel_pending_enqueues}},
                       own_name("_Close", std::move(o.name)), o.where));
}

Output QueueBase::size(OpOptions o) const {
  return add("QueueSize", {ref_}, {}, own_name("_Size", std::move(o.name)), o.where);
}

Output QueueBase::is_closed(OpOptions o) const {
  return add("QueueIsClosed", {ref_}, {}, own_name("_Is_Closed", std::move(o.name)), o.where);
}

FIFOQueue::FIFOQueue(Graph& graph, std::int64_t capacity, const std::vector<DType>& dtypes,
                     FIFOQueueOptions o)
    : QueueBase(make_fifo(graph, {"FIFOQueueV2", capacity, dtypes, o.shapes, o.names, o.shared_name, o.name,
                                  o.where}),
                o.names) {}

RandomShuffleQueue::RandomShuffleQueue(Graph& graph, std::int64_t capacity, std::int64_t min_after_dequeue,
                                       const std::vector<DType>& dtypes, RandomShuffleQueueOptions o)
    : QueueBase(make_shuffled(graph,
                              {"RandomShuffleQueueV2", capacity, dtypes, o.shapes, o.names, o.shared_name,
                               o.name, o.where},
                              min_after_dequeue, o.seed),
                o.names) {}

PaddingFIFOQueue::PaddingFIFOQueue(Graph& graph, std::int64_t capacity, const std::vector<DType>& dtypes,
                                   const std::vector<Shape>& shapes, PaddingFIFOQueueOptions o)
    : QueueBase(make(graph, {"PaddingFIFOQueueV2", capacity, dtypes, shapes, o.names, o.shared_name, o.name,
                             o.where}),
                o.names) {}

PriorityQueue::PriorityQueue(Graph& graph, std::int64_t capacity, const std::vector<DType>& types,
                             PriorityQueueOptions o)
    : QueueBase(make(graph,
                     {"PriorityQueueV2", capacity, types, o.shapes, o.names, o.shared_name, o.name, o.where}),
                o.names) {}

}  // namespace runnel
