#pragma once

#include <array>
#include <memory>
#include <vector>

#include "recognise.h"

namespace dormouse {

/// The activation of one FFN unit, ready to run for a row: which of ggml's operations, on what.
struct ActivationProgram {
    const FfnUnit* unit = nullptr;
    ggml_tensor* const* nodes = nullptr;
    /// The whole activation is one SwiGLU over two input rows: ggml's row function does it without a graph.
    bool is_plain_swiglu = false;
};

/// Runs activations, row by row, with ggml's own code, so that they give its very bits whatever they are: each thread
/// of the pool has a lane with a graph over tensors of one row and a ggml thread pool without threads.
class ActivationLanes {
 public:
    explicit ActivationLanes(const Binding& binding) : binding_(binding) {}
    ActivationLanes(const ActivationLanes&) = delete;
    ActivationLanes& operator=(const ActivationLanes&) = delete;
    ~ActivationLanes();

    /// Before the epoch: lanes for so many threads, each with room for so many floats.
    void reserve(std::uint32_t threads, std::size_t floats);
    ActivationProgram program(const FfnUnit& unit, const ggml_cgraph* graph) const;
    /// The activated row, in the lane's memory until its next call.
    const float* run(const ActivationProgram& program, const std::array<const float*, 2>& rows,
                     std::uint32_t thread) noexcept;

 private:
    struct Lane {
        ggml_threadpool_t threads = nullptr;
        std::array<ggml_tensor, kMostLeaves + kMostActivations> tensors{};
        std::array<ggml_tensor*, kMostActivations> nodes{};
        std::vector<float> memory;
    };

    const Binding& binding_;
    std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace dormouse
