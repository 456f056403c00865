// The ops that use readers, by resource handles and by the refs of old graphs.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "kernels/queue/queue.h"
#include "kernels/reader/reader.h"

namespace runnel {
namespace {

// The queue that gives names: one string an element.
std::shared_ptr<Queue> queue_of_names(const Bind& b) {
  auto queue = b.resource<Queue>("queue_handle");
  const QueueForm& form = queue->form();
  const bool fits = form.types.size() == 1 && form.types[0] == DType::kString &&
                    (form.shapes.empty() || form.shapes[0].compatible_with(Shape{}));
  if (!fits)
    throw InvalidArgument(
        cat("a reader takes names from a queue of single strings, which ", queue->text(), " is not"));
  return queue;
}

void bind_read(Bind& b) {
  b.run([reader = b.resource<Reader>("reader_handle"), names = queue_of_names(b),
         key = b.out<std::string>("key"), value = b.out<std::string>("value")](Context& c) -> bool {
    std::vector<KeyedRecord> records;
    if (!reader->read(c, *names, 1, records)) return false;
    *c[key] = std::move(records[0].key);
    *c[value] = std::move(records[0].value);
    return true;
  });
}

void bind_read_up_to(Bind& b) {
  b.run([reader = b.resource<Reader>("reader_handle"), names = queue_of_names(b),
         most = b.in<std::int64_t>("num_records"), keys = b.out<std::string>("keys"),
         values = b.out<std::string>("values")](Context& c) -> bool {
    std::vector<KeyedRecord> records;
    if (!reader->read(c, *names, *c[most], records)) return false;
    const Shape shape{static_cast<std::int64_t>(records.size())};
    std::string* key = c.room(keys, shape);
    std::string* value = c.room(values, shape);
    for (KeyedRecord& record : records) {
      *key++ = std::move(record.key);
      *value++ = std::move(record.value);
    }
    return true;
  });
}

void bind_records_produced(Bind& b) {
  b.run([reader = b.resource<Reader>("reader_handle"), out = b.out<std::int64_t>("records_produced")](
            Context& c) { *c[out] = reader->records_produced(); });
}

void bind_units_completed(Bind& b) {
  b.run([reader = b.resource<Reader>("reader_handle"),
         out = b.out<std::int64_t>("units_completed")](Context& c) { *c[out] = reader->files_completed(); });
}

void bind_reset(Bind& b) {
  b.run([reader = b.resource<Reader>("reader_handle")](Context& c) -> bool { return reader->reset(c); });
}

const KernelRegistration kReaderRead{"ReaderRead", any, bind_read};
const KernelRegistration kReaderReadV2{"ReaderReadV2", any, bind_read};
const KernelRegistration kReaderReadUpTo{"ReaderReadUpTo", any, bind_read_up_to};
const KernelRegistration kReaderReadUpToV2{"ReaderReadUpToV2", any, bind_read_up_to};
const KernelRegistration kRecordsProduced{"ReaderNumRecordsProduced", any, bind_records_produced};
const KernelRegistration kRecordsProducedV2{"ReaderNumRecordsProducedV2", any, bind_records_produced};
const KernelRegistration kUnitsCompleted{"ReaderNumWorkUnitsCompleted", any, bind_units_completed};
const KernelRegistration kUnitsCompletedV2{"ReaderNumWorkUnitsCompletedV2", any, bind_units_completed};
const KernelRegistration kReset{"ReaderReset", any, bind_reset};
const KernelRegistration kResetV2{"ReaderResetV2", any, bind_reset};

}  // namespace
}  // namespace runnel
