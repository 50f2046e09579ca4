// N-API face of the native core. Everything that crosses is a plain copied object; no external buffers.
#include <napi.h>

#include <atomic>
#include <memory>
#include <string>

#include "bindings.h"
#include "expert-pool.h"
#include "pool-objects.h"

namespace {

using namespace dormouse;

const char* name_of_status(RunStatus status) {
    switch (status) {
        case RunStatus::completed: return "completed";
        case RunStatus::stopped: return "stopped";
        case RunStatus::stalled: return "stalled";
        case RunStatus::nested: return "nested";
        case RunStatus::too_many_chunks: return "too-many-chunks";
    }
    return "unknown";
}

using SharedPool = std::shared_ptr<ExpertPool>;
/// Ends self-tests when their pool is destroyed.
using StopFlag = std::shared_ptr<std::atomic<bool>>;

/// Node waits for libuv's threads when it exits, so no self-test lasts longer.
constexpr std::uint64_t kSelfTestLimitNs = 10'000'000'000;

struct SelfTest {
    std::uint32_t runs = 1;
    std::uint32_t chunks = 16;
    std::uint32_t chunk_microseconds = 20;

    static void compute(void* context, std::uint32_t, std::uint32_t) {
        const auto& self = *static_cast<const SelfTest*>(context);
        const std::uint64_t until = now_ns() + std::uint64_t{self.chunk_microseconds} * 1'000;
        while (now_ns() < until) cpu_pause();
    }
};

/// Runs on one of libuv's threads, as llama.cpp's graphs do.
class SelfTestWork : public Napi::AsyncWorker {
 public:
    SelfTestWork(Napi::Env env, SharedPool pool, StopFlag stop, const SelfTest& test)
        : AsyncWorker(env, "dormouse-self-test"),
          pool_(std::move(pool)),
          stop_(std::move(stop)),
          test_(test),
          result_(Napi::Promise::Deferred::New(env)) {}

    Napi::Promise promise() const { return result_.Promise(); }

    void Execute() override {
        const HostScope scope(*pool_);
        const std::uint64_t started = now_ns();
        for (std::uint32_t run = 0; run < test_.runs && status_ == RunStatus::completed; ++run) {
            status_ = pool_->run(SelfTest::compute, &test_, test_.chunks, stop_.get());
            if (now_ns() - started > kSelfTestLimitNs) status_ = RunStatus::stopped;
        }
        spent_ns_ = now_ns() - started;
        if (status_ == RunStatus::stalled) diagnosis_ = pool_->diagnosis();
    }
    void OnOK() override {
        Napi::Object answer = Napi::Object::New(Env());
        answer.Set("status", name_of_status(status_));
        answer.Set("ms", milliseconds(Env(), spent_ns_));
        if (!diagnosis_.empty()) answer.Set("diagnosis", diagnosis_);
        result_.Resolve(answer);
    }
    void OnError(const Napi::Error& error) override { result_.Reject(error.Value()); }

 private:
    SharedPool pool_;
    StopFlag stop_;
    SelfTest test_;
    RunStatus status_ = RunStatus::completed;
    std::uint64_t spent_ns_ = 0;
    std::string diagnosis_;
    Napi::Promise::Deferred result_;
};

class QuiesceWork : public Napi::AsyncWorker {
 public:
    QuiesceWork(Napi::Env env, SharedPool pool)
        : AsyncWorker(env, "dormouse-quiesce"), pool_(std::move(pool)), result_(Napi::Promise::Deferred::New(env)) {}
    Napi::Promise promise() const { return result_.Promise(); }
    void Execute() override { quiet_ = pool_->quiesce(); }
    void OnOK() override { result_.Resolve(Napi::Boolean::New(Env(), quiet_)); }
    void OnError(const Napi::Error& error) override { result_.Reject(error.Value()); }

 private:
    SharedPool pool_;
    bool quiet_ = false;
    Napi::Promise::Deferred result_;
};

class PoolObject : public Napi::ObjectWrap<PoolObject> {
 public:
    static Napi::Function define(Napi::Env env) {
        return DefineClass(
            env, "Pool",
            {InstanceMethod<&PoolObject::configure>("configure"), InstanceMethod<&PoolObject::stats>("stats"),
             InstanceMethod<&PoolObject::park>("park"), InstanceMethod<&PoolObject::quiesce>("quiesce"),
             InstanceMethod<&PoolObject::self_test>("selfTest"), InstanceMethod<&PoolObject::destroy>("destroy")});
    }

    explicit PoolObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
        PoolRequest request;
        if (info.Length() > 0 && info[0].IsObject()) {
            const auto options = info[0].As<Napi::Object>();
            if (!read_count(options, "threads", 1'024, request.threads)) return;
            if (!read_spin(options, request.spin_ns) || !read_affinity(options, request.affinity)) return;
        }
        const PoolOptions plan = plan_pool(request, read_topology(this_machine()));
        pool_ = SharedPool(ExpertPool::create(plan).release(), ExpertPool::Destroy());
    }

 private:
    Napi::Value configure(const Napi::CallbackInfo& info) {
        if (!alive(info)) return info.Env().Undefined();
        std::uint64_t spin_ns = pool_->stats().spin_ns;
        if (info.Length() == 0 || !info[0].IsObject()) return info.Env().Undefined();
        if (read_spin(info[0].As<Napi::Object>(), spin_ns)) pool_->set_spin_ns(spin_ns);
        return info.Env().Undefined();
    }
    Napi::Value park(const Napi::CallbackInfo& info) {
        if (alive(info)) pool_->park();
        return info.Env().Undefined();
    }
    Napi::Value quiesce(const Napi::CallbackInfo& info) {
        if (!alive(info)) return info.Env().Undefined();
        auto* work = new QuiesceWork(info.Env(), pool_);  // deletes itself when done
        work->Queue();
        return work->promise();
    }
    Napi::Value self_test(const Napi::CallbackInfo& info) {
        if (!alive(info)) return info.Env().Undefined();
        SelfTest test;
        if (info.Length() > 0 && info[0].IsObject()) {
            const auto options = info[0].As<Napi::Object>();
            if (!read_count(options, "runs", 1e9, test.runs)) return info.Env().Undefined();
            if (!read_count(options, "chunks", kMaxChunksPerEpoch, test.chunks)) return info.Env().Undefined();
            if (!read_count(options, "chunkMicroseconds", 1e6, test.chunk_microseconds)) return info.Env().Undefined();
        }
        auto* work = new SelfTestWork(info.Env(), pool_, stop_, test);  // deletes itself when done
        work->Queue();
        return work->promise();
    }
    /// Joins the threads, unless a self-test still runs on them; then its end does.
    Napi::Value destroy(const Napi::CallbackInfo& info) {
        stop_->store(true);
        pool_.reset();
        return info.Env().Undefined();
    }
    Napi::Value stats(const Napi::CallbackInfo& info);

    bool alive(const Napi::CallbackInfo& info) const {
        if (pool_) return true;
        Napi::Error::New(info.Env(), "this pool was destroyed").ThrowAsJavaScriptException();
        return false;
    }

    SharedPool pool_;
    const StopFlag stop_ = std::make_shared<std::atomic<bool>>(false);
};

Napi::Value PoolObject::stats(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (!alive(info)) return env.Undefined();
    return pool_object(env, pool_->stats());
}

Napi::Value topology(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const Topology machine = read_topology(this_machine());
    std::uint32_t performance = 0;
    for (const Core& core : machine.cores) performance += core.performance ? 1 : 0;
    Napi::Object answer = Napi::Object::New(env);
    answer.Set("logicalCores", number(env, machine.allowed_cpus.size()));
    answer.Set("physicalCores", number(env, machine.cores.size()));
    answer.Set("performanceCores", number(env, performance));
    answer.Set("quotaCores", machine.quota ? Napi::Number::New(env, *machine.quota) : env.Null());
    answer.Set("autoThreads", number(env, auto_threads(machine, false)));
    return answer;
}

// The pool by itself (`Pool`), for tests and benches, and the pool inside llama.cpp (ggml/bindings.h).
Napi::Object initialize(Napi::Env env, Napi::Object exports) {
    exports.Set("Pool", PoolObject::define(env));
    exports.Set("topology", Napi::Function::New(env, topology, "topology"));
    exports.Set("llamaRelease", DORMOUSE_LLAMA_RELEASE);
    register_ggml(env, exports);
    return exports;
}

}  // namespace

NODE_API_MODULE(dormouse, initialize)
