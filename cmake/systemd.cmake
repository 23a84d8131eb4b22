# SPDX-License-Identifier: Apache-2.0
# Where systemd's files go, below the prefix, and what the systemd of this platform supports.
find_package(PkgConfig REQUIRED)
pkg_check_modules(KEPLERD_LIBSYSTEMD REQUIRED libsystemd>=252)

set(KEPLERD_SYSTEM_UNIT_DIR lib/systemd/system CACHE STRING "System units, relative to the prefix")
set(KEPLERD_SYSUSERS_DIR lib/sysusers.d CACHE STRING "sysusers.d, relative to the prefix")
set(KEPLERD_UDEV_RULES_DIR lib/udev/rules.d CACHE STRING "udev rules, relative to the prefix")
# One of those where keplerd looks. Packages have it in /etc/keplerd, where it is to be changed, and leave it alone then.
set(KEPLERD_CONFIG_DIR lib/keplerd CACHE STRING "keplerd.conf, relative to the prefix")
# Files with options for programs; units read those of /etc/default and /etc/sysconfig.
set(KEPLERD_ENVIRONMENT_DIR "" CACHE STRING "Environment files: /etc/default or /etc/sysconfig; empty: not installed")

# Type=notify-reload (systemd 253) waits until the daemon has reloaded; before that, a signal has to do.
if(KEPLERD_LIBSYSTEMD_VERSION VERSION_GREATER_EQUAL 253)
  set(KEPLERD_UNIT_TYPE "Type=notify-reload")
else()
  set(KEPLERD_UNIT_TYPE "Type=notify\nExecReload=kill -HUP $MAINPID")
endif()
