#pragma once

#include <napi.h>

namespace dormouse {

/// Adds `install`, `uninstall`, `configure`, `stats`, `requestStop` and `clearStop` to the addon's exports. Everything
/// that crosses is a plain copied object. See README.md of the native folder for their shapes.
void register_ggml(Napi::Env env, Napi::Object exports);

}  // namespace dormouse
