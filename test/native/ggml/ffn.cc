// Expert FFNs: every form that llama.cpp's build_moe_ffn can give, computed as one unit, against ggml node by node.
#include <array>
#include <functional>
#include <limits>
#include <vector>

#include "graph-case.h"

using namespace dormouse;

namespace {

constexpr std::int64_t kEmbedding = 256;
constexpr std::int64_t kInner = 288;
constexpr std::int64_t kExperts = 6;
constexpr std::int64_t kUsed = 3;

struct Form {
    const char* name;
    /// From gate (or the only product) and up to the activated rows.
    std::function<ggml_tensor*(ggml_context*, ggml_tensor* gate, ggml_tensor* up)> activate;
    bool gate = true;
    bool fused = false;
    bool bias = false;
    bool scale = false;
    bool input_per_slot = false;
};

struct Built {
    ggml_tensor* gate = nullptr;
    ggml_tensor* up = nullptr;
    ggml_tensor* result = nullptr;
};

/// Builds a FFN as build_moe_ffn orders its operations.
class FfnBuilder {
 public:
    FfnBuilder(GraphCase& test, const Form& form, ggml_type type, std::int64_t tokens)
        : test_(test), context_(test.graph_context()), form_(form), type_(type), tokens_(tokens) {
        ids = test.experts(kUsed, tokens, kExperts, false);
        input = test.input({kEmbedding, form.input_per_slot ? kUsed : 1, tokens});
    }

    ggml_tensor* product(const char* name, std::int64_t columns, std::int64_t rows, ggml_tensor* from) {
        ggml_tensor* result =
            ggml_mul_mat_id(context_, test_.weight(type_, {columns, rows, kExperts}, name), from, ids);
        if (form_.scale) {
            ggml_tensor* scale = ggml_reshape_3d(context_, test_.input({kExperts}), 1, kExperts, 1);
            scale = ggml_repeat_4d(context_, scale, 1, kExperts, tokens_, 1);
            result = ggml_mul(context_, result, ggml_get_rows(context_, scale, ids));
        }
        if (form_.bias) result = ggml_add_id(context_, result, test_.input({rows, kExperts}), ids);
        return result;
    }

    Built build() {
        Built built;
        if (form_.fused) {
            ggml_tensor* both = product("blk.2.ffn_gate_up_exps.weight", kEmbedding, kInner * 2, input);
            built.gate = ggml_view_3d(context_, both, kInner, both->ne[1], both->ne[2], both->nb[1], both->nb[2], 0);
            built.up = ggml_view_3d(context_, both, kInner, both->ne[1], both->ne[2], both->nb[1], both->nb[2],
                                    static_cast<std::size_t>(kInner) * both->nb[0]);
        } else {
            built.up = product("blk.2.ffn_up_exps.weight", kEmbedding, kInner, input);
            built.gate = form_.gate ? product("blk.2.ffn_gate_exps.weight", kEmbedding, kInner, input) : built.up;
        }
        built.result =
            product("blk.2.ffn_down_exps.weight", kInner, kEmbedding, form_.activate(context_, built.gate, built.up));
        return built;
    }

    ggml_tensor* ids = nullptr;
    ggml_tensor* input = nullptr;

 private:
    GraphCase& test_;
    ggml_context* context_;
    const Form& form_;
    const ggml_type type_;
    const std::int64_t tokens_;
};

using Tensor = ggml_tensor*;
using Context = ggml_context*;

Tensor swiglu(Context context, Tensor gate, Tensor up) { return ggml_swiglu_split(context, gate, up); }
Tensor gpt_oss(Context context, Tensor gate, Tensor up) { return ggml_swiglu_oai(context, gate, up, 1.702F, 7.0F); }
Tensor swiglu_clamped(Context context, Tensor gate, Tensor up) { return ggml_swiglu_clamp(context, gate, up, 1.5F); }
Tensor swiglu_limited(Context context, Tensor gate, Tensor up) {
    up = ggml_clamp(context, up, -1.0F, 1.0F);
    Tensor act = ggml_clamp(context, ggml_silu(context, gate), -std::numeric_limits<float>::infinity(), 1.0F);
    return ggml_mul(context, act, up);
}
Tensor geglu(Context context, Tensor gate, Tensor up) { return ggml_geglu_split(context, gate, up); }
Tensor reglu(Context context, Tensor gate, Tensor up) { return ggml_reglu_split(context, gate, up); }
Tensor situ(Context context, Tensor gate, Tensor up) {
    Tensor act = ggml_scale(context, ggml_tanh(context, ggml_scale(context, gate, 0.5F)), 2.0F);
    act = ggml_mul(context, act, ggml_sigmoid(context, gate));
    up = ggml_scale(context, ggml_tanh(context, ggml_scale(context, up, 0.25F)), 4.0F);
    return ggml_mul(context, act, up);
}
Tensor silu(Context context, Tensor only, Tensor) { return ggml_silu(context, only); }
Tensor gelu(Context context, Tensor only, Tensor) { return ggml_gelu(context, only); }
Tensor relu_squared(Context context, Tensor only, Tensor) { return ggml_sqr(context, ggml_relu(context, only)); }

const std::vector<Form>& forms() {
    static const std::vector<Form> all = {
        {.name = "swiglu", .activate = swiglu},
        {.name = "swiglu, bias", .activate = swiglu, .bias = true},
        {.name = "swiglu, scale", .activate = swiglu, .scale = true},
        {.name = "swiglu, scale and bias", .activate = swiglu, .bias = true, .scale = true},
        {.name = "swiglu, input per slot", .activate = swiglu, .input_per_slot = true},
        {.name = "swiglu limited", .activate = swiglu_limited},
        {.name = "swiglu clamped", .activate = swiglu_clamped},
        {.name = "swiglu of gpt-oss, bias", .activate = gpt_oss, .bias = true},
        {.name = "geglu", .activate = geglu},
        {.name = "reglu", .activate = reglu},
        {.name = "situ", .activate = situ},
        {.name = "fused swiglu", .activate = swiglu, .fused = true},
        {.name = "fused swiglu, scale and bias", .activate = swiglu, .fused = true, .bias = true, .scale = true},
        {.name = "fused geglu", .activate = geglu, .fused = true},
        {.name = "silu without gate", .activate = silu, .gate = false},
        {.name = "silu without gate, bias", .activate = silu, .gate = false, .bias = true},
        {.name = "gelu without gate", .activate = gelu, .gate = false},
        {.name = "relu^2 without gate", .activate = relu_squared, .gate = false},
    };
    return all;
}

void check_form(const Form& form, ggml_type type, std::int64_t tokens, bool named_graph) {
    GraphCase test(static_cast<std::uint32_t>(tokens));
    FfnBuilder builder(test, form, type, tokens);
    // Something before and after, as in a model.
    test.finish({ggml_scale(test.graph_context(), builder.build().result, 0.5F)});
    static std::uint64_t identity = 1'000'000;
    if (named_graph) test.graph()->uid = ++identity;
    const std::vector<float> expected = test.compute(Ground::get().plain());
    for (int round = 0; round < 2; ++round) {
        const PoolCounts before = pool_counts();
        const std::vector<float> actual = test.compute(Ground::get().pooled());
        const std::string what =
            std::string(form.name) + ", " + ggml_type_name(type) + ", " + std::to_string(tokens) + " tokens";
        if (pool_counts().units - before.units != 1)
            fail_test(__FILE__, __LINE__, what + " was not computed as a unit");
        if (pool_counts().original_nodes - before.original_nodes != 1)
            fail_test(__FILE__, __LINE__, what + " left nodes to ggml");
        check_same_bits(what, actual, expected);
    }
}

const Form kPlain{.name = "swiglu", .activate = swiglu};

/// Computes a graph that is not to be fused and compares all outputs.
void check_unfused(GraphCase& test, const std::vector<ggml_tensor*>& outputs) {
    test.finish(outputs);
    const std::vector<float> expected = test.compute(Ground::get().plain());
    const PoolCounts before = pool_counts();
    check_same_bits("node by node", test.compute(Ground::get().pooled()), expected);
    CHECK_EQUAL(pool_counts().units - before.units, std::uint64_t{0});
    CHECK(pool_counts().pool_nodes > before.pool_nodes);
}

}  // namespace

TEST("ffn: every form, one token", "a form that is computed wrongly, or not as a unit") {
    // A sanitizer looks for what does not depend on the format of the weights.
    std::vector<ggml_type> types{GGML_TYPE_Q8_0};
    if (test_scale() >= 1) types.insert(types.end(), {GGML_TYPE_F16, GGML_TYPE_MXFP4});
    for (const Form& form : forms()) {
        for (const ggml_type type : types) check_form(form, type, 1, true);
    }
}

TEST("ffn: every form, many tokens", "rows mixed up between tokens, slots and experts") {
    for (const Form& form : forms()) {
        for (const std::int64_t tokens : {2, 7, test_scale() >= 1 ? 64 : 9}) {
            check_form(form, GGML_TYPE_Q4_0, tokens, tokens == 7);
        }
    }
}

TEST("ffn: float weights", "an input that needs no conversion") { check_form(kPlain, GGML_TYPE_F32, 3, false); }

TEST("ffn: an intermediate that is an output is computed", "an elided result that somebody reads") {
    GraphCase test(20);
    FfnBuilder builder(test, kPlain, GGML_TYPE_Q8_0, 2);
    const Built built = builder.build();
    check_unfused(test, {built.gate, built.result});
}

TEST("ffn: an intermediate with another use is computed", "an elided result that somebody reads") {
    GraphCase test(21);
    FfnBuilder builder(test, kPlain, GGML_TYPE_Q8_0, 2);
    const Built built = builder.build();
    check_unfused(test, {built.result, ggml_sqr(test.graph_context(), built.up)});
}

TEST("ffn: a view of an intermediate with another use", "an elided result that is read through a view") {
    GraphCase test(22);
    const Form fused{.name = "fused", .activate = swiglu, .fused = true};
    FfnBuilder builder(test, fused, GGML_TYPE_Q8_0, 2);
    const Built built = builder.build();
    check_unfused(test, {built.result, ggml_cont(test.graph_context(), built.up)});
}

TEST("ffn: something added in between (LoRA)", "an adapter that is ignored") {
    GraphCase test(23);
    const Form adapted{.name = "lora", .activate = [&test](Context context, Tensor gate, Tensor up) {
                           Tensor delta = test.input({kInner, kUsed, 2});
                           return ggml_swiglu_split(context, ggml_add(context, gate, delta), up);
                       }};
    FfnBuilder builder(test, adapted, GGML_TYPE_Q8_0, 2);
    check_unfused(test, {builder.build().result});
}

TEST("ffn: other experts for down than for up", "a unit over two different routings") {
    GraphCase test(24);
    FfnBuilder builder(test, kPlain, GGML_TYPE_Q8_0, 2);
    Tensor up = builder.product("u", kEmbedding, kInner, builder.input);
    Tensor gate = builder.product("g", kEmbedding, kInner, builder.input);
    builder.ids = test.experts(kUsed, 2, kExperts, false);
    check_unfused(test, {builder.product("d", kInner, kEmbedding, swiglu(test.graph_context(), gate, up))});
}

TEST("ffn: gate and up with different inputs", "a unit that reads one input for both") {
    GraphCase test(25);
    FfnBuilder builder(test, kPlain, GGML_TYPE_Q8_0, 2);
    Tensor up = builder.product("u", kEmbedding, kInner, builder.input);
    Tensor gate = builder.product("g", kEmbedding, kInner, test.input({kEmbedding, 1, 2}));
    check_unfused(test, {builder.product("d", kInner, kEmbedding, swiglu(test.graph_context(), gate, up))});
}

TEST("ffn: the same identity with another plan is never mixed up", "a cached plan for a graph that has changed") {
    for (int round = 0; round < 20; ++round)
        check_form(forms()[static_cast<std::size_t>(round) % forms().size()], GGML_TYPE_Q8_0, 1 + round % 3, true);
}
