# SPDX-License-Identifier: Apache-2.0
# fish completion for keplerd-exporter(8).
complete -c keplerd-exporter -f
complete -c keplerd-exporter -l varlink -r -F -d 'Socket of keplerd'
complete -c keplerd-exporter -l listen -x -d 'Address to listen on, if systemd has not passed a socket'
complete -c keplerd-exporter -l web-config -r -F -d 'TLS and passwords, in the format of Prometheus exporters'
complete -c keplerd-exporter -l cost-config -r -F -d 'Read price and emissions from this file'
complete -c keplerd-exporter -l history -r -F -d 'Socket of keplerd-history, for budgets'
complete -c keplerd-exporter -l serve -x -a 'host units vms containers pods processes budgets all' -d 'Export to everyone: host, units, vms, containers, pods, processes, budgets, or all'
complete -c keplerd-exporter -l processes -x -d 'Export the N processes that used the most energy recently, and the rest combined (default: 20 if --serve includes processes)'
complete -c keplerd-exporter -l version -d 'Print the version and exit'
complete -c keplerd-exporter -s h -l help -d 'Print this help message and exit'
