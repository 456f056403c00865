// Saves three times through a Saver with arguments given as words: save_with DIR KEY=VALUE... The keys are
// those of tf.train.Saver and Saver.save. Prints what each save returns.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "graph/graph.h"
#include "ops/ops.h"
#include "train/train.h"

using namespace runnel;

namespace {

// What was given on the command line.
class Words {
 public:
  Words(int count, char** arguments) {
    for (int i = 0; i < count; ++i) {
      const std::string word = arguments[i];
      const std::size_t at = word.find('=');
      values_[word.substr(0, at)] = word.substr(at + 1);
    }
  }
  bool flag(const std::string& key, bool otherwise = false) const {
    return text(key, otherwise ? "1" : "0") == "1";
  }
  std::string text(const std::string& key, const std::string& otherwise) const {
    const auto it = values_.find(key);
    return it == values_.end() ? otherwise : it->second;
  }

 private:
  std::map<std::string, std::string> values_;
};

Saver make_saver(Graph& g, const Words& words) {
  const std::string most = words.text("max_to_keep", "5");
  return Saver(g, {.reshape = words.flag("reshape"),
                   .sharded = words.flag("sharded"),
                   .max_to_keep = most == "None" ? std::nullopt : std::optional(std::atoi(most.c_str())),
                   .keep_checkpoint_every_n_hours =
                       std::strtof(words.text("keep_checkpoint_every_n_hours", "10000").c_str(), nullptr),
                   .name = words.text("name", "save"),
                   .restore_sequentially = words.flag("restore_sequentially"),
                   .defer_build = words.flag("defer_build"),
                   .allow_empty = words.flag("allow_empty"),
                   .pad_step_number = words.flag("pad_step_number"),
                   .save_relative_paths = words.flag("save_relative_paths"),
                   .filename = words.text("filename", "")});
}

void build(Graph& g) {
  const DeviceScope device(g, "/cpu:0");
  variable(g, Tensor::matrix<float>({{1, 2}, {3, 4}}), "w");
  variable(g, Tensor::vector<float>({5, 6}), "r", {.use_resource = true});
  variable(g, std::int64_t{7}, "step");
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2) return 2;
  const Words words(count - 2, arguments + 2);
  Graph g;
  if (!words.flag("allow_empty")) build(g);
  Saver saver = make_saver(g, words);
  saver.build();
  Session session(g);
  if (!words.flag("allow_empty")) session.run(initialize_global_variables(g));
  for (int step = 1; step <= 3; ++step)
    std::printf("%s\n", saver
                            .save(session, cat(arguments[1], "/m"),
                                  {.global_step = step,
                                   .latest_filename = words.text("latest_filename", "checkpoint"),
                                   .meta_graph_suffix = words.text("meta_graph_suffix", "meta"),
                                   .write_meta_graph = words.flag("write_meta_graph", true),
                                   .write_state = words.flag("write_state", true),
                                   .strip_default_attrs = words.flag("strip_default_attrs")})
                            .c_str());
  return 0;
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
