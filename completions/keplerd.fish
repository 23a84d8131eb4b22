# SPDX-License-Identifier: Apache-2.0
# fish completion for keplerd(8).
complete -c keplerd -f
complete -c keplerd -l config -r -F -d 'Read only this file, and no drop-ins'
complete -c keplerd -l bus -x -a 'system session none' -d 'D-Bus to connect to: system, session, none or an address'
complete -c keplerd -l runtime-dir -r -F -d 'Directory of the varlink socket'
complete -c keplerd -l state-dir -r -F -d 'Directory in which the totals are saved'
complete -c keplerd -l wal-dir -r -F -d 'Directory of the write-ahead log, which preserves the totals across a crash; default: /run/keplerd-state, or --state-dir if given'
complete -c keplerd -l sysfs -r -F -d 'Read this instead of /sys'
complete -c keplerd -l procfs -r -F -d 'Read this instead of /proc'
complete -c keplerd -l cgroupfs -r -F -d 'Read this instead of the mounted cgroup2'
complete -c keplerd -l root -r -F -d 'Look up names of containers and guests here instead of in /: in var/lib/docker, var/lib/containers, var/log/pods, etc/pve'
complete -c keplerd -l source -x -a 'auto perf powercap guest hwmon estimated simulated' -d 'Energy source, instead of Source='
complete -c keplerd -l interval -x -d 'Time between samples, instead of Interval='
complete -c keplerd -l log-level -x -a 'debug info warning error' -d 'debug, info, warning or error'
complete -c keplerd -l check-config -d 'Check the configuration, print the effective settings, and exit'
complete -c keplerd -l version -d 'Print the version and exit'
complete -c keplerd -s h -l help -d 'Print this help message and exit'
