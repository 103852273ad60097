# Everything here is a Debian 12 package (./dev installs what is missing). System headers stay quiet.
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET libzmq)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
find_package(simdjson REQUIRED)
find_package(double-conversion REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

add_library(runwire_msgpack INTERFACE)
target_compile_definitions(runwire_msgpack INTERFACE MSGPACK_NO_BOOST)
