# SPDX-License-Identifier: Apache-2.0
# fish completion for keplerd-exporter(8).
complete -c keplerd-exporter -f
complete -c keplerd-exporter -l varlink -r -F -d 'Socket of keplerd'
complete -c keplerd-exporter -l listen -x -d 'Address to listen on'
complete -c keplerd-exporter -l web-config -r -F -d 'TLS and passwords'
complete -c keplerd-exporter -l serve -x -a 'host units vms containers pods processes all' -d 'What to export to everyone'
complete -c keplerd-exporter -l processes -x -d 'Number of processes'
complete -c keplerd-exporter -l version -d 'Print the version'
complete -c keplerd-exporter -s h -l help -d 'Print a short help'
