# The N-API addon. Headers come from npm packages, so nothing is downloaded; symbols come from the Node that loads it.

set(NODE_API_FOLDER "${NODE_MODULES}/node-api-headers")
add_library(dormouse_addon MODULE addon.cc ggml/bindings.cc)
set_target_properties(dormouse_addon PROPERTIES PREFIX "" SUFFIX ".node" OUTPUT_NAME dormouse
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
target_include_directories(dormouse_addon SYSTEM PRIVATE
  "${NODE_MODULES}/node-addon-api" "${NODE_API_FOLDER}/include")
target_compile_definitions(dormouse_addon PRIVATE
  NAPI_VERSION=8 NODE_ADDON_API_DISABLE_CPP_EXCEPTIONS)
target_link_libraries(dormouse_addon PRIVATE dormouse_pool dormouse_ggml)

if(APPLE)
  target_link_options(dormouse_addon PRIVATE -undefined dynamic_lookup)
elseif(MSVC)
  # Windows wants an import library, and the host may be node.exe or electron.exe: hence the late binding.
  set(NODE_LIBRARY "${CMAKE_BINARY_DIR}/node-api.lib")
  execute_process(
    COMMAND "${CMAKE_AR}" "/def:${NODE_API_FOLDER}/def/node_api.def" "/out:${NODE_LIBRARY}" /machine:x64
    COMMAND_ERROR_IS_FATAL ANY)
  target_link_libraries(dormouse_addon PRIVATE "${NODE_LIBRARY}" delayimp)
  target_link_options(dormouse_addon PRIVATE /DELAYLOAD:NODE.EXE)
  target_sources(dormouse_addon PRIVATE cmake/bind-to-host.cc)
endif()
