#pragma once

// ggml's headers, of the very release that node-llama-cpp's binaries are: the layouts of graphs, tensors and function
// tables come from here. Only inline parts may be used; everything else is found at run time (binding.h).
#include "ggml.h"
#include "ggml-backend.h"
#include "ggml-backend-impl.h"
#include "ggml-cpu.h"
#include "ggml-impl.h"

#if !defined(DORMOUSE_LLAMA_RELEASE) || !defined(DORMOUSE_GGML_VERSION)
#error "CMake sets the release whose headers these are"
#endif
