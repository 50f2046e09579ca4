#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "binding.h"

namespace dormouse {

/// One product with expert weights: scale[expert] * (weights . input) + bias[expert]. Indices are of the graph's nodes.
struct ExpertProduct {
    int node = -1;
    /// Node that holds the result after scale and bias.
    int result = -1;
    /// One float per expert, or null.
    const ggml_tensor* scale = nullptr;
    /// A row of floats per expert, or null.
    const ggml_tensor* bias = nullptr;
};

inline constexpr int kMostInputs = 2;
inline constexpr int kMostActivations = 10;
inline constexpr int kMostLeaves = 4;
/// Nodes from the first to the last of a unit, with everything in between.
inline constexpr int kMostSpan = 48;

/// What the activation reads: part of a row of an input product's result.
struct ActivationLeaf {
    int product = 0;
    std::int64_t offset = 0;
    std::int64_t length = 0;
};

/// An element-wise operation; operands count leaves from 0 and operations from kMostLeaves.
struct ActivationNode {
    int node = -1;
    int operand_count = 0;
    std::array<int, 2> operands{};
};

/// An expert FFN: one or two input products over the same rows, an activation, the product with the down weights. Only
/// the last result is needed by anyone else; everything between is elided.
struct FfnUnit {
    int first = -1;
    int last = -1;
    int input_count = 0;
    std::array<ExpertProduct, kMostInputs> inputs{};
    int leaf_count = 0;
    std::array<ActivationLeaf, kMostLeaves> leaves{};
    int activation_count = 0;
    std::array<ActivationNode, kMostActivations> activations{};
    ExpertProduct down;
};

/// Whether the pool can compute a MUL_MAT_ID: host weights that can be dotted, float input, plain layout.
bool can_multiply_experts(const Binding& binding, const ggml_tensor* node);

/// The FFN whose down product is node `down`, if the graph has one there that can be computed as a whole.
std::optional<FfnUnit> recognise_ffn(const Binding& binding, const ggml_cgraph* graph, int down);

}  // namespace dormouse
