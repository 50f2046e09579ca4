#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "middleware.h"
#include "test-case.h"

/// node-llama-cpp's ggml in this process, with the middleware on it: one backend made before it was installed, which is
/// ggml as it is, and one made after.
class Ground {
 public:
    static Ground& get();
    ggml_backend_t plain() const { return plain_; }
    ggml_backend_t pooled() const { return pooled_; }
    ggml_backend_dev_t device() const { return device_; }

 private:
    Ground();
    ggml_backend_dev_t device_ = nullptr;
    ggml_backend_t plain_ = nullptr;
    ggml_backend_t pooled_ = nullptr;
};

/// A graph over random tensors, built once and computed by several backends in the same memory.
class GraphCase {
 public:
    explicit GraphCase(std::uint32_t seed);
    GraphCase(const GraphCase&) = delete;
    GraphCase& operator=(const GraphCase&) = delete;
    ~GraphCase();

    /// A weight: quantized random numbers, in a buffer as a model's.
    ggml_tensor* weight(ggml_type type, std::vector<std::int64_t> shape, const char* name = "");
    /// A float input with random numbers.
    ggml_tensor* input(std::vector<std::int64_t> shape);
    /// Random experts: [used, tokens], below `experts`. Repeats within a token if `repeats`.
    ggml_tensor* experts(std::int64_t used, std::int64_t tokens, std::int64_t experts, bool repeats);
    ggml_context* graph_context() const { return graph_context_; }
    std::mt19937& random() { return random_; }

    /// Ends building. The outputs are what is compared.
    void finish(const std::vector<ggml_tensor*>& outputs);
    ggml_cgraph* graph() const { return graph_; }
    /// Computes and returns all outputs, one after the other.
    std::vector<float> compute(ggml_backend_t backend, ggml_status expected = GGML_STATUS_SUCCESS);

 private:
    struct Pending {
        ggml_tensor* tensor;
        std::vector<std::uint8_t> bytes;
    };
    std::vector<float> floats(std::int64_t count);
    ggml_tensor* leaf(ggml_type type, const std::vector<std::int64_t>& shape, std::vector<std::uint8_t> bytes);

    std::mt19937 random_;
    ggml_context* leaf_context_;
    ggml_context* graph_context_;
    ggml_backend_buffer_t leaves_ = nullptr;
    ggml_gallocr_t allocator_ = nullptr;
    ggml_cgraph* graph_ = nullptr;
    std::vector<Pending> pending_;
    std::vector<ggml_tensor*> outputs_;
};

/// Sum of squared differences over the sum of squares.
double relative_error(const std::vector<float>& actual, const std::vector<float>& expected);
void check_same_bits(const std::string& what, const std::vector<float>& actual, const std::vector<float>& expected);

struct PoolCounts {
    std::uint64_t pool_nodes;
    std::uint64_t original_nodes;
    std::uint64_t units;
};
PoolCounts pool_counts();
