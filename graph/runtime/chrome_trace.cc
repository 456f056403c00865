// Source: the "Trace Event Format" of Chrome; processes, categories and names of arguments are those of
// TensorFlow's timeline.py. Times are relative, since microseconds since 1970 with three decimals are more
// than the numbers of a JavaScript reader hold.
#include "graph/runtime/chrome_trace.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "graph/error.h"

namespace runnel {
namespace {

// Bytes that are no ASCII become the character of the same number, so the text is always valid.
std::string quoted(std::string_view text) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out(1, '"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte > 0x7e) {
      out += {'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

// Nanoseconds as microseconds.
std::string micros(std::int64_t nanos) {
  const std::int64_t whole = std::max<std::int64_t>(0, nanos);
  return cat(whole / 1000, ".", whole % 1000 / 100, whole % 100 / 10, whole % 10);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

std::string name_event(const char* what, std::size_t process, std::uint32_t thread, std::string_view name) {
  return cat(R"({"ph": "M", "name": ")", what, R"(", "pid": )", process, R"(, "tid": )", thread,
             R"(, "args": {"name": )", quoted(name), "}}");
}

std::string arguments(const NodeStats& node) {
  std::vector<std::string> parts = {cat(R"("name": )", quoted(node.name)), cat(R"("op": )", quoted(node.op))};
  for (std::size_t k = 0; k < node.inputs.size(); ++k)
    parts.push_back(cat(R"("input)", k, R"(": )", quoted(node.inputs[k])));
  std::vector<std::string> outputs, fused;
  for (const OutputStats& output : node.outputs)
    outputs.push_back(quoted(cat(output.dtype, output.shape, " ", name_of(output.memory))));
  for (const std::string& other : node.fused) fused.push_back(quoted(other));
  parts.push_back(cat(R"("outputs": [)", joined(outputs), "]"));
  parts.push_back(cat(R"("memory": )", node.memory()));
  if (!fused.empty()) parts.push_back(cat(R"("fused": [)", joined(fused), "]"));
  if (node.scheduled < node.start)
    parts.push_back(cat(R"("waited_us": )", micros(node.start - node.scheduled)));
  return joined(parts);
}

class Events {
 public:
  explicit Events(const RunMetadata& metadata) : metadata_(metadata) {}

  void add(const DeviceStats& device, std::size_t process) {
    list_.push_back(name_event("process_name", process, 0, device.device + " Compute"));
    for (const auto& [thread, name] : device.threads)
      list_.push_back(name_event("thread_name", process, thread, name));
    for (const NodeStats& node : device.nodes)
      if (node.fused_into.empty())
        add_span("Op", node.op, process, node.thread, node.start, node.end, arguments(node));
  }

  void add_step() {
    add_span("Step", "step", 0, metadata_.thread, metadata_.start, metadata_.end,
             cat(R"("arena_bytes": )", metadata_.arena_bytes));
  }

  std::string text() const {
    std::string out;
    for (const std::string& event : list_) out += (out.empty() ? "\n" : ",\n") + event;
    return out;
  }

 private:
  void add_span(const char* category, std::string_view name, std::size_t process, std::uint32_t thread,
                std::int64_t start, std::int64_t end, const std::string& args) {
    list_.push_back(cat(R"({"ph": "X", "cat": ")", category, R"(", "name": )", quoted(name), R"(, "pid": )",
                        process, R"(, "tid": )", thread, R"(, "ts": )", micros(start - metadata_.start),
                        R"(, "dur": )", micros(end - start), R"(, "args": {)", args, "}}"));
  }

  const RunMetadata& metadata_;
  std::vector<std::string> list_;
};

}  // namespace

std::string chrome_trace(const RunMetadata& metadata) {
  Events events(metadata);
  for (std::size_t k = 0; k < metadata.devices.size(); ++k) events.add(metadata.devices[k], k);
  events.add_step();
  return cat(R"({"displayTimeUnit": "ns", "otherData": {"start_ns_since_1970": ")", metadata.start,
             R"("}, "traceEvents": [)", events.text(), "\n]}\n");
}

}  // namespace runnel
