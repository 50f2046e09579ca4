// Products one by one, against ggml.
#include <algorithm>
#include <cstring>

#include "graph-case.h"

using namespace dormouse;

namespace {

std::vector<ggml_type> dotted_types() {
    Ground::get();
    std::vector<ggml_type> types;
    const Binding& binding = Registry::of(Ground::get().device())->binding();
    for (int number = 0; number < GGML_TYPE_COUNT; ++number) {
        const auto type = static_cast<ggml_type>(number);
        if (ggml_blck_size(type) > 0 && binding.traits(type)->vec_dot != nullptr) types.push_back(type);
    }
    return types;
}

/// Formats for which ggml computes many tokens in another way, which rounds otherwise.
bool has_panels(ggml_type type) {
    return type == GGML_TYPE_IQ1_S || type == GGML_TYPE_IQ1_M || type == GGML_TYPE_IQ2_XXS ||
           type == GGML_TYPE_IQ2_XS || type == GGML_TYPE_IQ2_S || type == GGML_TYPE_IQ3_XXS || type == GGML_TYPE_IQ3_S;
}

struct Shape {
    std::int64_t columns, rows, experts, used, tokens;
    bool repeats;
    bool input_per_slot;
};

std::string describe(ggml_type type, const Shape& shape) {
    return std::string(ggml_type_name(type)) + " " + std::to_string(shape.columns) + "x" + std::to_string(shape.rows) +
           ", " + std::to_string(shape.used) + " of " + std::to_string(shape.experts) + " experts, " +
           std::to_string(shape.tokens) + " tokens" + (shape.repeats ? ", repeats" : "") +
           (shape.input_per_slot ? ", input per slot" : "");
}

void check_experts(ggml_type type, const Shape& shape, std::uint32_t seed) {
    GraphCase test(seed);
    ggml_tensor* weights = test.weight(type, {shape.columns, shape.rows, shape.experts}, "blk.1.ffn_up_exps.weight");
    ggml_tensor* input = test.input({shape.columns, shape.input_per_slot ? shape.used : 1, shape.tokens});
    ggml_tensor* ids = test.experts(shape.used, shape.tokens, shape.experts, shape.repeats);
    test.finish({ggml_mul_mat_id(test.graph_context(), weights, input, ids)});
    const std::vector<float> expected = test.compute(Ground::get().plain());
    const PoolCounts before = pool_counts();
    const std::vector<float> actual = test.compute(Ground::get().pooled());
    const PoolCounts after = pool_counts();
    const std::string what = describe(type, shape);
    if (has_panels(type) && shape.tokens * shape.used >= 8) {
        if (relative_error(actual, expected) > 1e-3) fail_test(__FILE__, __LINE__, what + " differs too much");
        return;
    }
    CHECK_EQUAL(after.pool_nodes - before.pool_nodes, std::uint64_t{1});
    check_same_bits(what, actual, expected);
}

std::int64_t draw(std::mt19937& random, std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most - least + 1));
}

}  // namespace

TEST("experts: every format, one token", "a wrong stride, format or chunk border") {
    for (const ggml_type type : dotted_types()) check_experts(type, {512, 37, 4, 3, 1, false, false}, 1);
}

TEST("experts: every format, many tokens", "rows mixed up between tokens; experts without a token") {
    for (const ggml_type type : dotted_types()) {
        check_experts(type, {256, 50, 9, 4, 17, true, false}, 2);
        check_experts(type, {256, 33, 6, 2, 40, false, true}, 3);
    }
}

TEST("experts: random shapes", "chunk sizes that do not divide the rows; 1 and 256 experts; repeated experts") {
    std::mt19937 random(7);
    const ggml_type types[] = {GGML_TYPE_Q4_K,  GGML_TYPE_Q8_0, GGML_TYPE_F16,
                               GGML_TYPE_MXFP4, GGML_TYPE_F32,  GGML_TYPE_Q6_K};
    const int rounds = static_cast<int>(60 * test_scale());
    for (int round = 0; round < rounds; ++round) {
        Shape shape{};
        shape.columns = 256 * draw(random, 1, 4);
        shape.experts = draw(random, 0, 3) == 0 ? draw(random, 100, 256) : draw(random, 1, 24);
        shape.rows = shape.experts > 64 ? draw(random, 1, 40) : draw(random, 1, 400);
        shape.used = draw(random, 1, std::min<std::int64_t>(8, shape.experts));
        shape.tokens = draw(random, 0, 1) == 0 ? 1 : draw(random, 2, 64);
        shape.repeats = draw(random, 0, 2) == 0;
        shape.input_per_slot = draw(random, 0, 2) == 0;
        check_experts(types[static_cast<std::size_t>(round) % std::size(types)], shape,
                      static_cast<std::uint32_t>(100 + round));
    }
}

TEST("experts: an id that is no expert goes to ggml", "a read far outside of the weights") {
    ExpertGroups groups;
    groups.reserve(4, 8);
    const std::int32_t ids[4] = {1, 7, 8, 0};
    CHECK(!groups.assign(reinterpret_cast<const char*>(ids), sizeof ids, 4, 1, 8));
    const std::int32_t negative[4] = {1, 7, -1, 0};
    CHECK(!groups.assign(reinterpret_cast<const char*>(negative), sizeof negative, 4, 1, 8));
    CHECK(groups.assign(reinterpret_cast<const char*>(ids), sizeof ids, 2, 1, 8));
    CHECK_EQUAL(groups.size(), 2U);
}

TEST("dense: every format", "decode that differs from llama.cpp's") {
    for (const ggml_type type : dotted_types()) {
        for (const std::int64_t tokens : {std::int64_t{1}, std::int64_t{2}, kMostDecodeTokens}) {
            GraphCase test(5);
            ggml_tensor* weights = test.weight(type, {512, 203});
            ggml_tensor* input = test.input({512, tokens});
            test.finish({ggml_mul_mat(test.graph_context(), weights, input)});
            const std::vector<float> expected = test.compute(Ground::get().plain());
            const PoolCounts before = pool_counts();
            const std::vector<float> actual = test.compute(Ground::get().pooled());
            CHECK_EQUAL(pool_counts().pool_nodes - before.pool_nodes, std::uint64_t{1});
            const std::string what = std::string(ggml_type_name(type)) + ", " + std::to_string(tokens) + " tokens";
            if (tokens == 1) check_same_bits(what, actual, expected);
            // ggml has other kernels for several tokens, of which some do not even round the input to the same format.
            if (relative_error(actual, expected) > 1e-3) fail_test(__FILE__, __LINE__, what + " differs too much");
        }
    }
}

TEST("dense: what is no weight or has many tokens goes to ggml", "a KV cache read as weights; a slow prefill") {
    GraphCase test(6);
    ggml_tensor* weights = test.weight(GGML_TYPE_F16, {64, 48});
    ggml_tensor* many = test.input({64, kMostDecodeTokens + 1});
    ggml_tensor* few = test.input({64, 2});
    ggml_context* context = test.graph_context();
    ggml_tensor* computed = ggml_add(context, many, many);
    test.finish({ggml_mul_mat(context, weights, many), ggml_mul_mat(context, computed, few)});
    const std::vector<float> expected = test.compute(Ground::get().plain());
    const PoolCounts before = pool_counts();
    check_same_bits("unpooled", test.compute(Ground::get().pooled()), expected);
    CHECK_EQUAL(pool_counts().pool_nodes - before.pool_nodes, std::uint64_t{0});
}

TEST("nodes that are not to be computed are left alone", "results written over another branch's") {
    GraphCase test(8);
    ggml_tensor* weights = test.weight(GGML_TYPE_Q8_0, {64, 48});
    ggml_tensor* input = test.input({64, 1});
    ggml_tensor* product = ggml_mul_mat(test.graph_context(), weights, input);
    test.finish({product});
    product->flags &= ~GGML_TENSOR_FLAG_COMPUTE;
    const std::vector<float> untouched = test.compute(Ground::get().pooled());
    std::uint32_t bits = 0;
    std::memcpy(&bits, untouched.data(), sizeof bits);
    CHECK_EQUAL(bits, 0x55555555U);
}

TEST("stop: nothing is computed, then everything again", "a stop that sticks or is overlooked") {
    GraphCase test(9);
    ggml_tensor* weights = test.weight(GGML_TYPE_Q8_0, {256, 300, 8}, "blk.0.ffn_up_exps.weight");
    ggml_tensor* product =
        ggml_mul_mat_id(test.graph_context(), weights, test.input({256, 1, 4}), test.experts(2, 4, 8, false));
    test.finish({product});
    const std::vector<float> expected = test.compute(Ground::get().plain());
    Middleware::instance().request_stop();
    test.compute(Ground::get().pooled(), GGML_STATUS_ABORTED);
    Middleware::instance().clear_stop();
    check_same_bits("after a stop", test.compute(Ground::get().pooled()), expected);
}
