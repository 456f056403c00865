// `runnel graph ls/show/dot FILE`: the nodes of a graph, one node in full, a picture for Graphviz.
#include <functional>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "train/cli/commands.h"
#include "train/cli/json.h"
#include "train/cli/model.h"

namespace runnel {
namespace {

struct GraphRequest {
  std::string file, node;
  bool json = false;
};

std::vector<std::string> input_names(const Node& node) {
  std::vector<std::string> out;
  for (const Output& input : node.input_list()) out.push_back(input.name());
  for (const Node* control : node.control_inputs()) out.push_back("^" + control->name());
  return out;
}

std::string type_and_shape(const Output& output) {
  return output.dtype() == DType::kInvalid ? "?" : cat(output.dtype(), output.shape());
}

std::string node_json(const Node& node, bool attrs) {
  std::vector<std::string> inputs, outputs;
  for (const std::string& input : input_names(node)) inputs.push_back(json_text(input));
  for (int i = 0; i < node.outputs(); ++i)
    outputs.push_back(cat("{\"dtype\": ", json_text(name_of(node.output_type(i))),
                          ", \"shape\": ", json_shape(node.output_shape(i)), "}"));
  std::string out =
      cat("{\"name\": ", json_text(node.name()), ", \"op\": ", json_text(node.op()),
          ", \"inputs\": ", json_list(inputs), ", \"outputs\": ", json_list(outputs),
          ", \"device\": ", json_text(node.device()), ", \"known\": ", node.is_foreign() ? "false" : "true");
  if (!attrs) return out + "}";
  out += ", \"attrs\": {";
  const char* separator = "";
  for (const auto& [name, value] : node.attrs()) {
    out += cat(separator, json_text(name), ": ", json_text(value.text()));
    separator = ", ";
  }
  return out + "}}";
}

void list(const Graph& graph, bool json) {
  if (json) {
    std::vector<std::string> nodes;
    for (const Node* node : graph.nodes()) nodes.push_back(node_json(*node, false));
    std::cout << json_list(nodes) << "\n";
    return;
  }
  for (const Node* node : graph.nodes()) {
    std::cout << node->name() << "  " << node->op() << (node->is_foreign() ? " (foreign)" : "");
    for (int i = 0; i < node->outputs(); ++i)
      std::cout << (i == 0 ? "  " : ", ") << type_and_shape(node->output(i));
    const std::vector<std::string> inputs = input_names(*node);
    for (std::size_t i = 0; i < inputs.size(); ++i) std::cout << (i == 0 ? "  <- " : ", ") << inputs[i];
    std::cout << "\n";
  }
}

void show(const Node& node, bool json) {
  if (json) {
    std::cout << node_json(node, true) << "\n";
    return;
  }
  std::cout << "name    " << node.name() << "\nop      " << node.op()
            << (node.is_foreign() ? " (foreign: kept, not run)" : "") << "\n";
  if (!node.device().empty()) std::cout << "device  " << node.device() << "\n";
  for (const std::string& input : input_names(node)) std::cout << "input   " << input << "\n";
  for (int i = 0; i < node.outputs(); ++i)
    std::cout << "output  " << node.output(i).name() << "  " << type_and_shape(node.output(i)) << "\n";
  for (const auto& [name, value] : node.attrs())
    std::cout << "attr    " << name << " = " << value.text() << "\n";
}

// Quoted for Graphviz; names hold no quotes, but may hold backslashes.
std::string dot_text(const std::string& first, const std::string& second = "") {
  std::string out = "\"";
  for (const char c : first) out += c == '\\' ? "\\\\" : std::string(1, c);
  return out + (second.empty() ? "" : "\\n" + second) + "\"";
}

void draw(const Graph& graph) {
  std::cout << "digraph graph_def {\n  rankdir=BT;\n  node [shape=box];\n";
  for (const Node* node : graph.nodes())
    std::cout << "  " << dot_text(node->name()) << " [label=" << dot_text(node->name(), node->op()) << "];\n";
  for (const Node* node : graph.nodes()) {
    for (const Output& input : node->input_list())
      std::cout << "  " << dot_text(input.node().name()) << " -> " << dot_text(node->name())
                << " [label=" << dot_text(type_and_shape(input)) << "];\n";
    for (const Node* control : node->control_inputs())
      std::cout << "  " << dot_text(control->name()) << " -> " << dot_text(node->name())
                << " [style=dashed];\n";
  }
  std::cout << "}\n";
}

CLI::App& add_verb(CLI::App& command, const char* name, const char* what,
                   const std::shared_ptr<GraphRequest>& request, std::function<void(const Graph&)> action) {
  CLI::App& verb = *command.add_subcommand(name, what);
  verb.add_option("FILE", request->file, "a .meta, or a GraphDef as .pb or .pbtxt")->required();
  verb.callback([request, action = std::move(action)] {
    Graph graph;
    load_model(graph, request->file);
    action(graph);
  });
  return verb;
}

}  // namespace

void add_graph_command(CLI::App& program) {
  CLI::App& command = *program.add_subcommand("graph", "Shows what a graph file holds");
  command.require_subcommand(1);
  const auto request = std::make_shared<GraphRequest>();
  add_verb(command, "ls", "Lists the nodes", request, [request](const Graph& graph) {
    list(graph, request->json);
  }).add_flag("--json", request->json, "print JSON");
  CLI::App& show_verb =
      add_verb(command, "show", "Prints one node in full", request,
               [request](const Graph& graph) { show(graph.operation(request->node).node(), request->json); });
  show_verb.add_option("NODE", request->node, "its name")->required();
  show_verb.add_flag("--json", request->json, "print JSON");
  add_verb(command, "dot", "Draws the graph in Graphviz' language", request,
           [](const Graph& graph) { draw(graph); });
}

}  // namespace runnel
