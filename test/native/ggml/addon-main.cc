#include <napi.h>

#include "bindings.h"

namespace {

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
    dormouse::register_ggml(env, exports);
    return exports;
}

}  // namespace

NODE_API_MODULE(test_ggml, initialize)
