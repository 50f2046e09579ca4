#include "bindings.h"

#include <exception>
#include <string>

#include "../pool-objects.h"
#include "middleware.h"

namespace dormouse {

namespace {

/// Reads what both install and configure take. False: an exception is on its way to JavaScript.
bool read_options(const Napi::CallbackInfo& info, PoolRequest& request) {
    if (info.Length() == 0 || !info[0].IsObject()) return true;
    const auto options = info[0].As<Napi::Object>();
    if (has(options, "fuse")) Middleware::instance().set_fuse(options.Get("fuse").ToBoolean());
    return read_request(options, request);
}

/// `gpu` as node-llama-cpp gives it: false or a name.
bool read_gpu(const Napi::CallbackInfo& info, std::optional<std::string>& gpu) {
    if (info.Length() == 0 || !info[0].IsObject()) return true;
    const auto options = info[0].As<Napi::Object>();
    if (!has(options, "gpu")) return true;
    const Napi::Value given = options.Get("gpu");
    if (given.IsBoolean() && !given.As<Napi::Boolean>()) {
        gpu = "";
    } else if (given.IsString()) {
        gpu = given.As<Napi::String>().Utf8Value();
    } else {
        return refuse(info.Env(), "gpu: expected the `gpu` of a Llama: false or a name");
    }
    return true;
}

Napi::Value install(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    InstallOptions options;
    options.pool = Middleware::instance().request();
    if (!read_options(info, options.pool) || !read_gpu(info, options.gpu)) return env.Undefined();
    std::optional<std::string> reason;
    try {
        reason = Middleware::instance().install(options);
    } catch (const std::exception& error) {
        // No memory or no threads: llama.cpp computes by itself.
        reason = std::string("the expert pool could not be made: ") + error.what();
    }
    Napi::Object answer = Napi::Object::New(env);
    answer.Set("installed", Napi::Boolean::New(env, !reason));
    if (reason) answer.Set("reason", *reason);
    return answer;
}

Napi::Value uninstall(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), Middleware::instance().uninstall());
}

Napi::Value configure(const Napi::CallbackInfo& info) {
    PoolRequest request = Middleware::instance().request();
    if (!read_options(info, request)) return info.Env().Undefined();
    try {
        Middleware::instance().configure(request);
    } catch (const std::exception& error) {
        // The pool there was stays in use.
        Napi::Error::New(info.Env(), error.what()).ThrowAsJavaScriptException();
    }
    return info.Env().Undefined();
}

Napi::Object facts_object(Napi::Env env, const GpuFacts& facts) {
    Napi::Object device = Napi::Object::New(env);
    device.Set("name", facts.name);
    device.Set("description", facts.description);
    device.Set("integrated", Napi::Boolean::New(env, facts.integrated));
    device.Set("sharesMemory", Napi::Boolean::New(env, facts.shares_memory));
    device.Set("freeBytes", number(env, facts.free_bytes));
    device.Set("totalBytes", number(env, facts.total_bytes));
    device.Set("used", Napi::Boolean::New(env, facts.used));
    return device;
}

Napi::Value devices(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    std::optional<std::string> gpu;
    if (!read_gpu(info, gpu)) return env.Undefined();
    Napi::Object answer = Napi::Object::New(env);
    const auto found = Middleware::instance().gpu_devices(gpu);
    const auto* const all = std::get_if<GpuDevices*>(&found);
    const auto facts = all != nullptr ? (*all)->facts() : std::vector<GpuFacts>();
    const KeptExperts kept = all != nullptr ? (*all)->kept() : KeptExperts();
    if (all == nullptr) answer.Set("reason", std::get<BindingFailure>(found).reason);
    Napi::Array list = Napi::Array::New(env, facts.size());
    for (std::uint32_t index = 0; index < facts.size(); ++index) list.Set(index, facts_object(env, facts[index]));
    answer.Set("devices", list);
    Napi::Object experts = Napi::Object::New(env);
    experts.Set("tensors", number(env, kept.tensors));
    experts.Set("layers", number(env, kept.layers));
    experts.Set("bytes", number(env, kept.bytes));
    answer.Set("kept", experts);
    return answer;
}

Napi::Value place(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    std::optional<std::string> gpu;
    std::optional<std::string> device;
    std::uint32_t layers = 0;
    if (!read_gpu(info, gpu)) return env.Undefined();
    if (info.Length() > 0 && info[0].IsObject()) {
        const auto options = info[0].As<Napi::Object>();
        if (!read_count(options, "expertLayers", 1e6, layers)) return env.Undefined();
        if (has(options, "device")) device = options.Get("device").ToString().Utf8Value();
    }
    const auto found = Middleware::instance().gpu_devices(gpu);
    std::optional<std::string> reason;
    if (const auto* failure = std::get_if<BindingFailure>(&found)) {
        reason = failure->reason;
    } else if (!std::get<GpuDevices*>(found)->plan(layers, device)) {
        reason = "there is no graphics device " + *device;
    }
    Napi::Object answer = Napi::Object::New(env);
    answer.Set("placed", Napi::Boolean::New(env, !reason));
    if (reason) answer.Set("reason", *reason);
    return answer;
}

Napi::Value request_stop(const Napi::CallbackInfo& info) {
    Middleware::instance().request_stop();
    return info.Env().Undefined();
}

Napi::Value clear_stop(const Napi::CallbackInfo& info) {
    Middleware::instance().clear_stop();
    return info.Env().Undefined();
}

Napi::Object phases_object(Napi::Env env, const Counters& counters) {
    constexpr std::pair<Work, const char*> kNames[] = {{Work::convert, "convert"},
                                                       {Work::gate_up, "gateUp"},
                                                       {Work::activation, "activation"},
                                                       {Work::down, "down"},
                                                       {Work::expert, "expert"},
                                                       {Work::dense, "dense"},
                                                       {Work::original_small, "originalSmall"},
                                                       {Work::original_large, "originalLarge"}};
    Napi::Object phases = Napi::Object::New(env);
    for (const auto& [work, name] : kNames) phases.Set(name, milliseconds(env, counters.ns_of(work)));
    return phases;
}

Napi::Array hits_array(Napi::Env env, const std::vector<std::vector<std::uint64_t>>& hits) {
    Napi::Array layers = Napi::Array::New(env, hits.size());
    for (std::uint32_t layer = 0; layer < hits.size(); ++layer) {
        Napi::Array experts = Napi::Array::New(env, hits[layer].size());
        for (std::uint32_t expert = 0; expert < hits[layer].size(); ++expert)
            experts.Set(expert, number(env, hits[layer][expert]));
        layers.Set(layer, experts);
    }
    return layers;
}

Napi::Value stats(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const Middleware& middleware = Middleware::instance();
    const MiddlewareStats stats = middleware.stats();
    const Counters& counters = middleware.counters();
    const auto count = [env](const std::atomic<std::uint64_t>& value) {
        return number(env, value.load(std::memory_order_relaxed));
    };
    Napi::Array registries = Napi::Array::New(env, stats.registries.size());
    for (std::uint32_t index = 0; index < stats.registries.size(); ++index)
        registries.Set(index, stats.registries[index]);
    Napi::Object answer = Napi::Object::New(env);
    answer.Set("installed", Napi::Boolean::New(env, stats.installed));
    answer.Set("registries", registries);
    answer.Set("backends", number(env, stats.backends));
    answer.Set("stopRequested", Napi::Boolean::New(env, middleware.stop_requested()));
    answer.Set("pool", stats.pool ? Napi::Value(pool_object(env, *stats.pool)) : env.Null());
    answer.Set("graphs", count(counters.graphs));
    answer.Set("poolNodes", count(counters.pool_nodes));
    answer.Set("originalNodes", count(counters.original_nodes));
    answer.Set("units", count(counters.units));
    answer.Set("plans", count(counters.plans));
    answer.Set("aborted", count(counters.aborted));
    answer.Set("failed", count(counters.failed));
    answer.Set("weightBytes", number(env, counters.weight_bytes()));
    answer.Set("phaseMs", phases_object(env, counters));
    answer.Set("expertHits", hits_array(env, stats.expert_hits));
    return answer;
}

/// Environments (the main thread's and those of Node's workers) that have loaded the addon.
std::atomic<int> environments{0};

}  // namespace

void register_ggml(Napi::Env env, Napi::Object exports) {
    exports.Set("install", Napi::Function::New(env, install, "install"));
    exports.Set("uninstall", Napi::Function::New(env, uninstall, "uninstall"));
    exports.Set("configure", Napi::Function::New(env, configure, "configure"));
    exports.Set("stats", Napi::Function::New(env, stats, "stats"));
    exports.Set("devices", Napi::Function::New(env, devices, "devices"));
    exports.Set("place", Napi::Function::New(env, place, "place"));
    exports.Set("requestStop", Napi::Function::New(env, request_stop, "requestStop"));
    exports.Set("clearStop", Napi::Function::New(env, clear_stop, "clearStop"));
    if (environments.fetch_add(1) == 0) Middleware::instance().clear_stop();
    // Node waits at exit for work on its threads: a long prefill must not keep the process alive.
    env.AddCleanupHook([] {
        if (environments.fetch_sub(1) == 1) Middleware::instance().request_stop();
    });
}

}  // namespace dormouse
