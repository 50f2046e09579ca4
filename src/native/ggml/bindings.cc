#include "bindings.h"

#include <cmath>
#include <exception>
#include <string>

#include "middleware.h"

namespace dormouse {

namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kMostThreads = 1'024;
constexpr double kMostSpinMs = 1'000'000;

Napi::Number number(Napi::Env env, std::uint64_t value) { return Napi::Number::New(env, static_cast<double>(value)); }
Napi::Number milliseconds(Napi::Env env, std::uint64_t ns) {
    return Napi::Number::New(env, static_cast<double>(ns) / kNsPerMs);
}
Napi::Value spin_value(Napi::Env env, std::uint64_t ns) {
    if (ns == kSpinAlways) return Napi::String::New(env, "always");
    return milliseconds(env, ns);
}

bool refuse(Napi::Env env, const char* message) {
    Napi::TypeError::New(env, message).ThrowAsJavaScriptException();
    return false;
}

/// An optional property: undefined and null count as not given.
bool has(const Napi::Object& object, const char* name) {
    return object.Has(name) && !object.Get(name).IsUndefined() && !object.Get(name).IsNull();
}

bool read_threads(const Napi::Object& options, PoolRequest& request) {
    if (!has(options, "threads")) return true;
    const Napi::Value given = options.Get("threads");
    const double count = given.IsNumber() ? given.As<Napi::Number>().DoubleValue() : -1;
    if (!(count >= 0 && count <= kMostThreads && count == std::floor(count))) {
        return refuse(options.Env(), "threads: expected a whole number from 1 to 1024, or 0 for automatic");
    }
    request.threads = static_cast<std::uint32_t>(count);
    return true;
}

bool read_spin(const Napi::Object& options, PoolRequest& request) {
    if (!has(options, "spinMs")) return true;
    const Napi::Value given = options.Get("spinMs");
    if (given.IsString() && given.As<Napi::String>().Utf8Value() == "always") {
        request.spin_ns = kSpinAlways;
        return true;
    }
    const double value = given.IsNumber() ? given.As<Napi::Number>().DoubleValue() : -1;
    if (!(value >= 0 && value <= kMostSpinMs))
        return refuse(options.Env(), "spinMs: expected 0 to 1000000 milliseconds or \"always\"");
    request.spin_ns = static_cast<std::uint64_t>(std::llround(value * kNsPerMs));
    return true;
}

bool read_affinity(const Napi::Object& options, PoolRequest& request) {
    if (!has(options, "affinity")) return true;
    const std::string given = options.Get("affinity").ToString();
    if (given == "off") {
        request.affinity = Affinity::off;
    } else if (given == "auto") {
        request.affinity = Affinity::automatic;
    } else if (given == "p-cores") {
        request.affinity = Affinity::performance_cores;
    } else {
        return refuse(options.Env(), "affinity: expected \"off\", \"auto\" or \"p-cores\"");
    }
    return true;
}

/// Reads what both install and configure take. False: an exception is on its way to JavaScript.
bool read_options(const Napi::CallbackInfo& info, PoolRequest& request) {
    if (info.Length() == 0 || !info[0].IsObject()) return true;
    const auto options = info[0].As<Napi::Object>();
    if (has(options, "fuse")) Middleware::instance().set_fuse(options.Get("fuse").ToBoolean());
    return read_threads(options, request) && read_spin(options, request) && read_affinity(options, request);
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

Napi::Value request_stop(const Napi::CallbackInfo& info) {
    Middleware::instance().request_stop();
    return info.Env().Undefined();
}

Napi::Value clear_stop(const Napi::CallbackInfo& info) {
    Middleware::instance().clear_stop();
    return info.Env().Undefined();
}

Napi::Object worker_object(Napi::Env env, const WorkerStats& worker) {
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("id", number(env, worker.id));
    entry.Set("state", name_of(worker.state));
    entry.Set("benched", Napi::Boolean::New(env, worker.benched));
    entry.Set("busyMs", milliseconds(env, worker.busy_ns));
    entry.Set("spinMs", milliseconds(env, worker.spin_ns));
    entry.Set("asleepMs", milliseconds(env, worker.asleep_ns));
    entry.Set("inStateMs", milliseconds(env, worker.in_state_ns));
    entry.Set("cpuMs", milliseconds(env, worker.cpu_ns));
    entry.Set("wakes", number(env, worker.wakes));
    entry.Set("jobs", number(env, worker.chunks));
    return entry;
}

Napi::Object pool_object(Napi::Env env, const PoolStats& stats) {
    Napi::Array workers = Napi::Array::New(env, stats.workers.size());
    for (std::uint32_t index = 0; index < stats.workers.size(); ++index)
        workers.Set(index, worker_object(env, stats.workers[index]));
    Napi::Object governor = Napi::Object::New(env);
    governor.Set("benched", number(env, stats.governor.benched));
    governor.Set("probes", number(env, stats.governor.probes));
    governor.Set("lostMs", milliseconds(env, stats.governor.lost_ns));
    governor.Set("spinMs", spin_value(env, stats.governor.spin_ns));
    Napi::Object pool = Napi::Object::New(env);
    pool.Set("epoch", number(env, stats.epoch));
    pool.Set("jobs", number(env, stats.jobs));
    pool.Set("sleepers", number(env, stats.sleepers));
    pool.Set("wakes", number(env, stats.wakes));
    pool.Set("threads", number(env, stats.threads));
    pool.Set("spinMs", spin_value(env, stats.spin_ns));
    pool.Set("hostMs", milliseconds(env, stats.host_ns));
    pool.Set("hostWaitMs", milliseconds(env, stats.host_wait_ns));
    pool.Set("governor", governor);
    pool.Set("workers", workers);
    return pool;
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
    exports.Set("requestStop", Napi::Function::New(env, request_stop, "requestStop"));
    exports.Set("clearStop", Napi::Function::New(env, clear_stop, "clearStop"));
    if (environments.fetch_add(1) == 0) Middleware::instance().clear_stop();
    // Node waits at exit for work on its threads: a long prefill must not keep the process alive.
    env.AddCleanupHook([] {
        if (environments.fetch_sub(1) == 1) Middleware::instance().request_stop();
    });
}

}  // namespace dormouse
