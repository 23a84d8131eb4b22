# SPDX-License-Identifier: Apache-2.0
# fish completion for keplerd-exporter(8).
complete -c keplerd-exporter -f
complete -c keplerd-exporter -l varlink -r -F -d 'Where keplerd answers'
complete -c keplerd-exporter -l listen -x -d 'Where to answer'
complete -c keplerd-exporter -l web-config -r -F -d 'TLS and passwords'
complete -c keplerd-exporter -l serve -x -a 'host units vms containers pods processes all' -d 'What everybody may see'
complete -c keplerd-exporter -l processes -x -d 'How many processes are shown'
complete -c keplerd-exporter -l version -d 'Print the version'
complete -c keplerd-exporter -s h -l help -d 'Print a short help'
