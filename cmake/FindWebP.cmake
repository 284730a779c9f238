# Finds libwebp and libwebpdemux, which have no CMake files of their own on Debian.
# Defines WebP::WebP.
find_path(WEBP_INCLUDE_DIR webp/demux.h)
find_library(WEBP_LIBRARY webp)
find_library(WEBPDEMUX_LIBRARY webpdemux)
mark_as_advanced(WEBP_INCLUDE_DIR WEBP_LIBRARY WEBPDEMUX_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(WebP REQUIRED_VARS WEBPDEMUX_LIBRARY WEBP_LIBRARY WEBP_INCLUDE_DIR)

if(WebP_FOUND AND NOT TARGET WebP::WebP)
  add_library(WebP::WebP UNKNOWN IMPORTED)
  set_target_properties(WebP::WebP PROPERTIES
    IMPORTED_LOCATION "${WEBPDEMUX_LIBRARY}"
    INTERFACE_LINK_LIBRARIES "${WEBP_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${WEBP_INCLUDE_DIR}")
endif()
