// Runs a graph step by step: run_steps GRAPH.pb SCRIPT. Each line of the script is a step: names to fetch,
// "x:0" or the name of an operation. Prints a line a step: the values, tensors apart by " | " and elements by
// blanks, or the code of the error. A step that would wait ends there, as DeadlineExceeded.
// `run_steps --write GRAPH.pb` writes the graph of queues that test_queues.py builds in TensorFlow, too.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"

using namespace runnel;

namespace {

constexpr char kWaits[] = "the step waits";

template <class T>
std::string elements(const Tensor& tensor) {
  std::string out;
  for (const T& value : tensor.values<T>()) out += cat(out.empty() ? "" : " ", value);
  return out;
}

std::string text(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kInvalid: return "None";
    case DType::kInt32: return elements<std::int32_t>(tensor);
    case DType::kInt64: return elements<std::int64_t>(tensor);
    case DType::kFloat: return elements<float>(tensor);
    case DType::kString: return elements<std::string>(tensor);
    case DType::kBool: return elements<bool>(tensor);
    default: throw InvalidArgument(cat("run_steps prints no ", tensor.dtype()));
  }
}

std::string step(Session& session, const std::string& line) {
  std::vector<Fetch> fetches;
  std::istringstream names(line);
  for (std::string name; names >> name;) {
    if (name.find(':') == std::string::npos) {
      fetches.emplace_back(session.graph().operation(name));
    } else {
      fetches.emplace_back(session.graph().output(name));
    }
  }
  std::string out;
  for (const Tensor& tensor : session.run(fetches)) out += (out.empty() ? "" : " | ") + text(tensor);
  return out;
}

std::string contents(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void run(const char* model, const char* script) {
  Graph g;
  g.import_graph_def(contents(model));
  Session session(g);
  session.stop_waiting(kWaits);
  std::ifstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    try {
      std::cout << step(session, line) << '\n';
    } catch (const Error& error) {
      const bool waits = error.code() == Code::kCancelled && error.message().ends_with(kWaits);
      std::cout << (waits ? "DeadlineExceeded" : name_of(error.code())) << '\n';
    }
  }
}

// All ops of a queue of int32 scalars, from the constants 1, 2, ...
void use(const QueueBase& queue, const std::vector<Operand>& one, const std::vector<Operand>& many) {
  queue.enqueue(one);
  queue.enqueue_many(many);
  queue.dequeue();
  queue.dequeue_many(2);
  queue.dequeue_up_to(2);
  queue.size();
  queue.is_closed();
  queue.close();
  queue.close({.cancel_pending_enqueues = true});
}

void write(const char* path) {
  Graph g;
  g.set_seed(5);
  const Tensor five = Tensor::vector<std::int32_t>({1, 2, 3, 4, 5});
  const NameScope scope(g, "in");
  use(FIFOQueue(g, 4, {DType::kInt32}, {.shapes = {Shape{}}}), {7}, {five});
  use(RandomShuffleQueue(g, 9, 2, {DType::kInt32},
                         {.shapes = {Shape{}}, .seed = 11, .shared_name = "shared"}),
      {7}, {five});
  use(PaddingFIFOQueue(g, -1, {DType::kInt32}, {{kUnknown}}), {five},
      {Tensor::matrix<std::int32_t>({{1, 2}, {3, 4}})});
  use(PriorityQueue(g, 9, {DType::kInt32}, {.shapes = {Shape{}}}), {Tensor::scalar<std::int64_t>(3), 7},
      {Tensor::vector<std::int64_t>({5, 1, 4, 1, 3}), five});
  std::ofstream(path, std::ios::binary) << g.to_graph_def();
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 3) return 2;
  if (std::string(arguments[1]) == "--write") {
    write(arguments[2]);
  } else {
    run(arguments[1], arguments[2]);
  }
  return 0;
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
