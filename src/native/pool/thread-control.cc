#include "thread-control.h"

#include <cstdio>
#include <cstring>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#include <pthread.h>
#include <pthread/qos.h>
#elif defined(_WIN32)
#include "windows-header.h"
#endif

namespace dormouse {

#if defined(__linux__)

static_assert(sizeof(cpu_set_t) == sizeof(std::uint64_t[16]), "ScopedPin keeps a cpu_set_t");

void name_worker_thread(std::uint32_t index) noexcept {
    char name[16];
    std::snprintf(name, sizeof name, "dormouse-exp-%u", index % 100);
    pthread_setname_np(pthread_self(), name);
}

bool pin_this_thread(std::uint32_t cpu) noexcept {
    if (cpu >= CPU_SETSIZE) return false;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

std::uint64_t cpu_time_ns(std::thread& thread) noexcept {
    clockid_t clock;
    timespec time;
    if (!thread.joinable() || pthread_getcpuclockid(thread.native_handle(), &clock) != 0) return 0;
    if (clock_gettime(clock, &time) != 0) return 0;
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t involuntary_switches() noexcept {
    rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_nivcsw) : 0;
}

ScopedPin::ScopedPin(std::uint32_t cpu) noexcept {
    cpu_set_t before;
    if (cpu >= CPU_SETSIZE || pthread_getaffinity_np(pthread_self(), sizeof before, &before) != 0) return;
    std::memcpy(before_, &before, sizeof before);
    pinned_ = CPU_ISSET(cpu, &before) && pin_this_thread(cpu);
}

ScopedPin::~ScopedPin() {
    if (!pinned_) return;
    cpu_set_t before;
    std::memcpy(&before, before_, sizeof before);
    pthread_setaffinity_np(pthread_self(), sizeof before, &before);
}

#elif defined(__APPLE__)

// macOS offers no pinning. The quality-of-service class keeps workers on the performance cores.
void name_worker_thread(std::uint32_t index) noexcept {
    char name[32];
    std::snprintf(name, sizeof name, "dormouse-expert-%u", index);
    pthread_setname_np(name);
    pthread_set_qos_class_self_np(QOS_CLASS_USER_INITIATED, 0);
}

bool pin_this_thread(std::uint32_t) noexcept { return false; }

std::uint64_t cpu_time_ns(std::thread& thread) noexcept {
    if (!thread.joinable()) return 0;
    thread_basic_info_data_t info;
    mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;
    const mach_port_t port = pthread_mach_thread_np(thread.native_handle());
    if (thread_info(port, THREAD_BASIC_INFO, reinterpret_cast<thread_info_t>(&info), &count) != KERN_SUCCESS) return 0;
    const auto nanoseconds = [](time_value_t time) {
        return static_cast<std::uint64_t>(time.seconds) * 1'000'000'000 +
               static_cast<std::uint64_t>(time.microseconds) * 1'000;
    };
    return nanoseconds(info.user_time) + nanoseconds(info.system_time);
}

std::uint64_t involuntary_switches() noexcept { return 0; }

ScopedPin::ScopedPin(std::uint32_t) noexcept {}
ScopedPin::~ScopedPin() = default;

#elif defined(_WIN32)

void name_worker_thread(std::uint32_t index) noexcept {
    wchar_t name[32];
    swprintf(name, 32, L"dormouse-expert-%u", index);
    SetThreadDescription(GetCurrentThread(), name);
}

// Only the first processor group (64 logical cores); beyond it threads stay where Windows puts them.
bool pin_this_thread(std::uint32_t cpu) noexcept {
    return cpu < 64 && SetThreadAffinityMask(GetCurrentThread(), DWORD_PTR{1} << cpu) != 0;
}

std::uint64_t cpu_time_ns(std::thread& thread) noexcept {
    FILETIME created, exited, kernel, user;
    if (!thread.joinable()) return 0;
#if defined(__GLIBCXX__)
    const HANDLE handle = pthread_gethandle(thread.native_handle());  // MinGW's threads are pthreads
#else
    const auto handle = static_cast<HANDLE>(thread.native_handle());
#endif
    if (!GetThreadTimes(handle, &created, &exited, &kernel, &user)) return 0;
    const auto nanoseconds = [](const FILETIME& time) {
        return ((static_cast<std::uint64_t>(time.dwHighDateTime) << 32) | time.dwLowDateTime) * 100;
    };
    return nanoseconds(kernel) + nanoseconds(user);
}

std::uint64_t involuntary_switches() noexcept { return 0; }

ScopedPin::ScopedPin(std::uint32_t cpu) noexcept {
    if (cpu >= 64) return;
    DWORD_PTR process = 0;
    DWORD_PTR system = 0;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &system)) return;
    if ((process & (DWORD_PTR{1} << cpu)) == 0) return;
    // The only way to read a thread's mask is to set another one.
    const DWORD_PTR before = SetThreadAffinityMask(GetCurrentThread(), DWORD_PTR{1} << cpu);
    if (before == 0) return;
    before_[0] = before;
    pinned_ = true;
    if ((before & (DWORD_PTR{1} << cpu)) != 0) return;
    SetThreadAffinityMask(GetCurrentThread(), before);
    pinned_ = false;
}

ScopedPin::~ScopedPin() {
    if (pinned_) SetThreadAffinityMask(GetCurrentThread(), static_cast<DWORD_PTR>(before_[0]));
}

#else

void name_worker_thread(std::uint32_t) noexcept {}
bool pin_this_thread(std::uint32_t) noexcept { return false; }
std::uint64_t cpu_time_ns(std::thread&) noexcept { return 0; }
std::uint64_t involuntary_switches() noexcept { return 0; }
ScopedPin::ScopedPin(std::uint32_t) noexcept {}
ScopedPin::~ScopedPin() = default;

#endif

}  // namespace dormouse
