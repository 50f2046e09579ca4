#include "gpu-devices.h"

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "test-case.h"

using namespace dormouse;

namespace {

// A graphics device as far as the wrapper looks at one.
struct FakeDevice {
    std::string name;
    enum ggml_backend_dev_type type;
    ggml_backend_device device{};
    ggml_backend_buffer_type memory{};
    ggml_backend_buffer_type host_memory{};
    int asked = 0;

    static FakeDevice& of(ggml_backend_dev_t device) { return *static_cast<FakeDevice*>(device->context); }

    explicit FakeDevice(std::string given, enum ggml_backend_dev_type type = GGML_BACKEND_DEVICE_TYPE_GPU, bool host = true)
        : name(std::move(given)), type(type) {
        device.context = this;
        device.iface.get_name = [](ggml_backend_dev_t self) { return of(self).name.c_str(); };
        device.iface.get_description = device.iface.get_name;
        device.iface.get_type = [](ggml_backend_dev_t self) { return of(self).type; };
        device.iface.get_memory = [](ggml_backend_dev_t, std::size_t* free, std::size_t* total) {
            *free = 3;
            *total = 5;
        };
        device.iface.get_buffer_type = [](ggml_backend_dev_t self) { return &of(self).memory; };
        if (host) device.iface.get_host_buffer_type = [](ggml_backend_dev_t self) { return &of(self).host_memory; };
        device.iface.supports_op = [](ggml_backend_dev_t self, const ggml_tensor*) {
            ++of(self).asked;
            return true;
        };
    }
    bool supports(const ggml_tensor& op) { return device.iface.supports_op(&device, &op); }
};

std::size_t bytes_of(const ggml_tensor*) { return 10; }

/// An operation on a weight, as the loader or the scheduler asks for it.
struct Question {
    ggml_backend_buffer buffer{};
    ggml_tensor weight{};
    ggml_tensor op{};

    Question(const std::string& name, ggml_backend_buffer_type_t memory, std::size_t size, ggml_op kind = GGML_OP_MUL_MAT_ID) {
        buffer.buft = memory;
        buffer.size = size;
        weight.buffer = &buffer;
        std::snprintf(weight.name, sizeof weight.name, "%s", name.c_str());
        op.op = kind;
        op.src[kind == GGML_OP_ADD_ID ? 1 : 0] = &weight;
    }
};

bool loads(FakeDevice& gpu, const std::string& name, ggml_op kind = GGML_OP_MUL_MAT_ID) {
    return gpu.supports(Question(name, &gpu.memory, 0, kind).op);
}

}  // namespace

TEST("gpu: names of expert tensors", "biases, scales or chunked experts of a layer go to the GPU, or a norm stays in RAM") {
    for (const char* name : {"blk.7.ffn_up_exps.weight", "blk.7.ffn_down_exps.bias", "blk.7.ffn_gate_exps.scale",
                             "blk.7.ffn_gate_up_exps.weight", "blk.7.ffn_up_chexps.weight"})
        CHECK_EQUAL(expert_layer(name).value_or(99), 7u);
    CHECK_EQUAL(expert_layer("blk.1234.ffn_up_exps.weight").value_or(99), 1234u);
    for (const char* name : {"blk.7.ffn_up.weight", "blk.7.ffn_up_shexp.weight", "blk.7.ffn_gate_inp.weight",
                             "blk..ffn_up_exps.weight", "ffn_up_exps.weight", "blk.7.ffn_norm_exps.weight", "",
                             "blk.99999999999999.ffn_up_exps.weight"})
        CHECK(!expert_layer(name));
}

TEST("gpu: a load keeps the planned experts in RAM", "the planned layers are not kept out of graphics memory, or others are") {
    FakeDevice gpu("GPU0");
    auto& devices = *new GpuDevices({&gpu.device}, bytes_of);
    CHECK(devices.plan(2, std::nullopt));
    CHECK(!loads(gpu, "blk.0.ffn_up_exps.weight"));
    CHECK(!loads(gpu, "blk.1.ffn_down_exps.bias", GGML_OP_ADD_ID));
    CHECK(!loads(gpu, "blk.1.ffn_down_exps.bias", GGML_OP_ADD_ID));
    CHECK(loads(gpu, "blk.2.ffn_up_exps.weight"));
    CHECK(loads(gpu, "blk.0.attn_q.weight", GGML_OP_MUL_MAT));
    CHECK(loads(gpu, "blk.0.ffn_up_exps.weight", GGML_OP_MUL_MAT));
    const KeptExperts kept = devices.kept();
    CHECK_EQUAL(kept.tensors, 2u);
    CHECK_EQUAL(kept.layers, 2u);
    CHECK_EQUAL(kept.bytes, 20u);
    CHECK(devices.plan(0, std::nullopt));
    CHECK(loads(gpu, "blk.0.ffn_up_exps.weight"));
    CHECK_EQUAL(devices.kept().tensors, 0u);
}

TEST("gpu: tensors in use are left alone during a load", "a load takes another context's experts, or op offload, off the GPU") {
    FakeDevice gpu("GPU0");
    auto& devices = *new GpuDevices({&gpu.device}, bytes_of);
    CHECK(devices.plan(100, std::nullopt));
    // Another model's experts in graphics memory, and experts in RAM that a long prefill is offloaded from.
    CHECK(gpu.supports(Question("blk.0.ffn_up_exps.weight", &gpu.memory, 4096).op));
    ggml_backend_buffer_type ram{};
    CHECK(gpu.supports(Question("blk.0.ffn_up_exps.weight", &ram, 4096).op));
    // The loader asks whether the host's pinned memory would do: that is no graphics memory.
    CHECK(gpu.supports(Question("blk.0.ffn_up_exps.weight", &gpu.host_memory, 0).op));
    ggml_tensor bare{};
    bare.op = GGML_OP_MUL_MAT_ID;
    CHECK(gpu.supports(bare));
    CHECK_EQUAL(devices.kept().tensors, 0u);
}

TEST("gpu: a device that shares memory is left alone", "experts are moved from a laptop's shared memory to the same memory") {
    FakeDevice shared("GPU0", GGML_BACKEND_DEVICE_TYPE_IGPU);
    FakeDevice own("GPU1", GGML_BACKEND_DEVICE_TYPE_IGPU, false);
    FakeDevice cpu("CPU", GGML_BACKEND_DEVICE_TYPE_CPU);
    const auto untouched = cpu.device.iface.supports_op;
    auto& devices = *new GpuDevices({&shared.device, &own.device, &cpu.device}, bytes_of);
    CHECK(devices.plan(100, std::nullopt));
    CHECK(loads(shared, "blk.0.ffn_up_exps.weight"));
    CHECK(!loads(own, "blk.0.ffn_up_exps.weight"));
    CHECK(cpu.device.iface.supports_op == untouched);
    CHECK_EQUAL(devices.facts().size(), 2u);
    CHECK(devices.facts()[0].shares_memory);
    CHECK(devices.facts()[0].integrated);
    CHECK_EQUAL(devices.facts()[0].free_bytes, 3u);
}

TEST("gpu: one device of several", "a model is spread over cards that were not chosen") {
    FakeDevice first("GPU0");
    FakeDevice second("GPU1", GGML_BACKEND_DEVICE_TYPE_IGPU);
    auto& devices = *new GpuDevices({&first.device, &second.device}, bytes_of);
    const auto type = [](FakeDevice& gpu) { return static_cast<int>(gpu.device.iface.get_type(&gpu.device)); };
    CHECK(devices.plan(0, "GPU1"));
    CHECK_EQUAL(type(first), static_cast<int>(GGML_BACKEND_DEVICE_TYPE_IGPU));
    CHECK_EQUAL(type(second), static_cast<int>(GGML_BACKEND_DEVICE_TYPE_GPU));
    CHECK(!devices.facts()[0].used);
    CHECK(!devices.facts()[0].integrated);
    CHECK(devices.facts()[1].integrated);
    CHECK(!devices.plan(0, "GPU2"));
    CHECK(devices.facts()[1].used);
    CHECK(devices.plan(0, std::nullopt));
    CHECK_EQUAL(type(first), static_cast<int>(GGML_BACKEND_DEVICE_TYPE_GPU));
    CHECK_EQUAL(type(second), static_cast<int>(GGML_BACKEND_DEVICE_TYPE_IGPU));
}

TEST("gpu: uninstall restores the tables", "ggml's table keeps our functions, or a caller in between crashes") {
    FakeDevice gpu("GPU0");
    const auto supports_op = gpu.device.iface.supports_op;
    const auto get_type = gpu.device.iface.get_type;
    auto& devices = *new GpuDevices({&gpu.device}, bytes_of);
    CHECK(gpu.device.iface.supports_op == supports_op);
    CHECK(devices.plan(9, "GPU0"));
    const auto ours = gpu.device.iface.supports_op;
    CHECK(ours != supports_op);
    devices.uninstall();
    CHECK(gpu.device.iface.supports_op == supports_op);
    CHECK(gpu.device.iface.get_type == get_type);
    const Question question("blk.0.ffn_up_exps.weight", &gpu.memory, 0);
    CHECK(ours(&gpu.device, &question.op));
    CHECK(devices.plan(9, std::nullopt));
    CHECK(!loads(gpu, "blk.0.ffn_up_exps.weight"));
}

TEST("gpu: plans change while other threads ask", "a plan that changes while other threads ask is a data race") {
    FakeDevice gpu("GPU0");
    auto& devices = *new GpuDevices({&gpu.device}, bytes_of);
    std::atomic<bool> stop{false};
    std::atomic<int> asked{0};
    // The device's own function counts without a lock: this one asks only what the wrapper answers by itself.
    std::vector<std::thread> threads;
    CHECK(devices.plan(1, std::nullopt));
    for (int index = 0; index < 2; ++index)
        threads.emplace_back([&] {
            while (!stop.load()) {
                const auto ask = std::atomic_ref(gpu.device.iface.supports_op).load(std::memory_order_acquire);
                const Question question("blk.0.ffn_up_exps.weight", &gpu.memory, 0);
                if (!ask(&gpu.device, &question.op)) ++asked;
            }
        });
    for (std::uint32_t round = 0; round < 200; ++round) CHECK(devices.plan(1 + round % 2, std::nullopt));
    eventually("both threads asked", [&] { return asked.load() > 100; });
    stop.store(true);
    for (auto& thread : threads) thread.join();
    CHECK(devices.kept().tensors <= 1);
}
