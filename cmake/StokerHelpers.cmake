# The helper functions of CMakeLists.txt: stoker_room(), stoker_test(),
# stoker_bench() and others. A folder that is missing or empty defines no target.

set(STOKER_ROOT "${CMAKE_CURRENT_LIST_DIR}/..")
cmake_path(NORMAL_PATH STOKER_ROOT)
string(REGEX REPLACE "/$" "" STOKER_ROOT "${STOKER_ROOT}")

# Directory-wide settings. Only settings that change results apply to users of
# add_subdirectory(); warnings and tools apply to the development of Stoker.
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
  # The same bits on every machine: the compiler must not fuse multiplications and additions.
  add_compile_options(-ffp-contract=off)
endmacro()

# Compiles a target with warnings. They are errors with the compilers of CI; other compilers may warn about correct
# code. The sources of the Python package are compiled without warnings, because nanobind's headers cause some.
function(stoker_warn target)
  if(NOT STOKER_STRICT)
    return()
  endif()
  # Designated initializers omit fields on purpose.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
  if("${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" MATCHES "^(GNU 12|Clang 19)\\.")
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  # GCC 12 reports overlapping copies in string concatenations (GCC bug 105651).
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE -Wthread-safety -Wno-missing-designated-field-initializers)
  endif()
endfunction()

# Optimizes tests less than what they test: this compiles them in two thirds of the time.
function(stoker_compile_fast target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# stoker_room(<name> [ROOMS <room>...] [NEEDS <target>...] [SOURCES <file>...])
#
# Defines the library stoker_<name>, alias stoker::<name>, of the module
# src/stoker/<name>: every .h is public, every .cc is compiled. NEEDS are private. A
# package that was not found is not linked; one that was found defines
# STOKER_HAVE_<package> (ISAL::ISAL: STOKER_HAVE_ISAL) in the module's sources.
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
    stoker_warn(${target})
    set(scope PUBLIC)
    foreach(need IN LISTS arg_NEEDS)
      if(NOT TARGET ${need})
        continue()
      endif()
      string(REGEX REPLACE "::.*" "" package ${need})
      string(TOUPPER "STOKER_HAVE_${package}" have)
      target_compile_definitions(${target} PRIVATE ${have})
      if(package STREQUAL "nlohmann_json")  # only headers: programs that link Stoker do not need it
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

# Defines stoker::stoker: all modules, and the headers directly in src/stoker.
function(stoker_join)
  get_property(rooms GLOBAL PROPERTY STOKER_ROOMS)
  file(GLOB headers CONFIGURE_DEPENDS "${STOKER_ROOT}/src/stoker/*.h")
  list(FILTER headers EXCLUDE REGEX "/torch\\.h$")  # requires LibTorch, so no target here compiles it
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

# Defines the command, bin/stoker, from cli/*.cc.
function(stoker_command)
  file(GLOB sources CONFIGURE_DEPENDS "${STOKER_ROOT}/cli/*.cc")
  if(NOT sources)
    return()
  endif()
  find_package(CLI11 REQUIRED)
  add_executable(stoker_cli ${sources})
  stoker_warn(stoker_cli)
  set_target_properties(stoker_cli PROPERTIES OUTPUT_NAME stoker)
  target_include_directories(stoker_cli PRIVATE "${STOKER_ROOT}")
  target_compile_definitions(stoker_cli PRIVATE STOKER_VERSION="${PROJECT_VERSION}")
  target_link_libraries(stoker_cli PRIVATE stoker::stoker CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json)
endfunction()

# Defines the library of the tests, from tests/support: #include "support/support.h".
function(stoker_test_support)
  file(GLOB sources CONFIGURE_DEPENDS "${STOKER_ROOT}/tests/support/*.cc")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  if(sources)
    add_library(stoker_support STATIC ${sources})
    stoker_warn(stoker_support)
    stoker_compile_fast(stoker_support)
    # Only for fixture(), not for every test: compiled tests are shared with other clones of the tree.
    target_compile_definitions(stoker_support PRIVATE STOKER_FIXTURES="${STOKER_ROOT}/tests/fixtures")
    set(scope PUBLIC)
  else()
    add_library(stoker_support INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(stoker_support ${scope} "${STOKER_ROOT}/tests")
  target_link_libraries(stoker_support ${scope} stoker::stoker GTest::gtest fmt::fmt nlohmann_json::nlohmann_json)
endfunction()

# stoker_test(<program> FOLDERS <folder of tests/>... [LINKS <target>...])
#
# Defines a test program from all *_test.cc of the folders. ctest runs each test in a
# process of its own or, with STOKER_TEST_SHARDS, all of them in that many processes:
# starting a process takes longer than most tests.
#
# STOKER_ONLY_TESTS (a regular expression, such as "stride|invert") limits the programs to the laws and to the test
# files with these names: a new stage then compiles in a fraction of the time.
function(stoker_test program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;LINKS")
  set(sources)
  foreach(folder IN LISTS arg_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS "${STOKER_ROOT}/tests/${folder}/*_test.cc")
    if(STOKER_ONLY_TESTS AND NOT folder STREQUAL "laws")
      list(FILTER found INCLUDE REGEX "/(${STOKER_ONLY_TESTS})_test\\.cc$")
    endif()
    list(APPEND sources ${found})
  endforeach()
  if(NOT sources)
    return()
  endif()
  set(STOKER_TEST_TIMEOUT 120 CACHE STRING "Seconds a test may take")
  add_executable(${program} ${sources})
  stoker_warn(${program})
  stoker_compile_fast(${program})
  target_link_libraries(${program} PRIVATE stoker_support GTest::gtest_main ${arg_LINKS})
  include(GoogleTest)
  string(REGEX REPLACE "_tests$" "" prefix ${program})
  if(STOKER_TEST_SHARDS)
    math(EXPR last "${STOKER_TEST_SHARDS} - 1")
    foreach(shard RANGE ${last})
      add_test(NAME ${prefix}.shard_${shard} COMMAND ${program} --gtest_brief=1)
      set_tests_properties(${prefix}.shard_${shard} PROPERTIES
        TIMEOUT 1200
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${STOKER_TEST_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endforeach()
    return()
  endif()
  gtest_discover_tests(${program}
    TEST_PREFIX ${prefix}.
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${STOKER_TEST_TIMEOUT})
endfunction()

# Adds the scripts *_test.py and *_test.sh of folders of tests/. $STOKER is the path
# of the command; without the command, the scripts in tests/cli are not added.
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

# Defines one program for each source in a folder: targets <prefix>_<file>, in bin/<out>.
function(stoker_programs folder prefix out)
  file(GLOB sources CONFIGURE_DEPENDS "${STOKER_ROOT}/${folder}/*.cc")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    set(target ${prefix}_${stem})
    add_executable(${target} "${source}")
    stoker_warn(${target})
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${stem} RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/${out}")
    target_include_directories(${target} PRIVATE "${STOKER_ROOT}")
    target_link_libraries(${target} PRIVATE stoker::stoker ${ARGN})
  endforeach()
endfunction()

# Defines one program for each source of bench/kernels, in bin/bench, and one program
# for all of bench/pipelines, bin/stoker-bench.
function(stoker_bench)
  stoker_programs(bench/kernels stoker_bench bench benchmark::benchmark fmt::fmt)
  file(GLOB sources CONFIGURE_DEPENDS "${STOKER_ROOT}/bench/pipelines/*.cc")
  add_executable(stoker_bench ${sources})
  stoker_warn(stoker_bench)
  set_target_properties(stoker_bench PROPERTIES OUTPUT_NAME stoker-bench)
  target_include_directories(stoker_bench PRIVATE "${STOKER_ROOT}")
  target_link_libraries(stoker_bench PRIVATE stoker::stoker fmt::fmt nlohmann_json::nlohmann_json JPEG::JPEG)
endfunction()

# Defines the extension module stoker._core from python/binding, and what a wheel contains: the module and the
# command. nanobind is a Python package that prints the path of its CMake files.
function(stoker_python)
  find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "STOKER_PYTHON requires nanobind; install it: ${Python_EXECUTABLE} -m pip install nanobind")
  endif()
  find_package(nanobind CONFIG REQUIRED)
  file(GLOB sources CONFIGURE_DEPENDS "${STOKER_ROOT}/python/binding/*.cc")
  nanobind_add_module(_core NB_STATIC ${sources})
  target_include_directories(_core PRIVATE "${STOKER_ROOT}")
  target_link_libraries(_core PRIVATE stoker::stoker)
  install(TARGETS _core LIBRARY DESTINATION stoker COMPONENT python)
  if(SKBUILD AND TARGET stoker_cli)  # pip installs it next to the interpreter
    install(TARGETS stoker_cli RUNTIME DESTINATION "${SKBUILD_SCRIPTS_DIR}" COMPONENT python)
  endif()
endfunction()

# Defines the part of the demo that does not require LibTorch, and its test.
function(stoker_demo)
  set(folder "${STOKER_ROOT}/examples/fashion_mnist")
  add_library(stoker_stalls STATIC "${folder}/images.cc" "${folder}/stalls.cc")
  stoker_warn(stoker_stalls)
  target_include_directories(stoker_stalls PUBLIC "${STOKER_ROOT}")
  target_link_libraries(stoker_stalls PUBLIC stoker::stoker)
  if(STOKER_TESTS)
    stoker_test(examples_tests FOLDERS examples LINKS stoker_stalls)
  endif()
endfunction()

# Defines the targets that include stoker/torch.h: its test, and the programs of
# examples/fashion_mnist, bin/examples/fashion_mnist_<name>. Without LibTorch, and with
# clang, which cannot compile LibTorch 1.13, it adds a skipped test that names the
# reason.
function(stoker_torch)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    stoker_torch_left_out("LibTorch requires g++, found ${CMAKE_CXX_COMPILER_ID}")
    return()
  endif()
  find_package(LibTorch QUIET)
  if(NOT LibTorch_FOUND)
    stoker_torch_left_out("LibTorch was not found: apt-get install libtorch-dev")
    return()
  endif()
  if(STOKER_TESTS)
    stoker_test(torch_tests FOLDERS torch LINKS LibTorch::LibTorch)
  endif()
  if(STOKER_EXAMPLES)
    set(folder "${STOKER_ROOT}/examples/fashion_mnist")
    add_library(stoker_fashion_mnist STATIC "${folder}/network.cc")
    stoker_warn(stoker_fashion_mnist)
    target_link_libraries(stoker_fashion_mnist PUBLIC stoker_stalls fmt::fmt PRIVATE LibTorch::LibTorch)
    foreach(program IN ITEMS train scenarios)
      add_executable(fashion_mnist_${program} "${folder}/${program}.cc")
      stoker_warn(fashion_mnist_${program})
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

# Defines one libFuzzer program for each tests/fuzz/*_fuzz.cc, in bin/fuzz.
function(stoker_fuzzers)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "STOKER_FUZZ requires clang, found ${CMAKE_CXX_COMPILER_ID}; use the preset asan")
  endif()
  stoker_programs(tests/fuzz stoker_fuzz fuzz -fsanitize=fuzzer)
endfunction()
