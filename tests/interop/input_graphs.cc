// Queue-fed graphs for test_input.py.
//   input_graphs write CASE OUT.meta   builds the case of that name
//   input_graphs run IN.meta FETCH     initialises, starts the queue runners of the collection, and fetches
//                                      until the input ends: a line for each thread ("thread NAME"), value
//                                      and the reason
#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "graph/graph.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "train/train.h"

using namespace runnel;

namespace {

Output number(Graph& g, const char* name, float value) {
  return constant(g, Tensor::scalar(value), {.name = name});
}

Output pairs(Graph& g) { return constant(g, Tensor::matrix<float>({{1, 2}, {3, 4}}), {.name = "x"}); }

Output pair(Graph& g) { return constant(g, Tensor::vector<std::int32_t>({1, 2}), {.name = "y"}); }

const std::map<std::string, std::function<void(Graph&)>> kCases{
    {"strings",
     [](Graph& g) {
       string_input_producer(g, {"a", "b"});
     }},
    {"named strings",
     [](Graph& g) {
       string_input_producer(
           g, {"a", "b"},
           {.num_epochs = 2, .shuffle = false, .capacity = 5, .shared_name = "s", .name = "files"})
           .dequeue({.name = "next"});
     }},
    {"range", [](Graph& g) { range_input_producer(g, 7, {.num_epochs = 3, .seed = 5}); }},
    {"slices",
     [](Graph& g) {
       const Output x = pairs(g);
       slice_input_producer({x, pair(g)}, {.num_epochs = 2, .shuffle = false});
     }},
    {"rows", [](Graph& g) { input_producer(pairs(g), {.num_epochs = 1, .shuffle = false}); }},
    {"named rows",
     [](Graph& g) {
       input_producer(placeholder<float>(g, {kUnknown, 2}, "x"),
                      {.element_shape = Shape{2}, .summary_name = "full", .name = "foo"});
     }},
    {"epochs",
     [](Graph& g) {
       const Output y = pair(g);
       limit_epochs(y, 3);
       limit_epochs(y, 3, {.name = "lim"});
     }},
    {"batch",
     [](Graph& g) {
       const Output x = number(g, "x", 1);
       batch({x, pair(g)}, 4, {.num_threads = 3});
     }},
    {"ordered batch",
     [](Graph& g) {
       const Output next = range_input_producer(g, 10, {.num_epochs = 1, .shuffle = false}).dequeue();
       batch({next}, 4, {.allow_smaller_final_batch = true});
     }},
    {"batch of many",
     [](Graph& g) {
       batch({placeholder<float>(g, {kUnknown, 2}, "x")}, 4,
             {.capacity = 9,
              .enqueue_many = true,
              .allow_smaller_final_batch = true,
              .shared_name = "s",
              .name = "b"});
     }},
    {"padded batch",
     [](Graph& g) { batch({placeholder<float>(g, {kUnknown}, "x")}, 4, {.dynamic_pad = true}); }},
    {"batch by name",
     [](Graph& g) {
       const Output x = number(g, "x", 1);
       batch_by_name({{"q", x}, {"b", pair(g)}}, 4);
     }},
    {"join",
     [](Graph& g) {
       const Output x = number(g, "x", 1);
       batch_join({{x}, {number(g, "y", 2)}}, 4);
     }},
    {"shuffled",
     [](Graph& g) {
       shuffle_batch({number(g, "x", 1)}, 4, {.capacity = 50, .min_after_dequeue = 10, .num_threads = 2});
     }},
    {"seeded",
     [](Graph& g) {
       shuffle_batch({placeholder<float>(g, Shape::unknown(), "x")}, 4,
                     {.capacity = 50,
                      .min_after_dequeue = 10,
                      .seed = 7,
                      .shapes = {Shape{2}},
                      .allow_smaller_final_batch = true,
                      .name = "sb"});
     }},
    {"shuffled join",
     [](Graph& g) {
       const Output x = number(g, "x", 1);
       shuffle_batch_join({{x}, {number(g, "y", 2)}}, 4, {.capacity = 50, .min_after_dequeue = 10});
     }},
};

void write(const std::string& name, const std::string& path) {
  Graph g;
  kCases.at(name)(g);
  export_meta_graph(g, {.filename = path});
}

void run(const std::string& path, const std::string& fetch) {
  set_log_sink([](LogLevel, const std::string&) {});
  Graph g;
  import_meta_graph(g, path);
  const Output wanted = g.output(fetch);
  const Operation init = initialize_local_variables(g);
  Session session(g);
  session.run(init);
  Coordinator coord;
  for (const CoordinatedThread& thread : start_queue_runners(session, &coord))
    std::printf("thread %s\n", thread.name().c_str());
  coord.stop_on_exception([&] {
    while (!coord.should_stop()) std::printf("value %s\n", session.run(wanted).text().c_str());
  });
  coord.join({.strict = true});
  std::printf("%s\n", name_of(coord.stop_reason().cause));
}

}  // namespace

int main(int count, char** arguments) try {
  const std::string verb = count == 4 ? arguments[1] : "";
  if (verb == "write") {
    write(arguments[2], arguments[3]);
  } else if (verb == "run") {
    run(arguments[2], arguments[3]);
  } else {
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
