// What a step costs through TensorFlow's C++ session: MakeCallable once, RunCallable often. Links the library
// inside TensorFlow's Python wheel; `compare` builds and runs it, Meson does not. Reads the graphs that
// tf_session.py exported to the folder argv[1], then lines "CASE SECONDS" from standard input, and answers
// each with one line: microseconds a step.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/protobuf/config.pb.h"
#include "tensorflow/core/public/session.h"

namespace {

namespace tf = tensorflow;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  if (!in || out.str().empty()) {
    std::cerr << "tf_callable: cannot read " << path << "\n";
    std::exit(1);
  }
  return out.str();
}

void require(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << "tf_callable: " << status.ToString() << "\n";
  std::exit(1);
}

// A graph of its own in a session of its own, initialised, its step as a callable.
class Case {
 public:
  Case(const std::string& folder, std::string name) {
    for (char& c : name) c = c == '/' ? '_' : c;
    const std::string path = folder + "/" + name;
    tf::GraphDef graph;
    graph.ParseFromString(contents(path + ".pb"));
    tf::SessionOptions options;
    options.config.ParseFromString(contents(folder + "/config.pb"));
    session_.reset(tf::NewSession(options));
    require(session_->Create(graph));
    std::istringstream about(contents(path + ".txt"));
    std::string init, step;
    int feeds = 0;
    about >> init >> step >> feeds;
    tf::CallableOptions call;
    call.add_target(step);
    for (int i = 0; i < feeds; ++i) call.add_feed(read_feed(about, path + "." + std::to_string(i)));
    require(session_->Run({}, {}, {init}, nullptr));
    require(session_->MakeCallable(call, &handle_));
  }

  void step() { require(session_->RunCallable(handle_, feeds_, &results_, nullptr)); }

 private:
  std::string read_feed(std::istream& about, const std::string& path) {
    std::string key;
    int type = 0, rank = 0;
    about >> key >> type >> rank;
    tf::TensorShape shape;
    for (int d = 0; d < rank; ++d) {
      tf::int64 size = 0;
      about >> size;
      shape.AddDim(size);
    }
    feeds_.emplace_back(static_cast<tf::DataType>(type), shape);
    const std::string bytes = contents(path);
    std::memcpy(const_cast<char*>(feeds_.back().tensor_data().data()), bytes.data(), bytes.size());
    return key;
  }

  std::unique_ptr<tf::Session> session_;
  tf::Session::CallableHandle handle_ = 0;
  std::vector<tf::Tensor> feeds_, results_;
};

double seconds_of(Case& timed, long count) {
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < count; ++i) timed.step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Of one step, in a run of about so many seconds.
double microseconds(Case& timed, double seconds) {
  for (long count = 1;;) {
    const double took = seconds_of(timed, count);
    if (took >= seconds / 2) return took / static_cast<double>(count) * 1e6;
    count = std::max(2 * count, static_cast<long>(static_cast<double>(count) * seconds / took * 0.8));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: tf_callable FOLDER < cases\n";
    return 1;
  }
  std::map<std::string, std::unique_ptr<Case>> cases;
  std::string name;
  double seconds = 0;
  while (std::cin >> name >> seconds) {
    std::unique_ptr<Case>& timed = cases[name];
    if (!timed) timed = std::make_unique<Case>(argv[1], name);
    std::cout << microseconds(*timed, seconds) << std::endl;
  }
}
