// ParseExample, ParseSingleExample and ParseExampleV2: messages are read one after another into the same
// object, each feature that is wanted goes into its sink. Of two entries of one name the later counts.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/input_name.h"
#include "graph/kernel.h"
#include "graph/wire.h"
#include "kernels/parsing/feature_sink.h"

namespace runnel {
namespace {

struct Wanted {
  std::string key;
  std::function<std::unique_ptr<FeatureSink>(Context&)> start;
};

// What a node looks for; made once a plan, read by many threads.
struct Search {
  std::vector<Wanted> features;
  std::unordered_multimap<std::string, std::size_t> by_key;  // two outputs may have one key
  std::int64_t examples;
  In<std::string> serialized;
  In<std::string> names;  // slot -1: none

  void add(std::string key, std::function<std::unique_ptr<FeatureSink>(Context&)> start) {
    by_key.emplace(key, features.size());
    features.push_back({std::move(key), std::move(start)});
  }

  // "example 3 'name'", as far as it has a number and a name.
  std::string example_text(Context& c, std::int64_t i, bool single) const {
    if (single) return "the example";
    return names.slot < 0 ? cat("example ", i) : cat("example ", i, " ", shown(c[names][i]));
  }

  void run(Context& c, bool single) const {
    std::vector<std::unique_ptr<FeatureSink>> sinks;
    for (const Wanted& feature : features) sinks.push_back(feature.start(c));
    std::vector<const pb::Feature*> found;
    pb::Example message;
    for (std::int64_t i = 0; i < examples; ++i) {
      const std::string& bytes = c[serialized][i];
      if (!parse_message(bytes, message))
        throw InvalidArgument(
            cat(example_text(c, i, single), ": its ", bytes.size(), " bytes are no Example message"));
      found.assign(features.size(), nullptr);
      for (const pb::FeatureEntry& entry : message.features().feature()) {
        const auto [from, to] = by_key.equal_range(entry.key());
        for (auto at = from; at != to; ++at) found[at->second] = &entry.value();
      }
      take(c, i, single, sinks, found);
    }
    for (const auto& sink : sinks) sink->finish();
  }

  void take(Context& c, std::int64_t i, bool single, const std::vector<std::unique_ptr<FeatureSink>>& sinks,
            const std::vector<const pb::Feature*>& found) const {
    std::size_t k = 0;
    try {
      for (; k < sinks.size(); ++k) sinks[k]->take(found[k]);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(
          cat(example_text(c, i, single), ": feature ", shown(features[k].key), " ", error.message()));
    }
  }
};

template <class T>
void add_sparse(const Bind& b, Search& search, int k, std::string key, bool single) {
  const typename SparseSink<T>::Slots slots{b.out<std::int64_t>("sparse_indices", k),
                                            b.out<T>("sparse_values", k),
                                            b.out<std::int64_t>("sparse_shapes", k), single};
  search.add(std::move(key), [slots](Context& c) { return std::make_unique<SparseSink<T>>(c, slots); });
}

template <class T>
void add_dense(const Bind& b, Search& search, int k, std::string key, bool single) {
  const Shape shape =
      (*b.node().attr("dense_shapes")->if_is<std::vector<Shape>>())[static_cast<std::size_t>(k)];
  const Out<T> out = b.out<T>("dense_values", k);
  const In<T> filling = b.in<T>("dense_defaults", k);
  if (!shape.is_known()) {
    const typename SequenceSink<T>::Slots slots{out, filling, Shape(shape.dims().subspan(1)), single};
    search.add(std::move(key), [slots](Context& c) { return std::make_unique<SequenceSink<T>>(c, slots); });
    return;
  }
  const bool has_default = b.input("dense_defaults", k).shape.elements() > 0;
  Shape whole = b.input("serialized").shape;
  for (const std::int64_t dim : shape.dims()) whole.push_back(dim);
  search.add(std::move(key), [=, count = shape.elements()](Context& c) {
    return std::make_unique<FixedSink<T>>(c.room(out, whole), count, has_default ? c[filling] : nullptr);
  });
}

template <class T>
void add_ragged(const Bind& b, Search& search, int k, std::string key, bool single) {
  const typename RaggedSink<T>::Slots slots{b.out<T>("ragged_values", k),
                                            b.out<std::byte>("ragged_row_splits", k),
                                            b.output("ragged_row_splits", k).dtype, single};
  search.add(std::move(key), [slots](Context& c) { return std::make_unique<RaggedSink<T>>(c, slots); });
}

struct Keys {
  std::vector<std::string> sparse, dense, ragged = {};
};

// The kernel of the op whose keys are these; `single`: of one example, without the dimension of a batch.
void bind_search(Bind& b, const Keys& keys, bool single) {
  auto search = std::make_shared<Search>();
  search->examples = b.input("serialized").shape.elements();
  search->serialized = b.in<std::string>("serialized");
  if (!single && b.input("names").shape.elements() > 0) search->names = b.in<std::string>("names");
  const auto on_type = [&](DType type, auto add) {
    if (type == DType::kFloat) return add(float());
    if (type == DType::kInt64) return add(std::int64_t());
    add(std::string());
  };
  for (std::size_t k = 0; k < keys.sparse.size(); ++k)
    on_type(b.node().types("sparse_types")[k], [&]<class T>(const T&) {
      add_sparse<T>(b, *search, static_cast<int>(k), keys.sparse[k], single);
    });
  for (std::size_t k = 0; k < keys.dense.size(); ++k)
    on_type(b.node().types("Tdense")[k],
            [&]<class T>(const T&) { add_dense<T>(b, *search, static_cast<int>(k), keys.dense[k], single); });
  for (std::size_t k = 0; k < keys.ragged.size(); ++k)
    on_type(b.node().types("ragged_value_types")[k], [&]<class T>(const T&) {
      add_ragged<T>(b, *search, static_cast<int>(k), keys.ragged[k], single);
    });
  b.run([search = std::shared_ptr<const Search>(search), single](Context& c) { search->run(c, single); });
}

std::vector<std::string> keys_given(const Bind& b, std::string_view arg) {
  std::vector<std::string> keys;
  for (int k = 0; k < b.count(arg); ++k) keys.push_back(b.value(arg, k).scalar<std::string>());
  return keys;
}

const KernelRegistration kParseExample{
    "ParseExample", any, [](Bind& b) {
      const Keys keys{keys_given(b, "sparse_keys"), keys_given(b, "dense_keys")};
      bind_search(b, keys, false);
    }};

const KernelRegistration kParseSingleExample{
    "ParseSingleExample", any, [](Bind& b) {
      const Keys keys{*b.node().attr("sparse_keys")->if_is<std::vector<std::string>>(),
                      *b.node().attr("dense_keys")->if_is<std::vector<std::string>>()};
      bind_search(b, keys, true);
    }};

// The keys of one kind, as many as it has types.
std::vector<std::string> key_vector(const Bind& b, std::string_view arg, std::size_t wanted) {
  const std::span<const std::string> keys = b.value(arg).values<std::string>();
  if (keys.size() != wanted) throw InvalidArgument(cat(arg, " has ", keys.size(), " entries, not ", wanted));
  return {keys.begin(), keys.end()};
}

const KernelRegistration kParseExampleV2{
    "ParseExampleV2", any, [](Bind& b) {
      const Keys keys{key_vector(b, "sparse_keys", b.node().types("sparse_types").size()),
                      key_vector(b, "dense_keys", b.node().types("Tdense").size()),
                      key_vector(b, "ragged_keys", b.node().types("ragged_value_types").size())};
      bind_search(b, keys, b.input("serialized").shape.rank() == 0);
    }};

}  // namespace
}  // namespace runnel
