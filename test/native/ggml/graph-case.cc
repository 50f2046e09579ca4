#include "graph-case.h"

#include <algorithm>
#include <cstring>

using namespace dormouse;

#if defined(__SANITIZE_THREAD__)
// ggml's own barriers are invisible to the sanitizer, as its libraries were built without.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:libggml-cpu\nrace:libggml-base\n"; }
#endif

Ground& Ground::get() {
    static auto* const ground = new Ground;
    return *ground;
}

Ground::Ground() {
    ggml_backend_load_all_from_path(DORMOUSE_GGML_FOLDER);
    device_ = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    CHECK(device_ != nullptr);
    plain_ = ggml_backend_dev_init(device_, nullptr);
    InstallOptions options;
    options.pool.threads = 2;
    const auto reason = Middleware::instance().install(options);
    if (reason) fail_test(__FILE__, __LINE__, *reason);
    pooled_ = ggml_backend_dev_init(device_, nullptr);
    CHECK(plain_->iface.graph_compute != pooled_->iface.graph_compute);
    for (const ggml_backend_t backend : {plain_, pooled_}) {
        const auto set = reinterpret_cast<ggml_backend_set_n_threads_t>(
            ggml_backend_reg_get_proc_address(device_->reg, "ggml_backend_set_n_threads"));
        set(backend, 2);
    }
}

GraphCase::GraphCase(std::uint32_t seed)
    : random_(seed),
      leaf_context_(ggml_init({ggml_tensor_overhead() * 64, nullptr, true})),
      graph_context_(ggml_init({ggml_tensor_overhead() * 256 + ggml_graph_overhead(), nullptr, true})) {
    Ground::get();
}

GraphCase::~GraphCase() {
    if (allocator_ != nullptr) ggml_gallocr_free(allocator_);
    if (leaves_ != nullptr) ggml_backend_buffer_free(leaves_);
    ggml_free(graph_context_);
    ggml_free(leaf_context_);
}

std::vector<float> GraphCase::floats(std::int64_t count) {
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = normal(random_);
    return values;
}

ggml_tensor* GraphCase::leaf(ggml_type type, const std::vector<std::int64_t>& shape, std::vector<std::uint8_t> bytes) {
    ggml_tensor* tensor = ggml_new_tensor(leaf_context_, type, static_cast<int>(shape.size()), shape.data());
    pending_.push_back({tensor, std::move(bytes)});
    return tensor;
}

namespace {

/// Formats whose quantizer first searches for half a minute: any bits will do, if the scale of a block is sane.
bool is_grid(ggml_type type) {
    return type == GGML_TYPE_IQ1_S || type == GGML_TYPE_IQ1_M || type == GGML_TYPE_IQ2_XXS ||
           type == GGML_TYPE_IQ2_XS || type == GGML_TYPE_IQ2_S || type == GGML_TYPE_IQ3_XXS || type == GGML_TYPE_IQ3_S;
}

void fill_grid(ggml_type type, std::vector<std::uint8_t>& bytes, std::mt19937& random) {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    const std::size_t block = ggml_type_size(type);
    for (std::size_t at = 0; at < bytes.size(); at += block) {
        // The high byte of a half: about 0.01. IQ1_M spreads its scale over the top bits of its last four words.
        if (type != GGML_TYPE_IQ1_M)
            bytes[at + 1] = 0x21;
        else
            bytes[at + block - 1] = static_cast<std::uint8_t>((bytes[at + block - 1] & 0x0F) | 0x20);
    }
}

}  // namespace

ggml_tensor* GraphCase::weight(ggml_type type, std::vector<std::int64_t> shape, const char* name) {
    std::int64_t rows = 1;
    for (std::size_t axis = 1; axis < shape.size(); ++axis) rows *= shape[axis];
    std::vector<std::uint8_t> bytes(ggml_row_size(type, shape[0]) * static_cast<std::size_t>(rows));
    if (is_grid(type)) {
        fill_grid(type, bytes, random_);
    } else {
        const std::vector<float> values = floats(shape[0] * rows);
        const std::size_t written = ggml_quantize_chunk(type, values.data(), bytes.data(), 0, rows, shape[0], nullptr);
        CHECK_EQUAL(written, bytes.size());
    }
    ggml_tensor* tensor = leaf(type, shape, std::move(bytes));
    ggml_set_name(tensor, name);
    return tensor;
}

ggml_tensor* GraphCase::input(std::vector<std::int64_t> shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    const std::vector<float> values = floats(count);
    std::vector<std::uint8_t> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return leaf(GGML_TYPE_F32, shape, std::move(bytes));
}

ggml_tensor* GraphCase::experts(std::int64_t used, std::int64_t tokens, std::int64_t experts, bool repeats) {
    std::vector<std::int32_t> ids;
    for (std::int64_t token = 0; token < tokens; ++token) {
        std::vector<std::int32_t> of_token;
        while (of_token.size() < static_cast<std::size_t>(used)) {
            const auto id = static_cast<std::int32_t>(random_() % static_cast<std::uint32_t>(experts));
            const bool known = std::find(of_token.begin(), of_token.end(), id) != of_token.end();
            if (!known || repeats || of_token.size() >= static_cast<std::size_t>(experts)) of_token.push_back(id);
        }
        ids.insert(ids.end(), of_token.begin(), of_token.end());
    }
    std::vector<std::uint8_t> bytes(ids.size() * sizeof(std::int32_t));
    std::memcpy(bytes.data(), ids.data(), bytes.size());
    return leaf(GGML_TYPE_I32, {used, tokens}, std::move(bytes));
}

void GraphCase::finish(const std::vector<ggml_tensor*>& outputs) {
    graph_ = ggml_new_graph(graph_context_);
    for (ggml_tensor* output : outputs) {
        ggml_set_output(output);
        ggml_build_forward_expand(graph_, output);
    }
    outputs_ = outputs;
    leaves_ = ggml_backend_alloc_ctx_tensors(leaf_context_, Ground::get().plain());
    CHECK(leaves_ != nullptr);
    ggml_backend_buffer_set_usage(leaves_, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    for (const Pending& one : pending_) ggml_backend_tensor_set(one.tensor, one.bytes.data(), 0, one.bytes.size());
    pending_.clear();
    allocator_ = ggml_gallocr_new(ggml_backend_get_default_buffer_type(Ground::get().plain()));
    CHECK(ggml_gallocr_alloc_graph(allocator_, graph_));
}

std::vector<float> GraphCase::compute(ggml_backend_t backend, ggml_status expected) {
    for (ggml_tensor* output : outputs_) std::memset(output->data, 0x55, ggml_nbytes(output));
    CHECK_EQUAL(static_cast<int>(ggml_backend_graph_compute(backend, graph_)), static_cast<int>(expected));
    std::vector<float> all;
    for (ggml_tensor* output : outputs_) {
        const std::size_t before = all.size();
        all.resize(before + static_cast<std::size_t>(ggml_nelements(output)));
        ggml_backend_tensor_get(output, all.data() + before, 0, ggml_nbytes(output));
    }
    return all;
}

double relative_error(const std::vector<float>& actual, const std::vector<float>& expected) {
    CHECK_EQUAL(actual.size(), expected.size());
    double difference = 0;
    double size = 0;
    for (std::size_t index = 0; index < actual.size(); ++index) {
        const double here = static_cast<double>(actual[index]) - static_cast<double>(expected[index]);
        difference += here * here;
        size += static_cast<double>(expected[index]) * static_cast<double>(expected[index]);
    }
    return size == 0 ? difference : difference / size;
}

void check_same_bits(const std::string& what, const std::vector<float>& actual, const std::vector<float>& expected) {
    CHECK_EQUAL(actual.size(), expected.size());
    for (std::size_t index = 0; index < actual.size(); ++index) {
        if (std::memcmp(&actual[index], &expected[index], sizeof(float)) == 0) continue;
        fail_test(__FILE__, __LINE__,
                  what + ": value " + std::to_string(index) + " of " + std::to_string(actual.size()) + " is " +
                      std::to_string(actual[index]) + ", ggml's is " + std::to_string(expected[index]));
    }
}

PoolCounts pool_counts() {
    const Counters& counters = Middleware::instance().counters();
    return {counters.pool_nodes.load(), counters.original_nodes.load(), counters.units.load()};
}
