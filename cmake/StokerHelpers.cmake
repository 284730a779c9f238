# The helpers of CMakeLists.txt: stoker_room(), stoker_test(), stoker_bench()
# and what goes with them. A folder that is missing or empty makes no target.

set(STOKER_ROOT "${CMAKE_CURRENT_LIST_DIR}/..")
cmake_path(NORMAL_PATH STOKER_ROOT)
string(REGEX REPLACE "/$" "" STOKER_ROOT "${STOKER_ROOT}")

# Directory-wide settings. Only those that change results reach the users of
# add_subdirectory(); warnings and tools are for work on Stoker itself.
macro(stoker_settings)
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # the Python module links the same libraries
  if(PROJECT_IS_TOP_LEVEL)
    if(NOT CMAKE_BUILD_TYPE)
      set(CMAKE_BUILD_TYPE Release)
    endif()
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
    set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
    find_program(CCACHE_PROGRAM ccache)
    if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
      # Relative paths, so that another clone of the tree finds the same objects.
      set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${STOKER_ROOT} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
    endif()
  endif()
  # The same bits on every machine: no fused multiply-add behind our back.
  add_compile_options(-ffp-contract=off)
  if(STOKER_STRICT)
    # Designated initialisers leave fields out on purpose.
    add_compile_options(-Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
    # With the compilers that CI builds with; others may warn of more, and of what is fine.
    if("${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" MATCHES "^(GNU 12|Clang 19)\\.")
      add_compile_options(-Werror)
    endif()
    # GCC 12 sees overlapping copies in plain string concatenation (its bug 105651).
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      add_compile_options(-Wthread-safety -Wno-missing-designated-field-initializers)
    endif()
  endif()
endmacro()

# stoker_room(<name> [ROOMS <room>...] [NEEDS <target>...] [SOURCES <file>...])
#
# The library stoker_<name>, alias stoker::<name>, of src/stoker/<name>: every
# .h is promised, every .cc compiled. NEEDS are private; one that was not found
# is left out, one that was found defines STOKER_HAVE_<package> (ISAL::ISAL:
# STOKER_HAVE_ISAL) in the room's sources.
function(stoker_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ROOMS;NEEDS;SOURCES")
  set(folder "${STOKER_ROOT}/src/stoker/${name}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cc")
  file(GLOB headers CONFIGURE_DEPENDS "${folder}/*.h")
  list(APPEND sources ${arg_SOURCES})
  if(NOT sources AND NOT headers)
    return()
  endif()

  set(target stoker_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    foreach(need IN LISTS arg_NEEDS)
      if(NOT TARGET ${need})
        continue()
      endif()
      string(REGEX REPLACE "::.*" "" package ${need})
      string(TOUPPER "STOKER_HAVE_${package}" have)
      target_compile_definitions(${target} PRIVATE ${have})
      if(package STREQUAL "nlohmann_json")  # headers alone: no business of who links us
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${need}>)
      else()
        target_link_libraries(${target} PRIVATE ${need})
      endif()
    endforeach()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(stoker::${name} ALIAS ${target})

  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope} "$<BUILD_INTERFACE:${STOKER_ROOT}/src>")
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${STOKER_ROOT}/src" FILES ${headers})
  foreach(room IN LISTS arg_ROOMS)
    if(TARGET stoker_${room})
      target_link_libraries(${target} ${scope} stoker_${room})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME ${target})
  set_property(GLOBAL APPEND PROPERTY STOKER_ROOMS ${target})
endfunction()

# stoker::stoker, all rooms joined, with the headers directly in src/stoker.
function(stoker_join)
  get_property(rooms GLOBAL PROPERTY STOKER_ROOMS)
  file(GLOB headers CONFIGURE_DEPENDS "${STOKER_ROOT}/src/stoker/*.h")
  list(FILTER headers EXCLUDE REGEX "/torch\\.h$")  # needs LibTorch, so nothing here compiles it
  add_library(stoker INTERFACE)
  add_library(stoker::stoker ALIAS stoker)
  target_compile_features(stoker INTERFACE cxx_std_20)
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated/include")
  target_include_directories(stoker INTERFACE
    "$<BUILD_INTERFACE:${STOKER_ROOT}/src>" "$<BUILD_INTERFACE:${generated}>")
  target_sources(stoker INTERFACE FILE_SET HEADERS BASE_DIRS "${STOKER_ROOT}/src" "${generated}"
    FILES ${headers} "${generated}/stoker/all_stages.h")
  target_link_libraries(stoker INTERFACE ${rooms})
endfunction()

# The command, bin/stoker, of cli/*.cc.
function(stoker_command)
  file(GLOB sources CONFIGURE_DEPENDS "${STOKER_ROOT}/cli/*.cc")
  if(NOT sources)
    return()
  endif()
  find_package(CLI11 REQUIRED)
  add_executable(stoker_cli ${sources})
  set_target_properties(stoker_cli PROPERTIES OUTPUT_NAME stoker)
  target_include_directories(stoker_cli PRIVATE "${STOKER_ROOT}")
  target_compile_definitions(stoker_cli PRIVATE STOKER_VERSION="${PROJECT_VERSION}")
  target_link_libraries(stoker_cli PRIVATE stoker::stoker CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json)
endfunction()

# What tests share: #include "support/numbers.h" from tests/support.
function(stoker_test_support)
  file(GLOB sources CONFIGURE_DEPENDS "${STOKER_ROOT}/tests/support/*.cc")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  if(sources)
    add_library(stoker_support STATIC ${sources})
    # For a fixture() in them; not for every test, whose objects other clones share.
    target_compile_definitions(stoker_support PRIVATE STOKER_FIXTURES="${STOKER_ROOT}/tests/fixtures")
    set(scope PUBLIC)
  else()
    add_library(stoker_support INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(stoker_support ${scope} "${STOKER_ROOT}/tests")
  target_link_libraries(stoker_support ${scope} stoker::stoker GTest::gtest fmt::fmt nlohmann_json::nlohmann_json)
endfunction()

# stoker_test(<program> FOLDERS <folder of tests/>...): all their *_test.cc.
function(stoker_test program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS")
  set(sources)
  foreach(folder IN LISTS arg_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS "${STOKER_ROOT}/tests/${folder}/*_test.cc")
    list(APPEND sources ${found})
  endforeach()
  if(NOT sources)
    return()
  endif()
  set(STOKER_TEST_TIMEOUT 120 CACHE STRING "Seconds a test may take")
  add_executable(${program} ${sources})
  target_link_libraries(${program} PRIVATE stoker_support GTest::gtest_main)
  include(GoogleTest)
  string(REGEX REPLACE "_tests$" "" prefix ${program})
  gtest_discover_tests(${program}
    TEST_PREFIX ${prefix}.
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${STOKER_TEST_TIMEOUT})
endfunction()

# Scripts *_test.py and *_test.sh of the folders of tests/. They find the
# command in $STOKER, and those in tests/cli are left out without it.
function(stoker_script_tests)
  foreach(folder IN LISTS ARGN)
    if(folder STREQUAL "cli" AND NOT TARGET stoker_cli)
      continue()
    endif()
    file(GLOB scripts CONFIGURE_DEPENDS
      "${STOKER_ROOT}/tests/${folder}/*_test.py" "${STOKER_ROOT}/tests/${folder}/*_test.sh")
    foreach(script IN LISTS scripts)
      cmake_path(GET script STEM stem)
      if(script MATCHES "\\.py$")
        set(run "${Python3_EXECUTABLE}" -B)
      else()
        set(run bash)
      endif()
      add_test(NAME ${folder}.${stem} COMMAND ${run} "${script}" WORKING_DIRECTORY "${STOKER_ROOT}")
      set_tests_properties(${folder}.${stem} PROPERTIES TIMEOUT 900)
      if(TARGET stoker_cli)
        set_tests_properties(${folder}.${stem} PROPERTIES ENVIRONMENT "STOKER=$<TARGET_FILE:stoker_cli>")
      endif()
    endforeach()
  endforeach()
endfunction()

# One program for each source in a folder: targets <prefix>_<file>, in bin/<out>.
function(stoker_programs folder prefix out)
  file(GLOB sources CONFIGURE_DEPENDS "${STOKER_ROOT}/${folder}/*.cc")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    set(target ${prefix}_${stem})
    add_executable(${target} "${source}")
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${stem} RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/${out}")
    target_include_directories(${target} PRIVATE "${STOKER_ROOT}")
    target_link_libraries(${target} PRIVATE stoker::stoker ${ARGN})
  endforeach()
endfunction()

# One program for each source of bench/kernels, in bin/bench; all of
# bench/pipelines in one, bin/stoker-bench.
function(stoker_bench)
  stoker_programs(bench/kernels stoker_bench bench benchmark::benchmark fmt::fmt)
  file(GLOB sources CONFIGURE_DEPENDS "${STOKER_ROOT}/bench/pipelines/*.cc")
  add_executable(stoker_bench ${sources})
  set_target_properties(stoker_bench PROPERTIES OUTPUT_NAME stoker-bench)
  target_include_directories(stoker_bench PRIVATE "${STOKER_ROOT}")
  target_link_libraries(stoker_bench PRIVATE stoker::stoker fmt::fmt nlohmann_json::nlohmann_json JPEG::JPEG)
endfunction()

# The extension module stoker._core of python/binding; nanobind is a Python package
# and says itself where its CMake files lie.
function(stoker_python)
  find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "STOKER_PYTHON needs nanobind: ${Python_EXECUTABLE} -m pip install nanobind")
  endif()
  find_package(nanobind CONFIG REQUIRED)
  file(GLOB sources CONFIGURE_DEPENDS "${STOKER_ROOT}/python/binding/*.cc")
  nanobind_add_module(_core NB_STATIC ${sources})
  target_include_directories(_core PRIVATE "${STOKER_ROOT}")
  target_link_libraries(_core PRIVATE stoker::stoker)
  install(TARGETS _core LIBRARY DESTINATION stoker COMPONENT python)
endfunction()

# What the demo shows and needs no LibTorch for, and its test.
function(stoker_demo)
  set(folder "${STOKER_ROOT}/examples/fashion_mnist")
  add_library(stoker_stalls STATIC "${folder}/pictures.cc" "${folder}/stalls.cc")
  target_include_directories(stoker_stalls PUBLIC "${STOKER_ROOT}")
  target_link_libraries(stoker_stalls PUBLIC stoker::stoker)
  if(STOKER_TESTS)
    stoker_test(examples_tests FOLDERS examples)
    target_link_libraries(examples_tests PRIVATE stoker_stalls)
  endif()
endfunction()

# What includes stoker/torch.h: its test, and examples/fashion_mnist with its
# programs bin/examples/fashion_mnist_<name>. Left out without LibTorch, and with
# clang, which does not compile LibTorch 1.13; a test that is skipped says so.
function(stoker_torch)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    stoker_torch_left_out("LibTorch wants g++, this is ${CMAKE_CXX_COMPILER_ID}")
    return()
  endif()
  find_package(LibTorch QUIET)
  if(NOT LibTorch_FOUND)
    stoker_torch_left_out("LibTorch was not found: apt-get install libtorch-dev")
    return()
  endif()
  if(STOKER_TESTS)
    stoker_test(torch_tests FOLDERS torch)
    target_link_libraries(torch_tests PRIVATE LibTorch::LibTorch)
  endif()
  if(STOKER_EXAMPLES)
    set(folder "${STOKER_ROOT}/examples/fashion_mnist")
    add_library(stoker_fashion_mnist STATIC "${folder}/network.cc")
    target_link_libraries(stoker_fashion_mnist PUBLIC stoker_stalls fmt::fmt PRIVATE LibTorch::LibTorch)
    foreach(program IN ITEMS train scenarios)
      add_executable(fashion_mnist_${program} "${folder}/${program}.cc")
      set_target_properties(fashion_mnist_${program} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/examples")
      target_link_libraries(fashion_mnist_${program} PRIVATE stoker_fashion_mnist)
    endforeach()
  endif()
endfunction()

function(stoker_torch_left_out reason)
  message(STATUS "stoker/torch.h is not tested: ${reason}")
  if(STOKER_TESTS)
    add_test(NAME "torch (${reason})" COMMAND "${CMAKE_COMMAND}" -E echo "skipped")
    set_tests_properties("torch (${reason})" PROPERTIES SKIP_REGULAR_EXPRESSION "skipped")
  endif()
endfunction()

# One libFuzzer program for each tests/fuzz/*_fuzz.cc, in bin/fuzz.
function(stoker_fuzzers)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "STOKER_FUZZ needs clang, this is ${CMAKE_CXX_COMPILER_ID}; use the preset asan")
  endif()
  stoker_programs(tests/fuzz stoker_fuzz fuzz -fsanitize=fuzzer)
endfunction()
