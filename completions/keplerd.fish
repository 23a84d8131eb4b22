# SPDX-License-Identifier: Apache-2.0
# fish completion for keplerd(8).
complete -c keplerd -f
complete -c keplerd -l config -r -F -d 'Read only this file'
complete -c keplerd -l bus -x -a 'system session none' -d 'D-Bus to connect to'
complete -c keplerd -l runtime-dir -r -F -d 'Directory of the varlink socket'
complete -c keplerd -l state-dir -r -F -d 'Directory of the totals'
complete -c keplerd -l wal-dir -r -F -d 'Directory of the write-ahead log'
complete -c keplerd -l sysfs -r -F -d 'Read this instead of /sys'
complete -c keplerd -l procfs -r -F -d 'Read this instead of /proc'
complete -c keplerd -l cgroupfs -r -F -d 'Read this instead of the mounted cgroup2'
complete -c keplerd -l root -r -F -d 'Look up names here'
complete -c keplerd -l source -x -a 'auto perf powercap guest hwmon estimated simulated' -d 'Energy source'
complete -c keplerd -l interval -x -d 'Time between samples'
complete -c keplerd -l log-level -x -a 'debug info warning error' -d 'Minimum log level'
complete -c keplerd -l check-config -d 'Check the configuration and exit'
complete -c keplerd -l version -d 'Print the version'
complete -c keplerd -s h -l help -d 'Print a short help'
