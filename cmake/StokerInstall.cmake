# The rules of `cmake --install`, and the package file for find_package(stoker).
function(stoker_install)
  include(GNUInstallDirs)
  include(CMakePackageConfigHelpers)
  get_property(rooms GLOBAL PROPERTY STOKER_ROOMS)
  set(config "${CMAKE_INSTALL_LIBDIR}/cmake/stoker")

  install(TARGETS stoker ${rooms} EXPORT stoker
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(DIRECTORY "${STOKER_ROOT}/src/stoker" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.def" PATTERN "torch.h")
  install(EXPORT stoker NAMESPACE stoker:: FILE stokerTargets.cmake DESTINATION "${config}")
  if(TARGET stoker_cli)
    install(TARGETS stoker_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()

  configure_package_config_file("${STOKER_ROOT}/cmake/stokerConfig.cmake.in"
    "${CMAKE_CURRENT_BINARY_DIR}/stokerConfig.cmake" INSTALL_DESTINATION "${config}")
  write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/stokerConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES
    "${CMAKE_CURRENT_BINARY_DIR}/stokerConfig.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/stokerConfigVersion.cmake"
    "${STOKER_ROOT}/cmake/FindISAL.cmake"
    "${STOKER_ROOT}/cmake/FindSPNG.cmake"
    "${STOKER_ROOT}/cmake/FindWebP.cmake"
    "${STOKER_ROOT}/cmake/FindZSTD.cmake"
    DESTINATION "${config}")
endfunction()
