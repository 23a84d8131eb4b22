# SPDX-License-Identifier: Apache-2.0
# Where systemd's files go, below the prefix, and what the systemd of this platform supports.
pkg_get_variable(_unused libsystemd version)
set(KEPLERD_SYSTEM_UNIT_DIR lib/systemd/system CACHE STRING "System units, relative to the prefix")
set(KEPLERD_SYSUSERS_DIR lib/sysusers.d CACHE STRING "sysusers.d, relative to the prefix")
