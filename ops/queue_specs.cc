// Specs of the queue ops, of today's (resource handles) and of old graphs (strings on ref edges). Shapes of
// what comes out are told by the node that makes the queue, wherever it can be seen.
#include <algorithm>
#include <utility>

#include "graph/op_spec.h"
#include "ops/queue_maker.h"

namespace runnel {
namespace {

constexpr const char* kTypes = "component_types: list(type) >= 1";
constexpr const char* kShapes = "shapes: list(shape) >= 0 = []";
constexpr const char* kCapacity = "capacity: int = -1";
constexpr const char* kContainer = "container: string = ''";
constexpr const char* kSharedName = "shared_name: string = ''";
constexpr const char* kTimeout = "timeout_ms: int = -1";

// The two forms of an op: `name` with a ref, `name`V2 with a resource.
struct Form {
  const char* name;
  bool old;
  const char* handle() const { return old ? "handle: Ref(string)" : "handle: resource"; }
};

OpSpec maker(Form form, std::vector<AttrSpec> attrs) {
  return {.name = form.name,
          .inputs = {},
          .outputs = {form.handle()},
          .attrs = std::move(attrs),
          .shape = [old = form.old](const ShapeContext&) -> Shapes { return old ? Shape{2} : Shape{}; },
          .gradient = Gradient::none("gives a handle"),
          .traits = {.stateful = true}};
}
const std::vector<AttrSpec> kPlain{kTypes, kShapes, kCapacity, kContainer, kSharedName};
const std::vector<AttrSpec> kShuffled{
    kTypes,          kShapes,          kCapacity,  "min_after_dequeue: int = 0",
    "seed: int = 0", "seed2: int = 0", kContainer, kSharedName};
const std::vector<AttrSpec> kByPriority{"component_types: list(type) >= 0 = []", "shapes: list(shape) >= 0",
                                        kCapacity, kContainer, kSharedName};
const OpRegistration kFIFOQueue{maker({"FIFOQueue", true}, kPlain)};
const OpRegistration kFIFOQueueV2{maker({"FIFOQueueV2", false}, kPlain)};
const OpRegistration kPaddingFIFOQueue{maker({"PaddingFIFOQueue", true}, kPlain)};
const OpRegistration kPaddingFIFOQueueV2{maker({"PaddingFIFOQueueV2", false}, kPlain)};
const OpRegistration kRandomShuffleQueue{maker({"RandomShuffleQueue", true}, kShuffled)};
const OpRegistration kRandomShuffleQueueV2{maker({"RandomShuffleQueueV2", false}, kShuffled)};
const OpRegistration kPriorityQueue{maker({"PriorityQueue", true}, kByPriority)};
const OpRegistration kPriorityQueueV2{maker({"PriorityQueueV2", false}, kByPriority)};

// Old forms are not stateful in TensorFlow, which they are all the same: they wait, and so take effect.
OpSpec putter(Form form) {
  return {.name = form.name,
          .inputs = {form.handle(), "components: Tcomponents"},
          .outputs = {},
          .attrs = {"Tcomponents: list(type) >= 1", kTimeout},
          .shape = no_shapes,
          .gradient = Gradient::none("puts into a queue"),
          .traits = {.stateful = !form.old, .may_park = true}};
}
const OpRegistration kEnqueue{putter({"QueueEnqueue", true})};
const OpRegistration kEnqueueV2{putter({"QueueEnqueueV2", false})};
const OpRegistration kEnqueueMany{putter({"QueueEnqueueMany", true})};
const OpRegistration kEnqueueManyV2{putter({"QueueEnqueueManyV2", false})};

// `first` in front of each shape; none for single elements.
Shapes taken_shapes(const ShapeContext& c, std::optional<std::int64_t> first) {
  const auto count = static_cast<std::size_t>(c.node().outputs());
  const Node* maker = queue_maker(c.node().input(0));
  const std::vector<Shape> known = maker ? queue_shapes(*maker) : std::vector<Shape>();
  if (known.size() != count) return std::vector<Shape>(count, Shape::unknown());
  if (!first) return known;
  std::vector<Shape> out;
  for (const Shape& shape : known) {
    if (!shape.has_rank()) {
      out.push_back(Shape::unknown());
      continue;
    }
    Shape batch{*first};
    for (const std::int64_t dim : shape.dims()) batch.push_back(dim);
    out.push_back(std::move(batch));
  }
  return out;
}

// What a constant n says; a negative one is the kernel's to refuse.
std::int64_t batch_size(const ShapeContext& c) {
  (void)c.input("n", Rank{0});
  const std::optional<Tensor> n = c.constant("n");
  return n ? std::max<std::int64_t>(n->scalar<std::int32_t>(), kUnknown) : kUnknown;
}

OpSpec taker(Form form, bool many, ShapeFunction shape) {
  OpSpec out{.name = form.name,
             .inputs = {form.handle()},
             .outputs = {"components: component_types"},
             .attrs = {kTypes, kTimeout},
             .shape = std::move(shape),
             .gradient = Gradient::none("takes from a queue"),
             .traits = {.stateful = !form.old, .may_park = true}};
  if (many) out.inputs.emplace_back("n: int32");
  return out;
}
Shapes one_shapes(const ShapeContext& c) { return taken_shapes(c, {}); }
Shapes many_shapes(const ShapeContext& c) { return taken_shapes(c, batch_size(c)); }
Shapes up_to_shapes(const ShapeContext& c) {
  (void)batch_size(c);
  return taken_shapes(c, kUnknown);
}
const OpRegistration kDequeue{taker({"QueueDequeue", true}, false, one_shapes)};
const OpRegistration kDequeueV2{taker({"QueueDequeueV2", false}, false, one_shapes)};
const OpRegistration kDequeueMany{taker({"QueueDequeueMany", true}, true, many_shapes)};
const OpRegistration kDequeueManyV2{taker({"QueueDequeueManyV2", false}, true, many_shapes)};
const OpRegistration kDequeueUpTo{taker({"QueueDequeueUpTo", true}, true, up_to_shapes)};
const OpRegistration kDequeueUpToV2{taker({"QueueDequeueUpToV2", false}, true, up_to_shapes)};

OpSpec asker(Form form, const char* output) {
  return {.name = form.name,
          .inputs = {form.handle()},
          .outputs = {output},
          .attrs = {},
          .shape = scalar_shape,
          .gradient = Gradient::none("tells of a queue"),
          .traits = {.stateful = !form.old}};
}
const OpRegistration kSize{asker({"QueueSize", true}, "size: int32")};
const OpRegistration kSizeV2{asker({"QueueSizeV2", false}, "size: int32")};
const OpRegistration kIsClosed{asker({"QueueIsClosed", true}, "is_closed: bool")};
const OpRegistration kIsClosedV2{asker({"QueueIsClosedV2", false}, "is_closed: bool")};

OpSpec closer(Form form) {
  return {.name = form.name,
          .inputs = {form.handle()},
          .outputs = {},
          .attrs = {"cancel_pending_enqueues: bool = false"},
          .shape = no_shapes,
          .gradient = Gradient::none("closes a queue"),
          .traits = {.stateful = !form.old, .may_park = true}};
}
const OpRegistration kClose{closer({"QueueClose", true})};
const OpRegistration kCloseV2{closer({"QueueCloseV2", false})};

}  // namespace
}  // namespace runnel
