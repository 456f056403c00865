// Specs of the reader ops, of today's (resource handles) and of old graphs (strings on ref edges).
#include <utility>

#include "graph/op_spec.h"

namespace runnel {
namespace {

constexpr const char* kContainer = "container: string = ''";
constexpr const char* kSharedName = "shared_name: string = ''";

// The two forms of an op: `name` with refs, `name`V2 with resources.
struct Form {
  const char* name;
  bool old;
  const char* reader() const { return old ? "reader_handle: Ref(string)" : "reader_handle: resource"; }
  const char* queue() const { return old ? "queue_handle: Ref(string)" : "queue_handle: resource"; }
};

OpSpec maker(Form form, std::vector<AttrSpec> attrs) {
  return {.name = form.name,
          .inputs = {},
          .outputs = {form.reader()},
          .attrs = std::move(attrs),
          .shape = [old = form.old](const ShapeContext&) -> Shapes { return old ? Shape{2} : Shape{}; },
          .gradient = Gradient::none("gives a handle"),
          .traits = {.stateful = true}};
}
const std::vector<AttrSpec> kPlain{kContainer, kSharedName};
const std::vector<AttrSpec> kLines{"skip_header_lines: int = 0", kContainer, kSharedName};
const std::vector<AttrSpec> kRecords{kContainer, kSharedName, "compression_type: string = ''"};
const std::vector<AttrSpec> kOldFixed{"header_bytes: int = 0", "record_bytes: int", "footer_bytes: int = 0",
                                      "hop_bytes: int = 0",    kContainer,          kSharedName};
const std::vector<AttrSpec> kFixed{"header_bytes: int = 0", "record_bytes: int", "footer_bytes: int = 0",
                                   "hop_bytes: int = 0",    kContainer,          kSharedName,
                                   "encoding: string = ''"};
const OpRegistration kTextLineReader{maker({"TextLineReader", true}, kLines)};
const OpRegistration kTextLineReaderV2{maker({"TextLineReaderV2", false}, kLines)};
const OpRegistration kTFRecordReader{maker({"TFRecordReader", true}, kRecords)};
const OpRegistration kTFRecordReaderV2{maker({"TFRecordReaderV2", false}, kRecords)};
const OpRegistration kFixedLength{maker({"FixedLengthRecordReader", true}, kOldFixed)};
const OpRegistration kFixedLengthV2{maker({"FixedLengthRecordReaderV2", false}, kFixed)};
const OpRegistration kWholeFileReader{maker({"WholeFileReader", true}, kPlain)};
const OpRegistration kWholeFileReaderV2{maker({"WholeFileReaderV2", false}, kPlain)};
const OpRegistration kIdentityReader{maker({"IdentityReader", true}, kPlain)};
const OpRegistration kIdentityReaderV2{maker({"IdentityReaderV2", false}, kPlain)};

// Old forms are not stateful in TensorFlow, which they are all the same: they wait, and so take effect.
OpSpec taker(Form form) {
  return {.name = form.name,
          .inputs = {form.reader(), form.queue()},
          .outputs = {"key: string", "value: string"},
          .attrs = {},
          .shape = [](const ShapeContext&) -> Shapes {
            return {Shape{}, Shape{}};
          },
          .gradient = Gradient::none("reads a file"),
          .traits = {.stateful = !form.old, .may_park = true}};
}
const OpRegistration kReaderRead{taker({"ReaderRead", true})};
const OpRegistration kReaderReadV2{taker({"ReaderReadV2", false})};

OpSpec taker_of_many(Form form) {
  return {.name = form.name,
          .inputs = {form.reader(), form.queue(), "num_records: int64"},
          .outputs = {"keys: string", "values: string"},
          .attrs = {},
          .shape = [](const ShapeContext& c) -> Shapes {
            (void)c.input("num_records", Rank{0});
            return {Shape{kUnknown}, Shape{kUnknown}};
          },
          .gradient = Gradient::none("reads a file"),
          .traits = {.stateful = !form.old, .may_park = true}};
}
const OpRegistration kReaderReadUpTo{taker_of_many({"ReaderReadUpTo", true})};
const OpRegistration kReaderReadUpToV2{taker_of_many({"ReaderReadUpToV2", false})};

OpSpec asker(Form form, const char* output) {
  return {.name = form.name,
          .inputs = {form.reader()},
          .outputs = {output},
          .attrs = {},
          .shape = scalar_shape,
          .gradient = Gradient::none("tells of a reader"),
          .traits = {.stateful = !form.old}};
}
constexpr const char* kProduced = "records_produced: int64";
constexpr const char* kCompleted = "units_completed: int64";
const OpRegistration kRecordsProduced{asker({"ReaderNumRecordsProduced", true}, kProduced)};
const OpRegistration kRecordsProducedV2{asker({"ReaderNumRecordsProducedV2", false}, kProduced)};
const OpRegistration kUnitsCompleted{asker({"ReaderNumWorkUnitsCompleted", true}, kCompleted)};
const OpRegistration kUnitsCompletedV2{asker({"ReaderNumWorkUnitsCompletedV2", false}, kCompleted)};

OpSpec resetter(Form form) {
  return {.name = form.name,
          .inputs = {form.reader()},
          .outputs = {},
          .attrs = {},
          .shape = no_shapes,
          .gradient = Gradient::none("resets a reader"),
          .traits = {.stateful = !form.old, .may_park = true}};
}
const OpRegistration kReset{resetter({"ReaderReset", true})};
const OpRegistration kResetV2{resetter({"ReaderResetV2", false})};

}  // namespace
}  // namespace runnel
