# The kernels and the middleware. GGML_INCLUDES, LLAMA_RELEASE and GGML_VERSION come from ggml-headers.cmake.

add_library(dormouse_kernels STATIC kernels/dot-rows.cc)
target_include_directories(dormouse_kernels PUBLIC kernels)
target_link_libraries(dormouse_kernels PUBLIC dormouse_options)

add_library(dormouse_ggml STATIC
  ggml/activation.cc ggml/binding.cc ggml/evaluator.cc ggml/evaluator-pool.cc ggml/expert-groups.cc ggml/ggml-threads.cc
  ggml/gpu-devices.cc ggml/middleware.cc ggml/modules.cc ggml/phases.cc ggml/plan.cc ggml/recognise.cc ggml/tables.cc)
target_include_directories(dormouse_ggml PUBLIC ggml)
target_include_directories(dormouse_ggml SYSTEM PUBLIC ${GGML_INCLUDES})
target_link_libraries(dormouse_ggml PUBLIC dormouse_pool dormouse_kernels ${CMAKE_DL_LIBS})
target_compile_definitions(dormouse_ggml PUBLIC
  DORMOUSE_LLAMA_RELEASE="${LLAMA_RELEASE}" DORMOUSE_GGML_VERSION="${GGML_VERSION}")
if(NOT MSVC)
  # Scale and bias round one after the other, as in ggml: no multiply-add may join them.
  target_compile_options(dormouse_ggml PRIVATE -ffp-contract=off)
endif()
