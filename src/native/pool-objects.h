#pragma once

// The pool's options and figures as JavaScript objects: the same for the pool by itself (addon.cc) and inside llama.cpp
// (ggml/bindings.cc). What cannot be read throws a TypeError into JavaScript and answers false.

#include <napi.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "expert-pool.h"

namespace dormouse {

inline constexpr double kNsPerMs = 1e6;
inline constexpr double kMostThreads = 1'024;
inline constexpr double kMostSpinMs = 1'000'000;

inline Napi::Number number(Napi::Env env, std::uint64_t value) {
    return Napi::Number::New(env, static_cast<double>(value));
}

inline Napi::Number milliseconds(Napi::Env env, std::uint64_t ns) {
    return Napi::Number::New(env, static_cast<double>(ns) / kNsPerMs);
}

inline Napi::Value spin_value(Napi::Env env, std::uint64_t ns) {
    if (ns == kSpinAlways) return Napi::String::New(env, "always");
    return milliseconds(env, ns);
}

inline bool refuse(Napi::Env env, const std::string& message) {
    Napi::TypeError::New(env, message).ThrowAsJavaScriptException();
    return false;
}

/// An optional property: undefined and null count as not given.
inline bool has(const Napi::Object& object, const char* name) {
    return object.Has(name) && !object.Get(name).IsUndefined() && !object.Get(name).IsNull();
}

/// A whole number from 0 to `most`.
inline bool read_count(const Napi::Object& object, const char* name, double most, std::uint32_t& value) {
    if (!has(object, name)) return true;
    const Napi::Value given = object.Get(name);
    const double count = given.IsNumber() ? given.As<Napi::Number>().DoubleValue() : -1;
    if (!(count >= 0 && count <= most && count == std::floor(count))) {
        const std::string limit = std::to_string(static_cast<std::uint64_t>(most));
        return refuse(object.Env(), std::string(name) + ": expected a whole number from 0 to " + limit);
    }
    value = static_cast<std::uint32_t>(count);
    return true;
}

/// `spinMs`: milliseconds, or "always".
inline bool read_spin(const Napi::Object& object, std::uint64_t& spin_ns) {
    if (!has(object, "spinMs")) return true;
    const Napi::Value given = object.Get("spinMs");
    if (given.IsString() && given.As<Napi::String>().Utf8Value() == "always") {
        spin_ns = kSpinAlways;
        return true;
    }
    const double value = given.IsNumber() ? given.As<Napi::Number>().DoubleValue() : -1;
    if (!(value >= 0 && value <= kMostSpinMs)) {
        return refuse(object.Env(), "spinMs: expected 0 to 1000000 milliseconds or \"always\"");
    }
    spin_ns = static_cast<std::uint64_t>(std::llround(value * kNsPerMs));
    return true;
}

inline bool read_affinity(const Napi::Object& object, Affinity& affinity) {
    if (!has(object, "affinity")) return true;
    const std::string given = object.Get("affinity").ToString().Utf8Value();
    if (given == "off") {
        affinity = Affinity::off;
    } else if (given == "auto") {
        affinity = Affinity::automatic;
    } else if (given == "p-cores") {
        affinity = Affinity::performance_cores;
    } else {
        return refuse(object.Env(), "affinity: expected \"off\", \"auto\" or \"p-cores\"");
    }
    return true;
}

/// `threads` (host and workers; 0 chooses by the machine), `spinMs`, `affinity` and `govern`; what is not given stays.
inline bool read_request(const Napi::Object& object, PoolRequest& request) {
    if (has(object, "govern")) request.govern = object.Get("govern").ToBoolean();
    return read_count(object, "threads", kMostThreads, request.threads) && read_spin(object, request.spin_ns) &&
           read_affinity(object, request.affinity);
}

inline Napi::Object worker_object(Napi::Env env, const WorkerStats& worker) {
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

inline Napi::Object pool_object(Napi::Env env, const PoolStats& stats) {
    Napi::Array workers = Napi::Array::New(env, stats.workers.size());
    for (std::uint32_t index = 0; index < stats.workers.size(); ++index) {
        workers.Set(index, worker_object(env, stats.workers[index]));
    }
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

}  // namespace dormouse
