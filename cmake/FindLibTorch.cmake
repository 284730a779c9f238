# Finds LibTorch for a program on the CPU. Defines LibTorch::LibTorch. LibTorch's own
# CMake file requires CUDA if LibTorch was installed by pip; a program on the CPU
# needs only the headers and two libraries. If the system has no package, ./demo
# installs pip's LibTorch into build/libtorch-env.
file(GLOB LibTorch_from_pip "${CMAKE_CURRENT_LIST_DIR}/../build/libtorch-env/lib/python3*/site-packages/torch")
find_path(LibTorch_INCLUDE_DIR ATen/ATen.h HINTS ${LibTorch_from_pip} PATH_SUFFIXES include)
find_library(LibTorch_LIBRARY torch_cpu HINTS ${LibTorch_from_pip} PATH_SUFFIXES lib)
find_library(LibTorch_C10_LIBRARY c10 HINTS ${LibTorch_from_pip} PATH_SUFFIXES lib)
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_LIBRARY LibTorch_C10_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR)

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch UNKNOWN IMPORTED)
  set_target_properties(LibTorch::LibTorch PROPERTIES
    IMPORTED_LOCATION "${LibTorch_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIR};${LibTorch_INCLUDE_DIR}/torch/csrc/api/include"
    # pip's libraries refer to CUDA libraries, some of which are missing on a machine without CUDA.
    INTERFACE_LINK_LIBRARIES "${LibTorch_C10_LIBRARY};-Wl,--allow-shlib-undefined")
endif()
