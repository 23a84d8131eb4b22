# SPDX-License-Identifier: Apache-2.0
# fish completion for keplerctl(1).
set -l kinds units vms containers pods processes zones
set -l verbs status $kinds show monitor top doctor

# The names and ids of what there is. Processes are too many.
function __keplerctl_names
    set -l address
    set -l line (commandline -opc)
    for i in (seq (count $line))
        string match -q -- '--varlink=*' $line[$i]; and set address $line[$i]
        test "$line[$i]" = --varlink; and set -l next (math $i + 1); and set address --varlink=$line[$next]
    end
    for kind in vms containers pods units zones
        timeout 3 keplerctl $address --json=short --no-legend $kind 2>/dev/null |
            grep -oE '"id":"([^"\\\\]|\\\\.)*","name":"([^"\\\\]|\\\\.)*","kind":"[^"]*","state":"running"' |
            sed -E 's/^"id":"(([^"\\\\]|\\\\.)*)","name":"(([^"\\\\]|\\\\.)*)",.*/\3\n\1/; s/\\\\(["\\\\])/\1/g' | sort -u
    end
end

complete -c keplerctl -f
complete -c keplerctl -l varlink -r -F -d 'Where keplerd listens'
complete -c keplerctl -l json -x -a 'pretty short off' -d 'Write JSON'
complete -c keplerctl -s j -d 'Write JSON'
complete -c keplerctl -l no-legend -d 'Leave out headers and footers'
complete -c keplerctl -l no-pager -d 'Do not use a pager'
complete -c keplerctl -s h -l help -d 'Show a short help'
complete -c keplerctl -l version -d 'Show the version'

set -l without "not __fish_seen_subcommand_from $verbs"
complete -c keplerctl -n $without -a status -d 'What the host draws, and who is behind it'
complete -c keplerctl -n $without -a units -d 'Energy of every systemd unit and other cgroup'
complete -c keplerctl -n $without -a vms -d 'Energy of every virtual machine'
complete -c keplerctl -n $without -a containers -d 'Energy of every container'
complete -c keplerctl -n $without -a pods -d 'Energy of every Kubernetes pod'
complete -c keplerctl -n $without -a processes -d 'Energy of every process'
complete -c keplerctl -n $without -a zones -d 'The energy zones of the host'
complete -c keplerctl -n $without -a show -d 'All about one'
complete -c keplerctl -n $without -a monitor -d 'Follow the host, or all of a kind'
complete -c keplerctl -n $without -a top -d 'A live screen of who draws power'
complete -c keplerctl -n $without -a doctor -d 'Check what keplerd needs, and tell the fix'

complete -c keplerctl -n '__fish_seen_subcommand_from show' -a '(__keplerctl_names)'
set -l without_kind "not __fish_seen_subcommand_from $kinds"
complete -c keplerctl -n "__fish_seen_subcommand_from monitor top; and $without_kind" -a "$kinds"
set -l lists "__fish_seen_subcommand_from $kinds monitor; and not __fish_seen_subcommand_from top"
complete -c keplerctl -n $lists -l limit -x -d 'At most so many rows'
complete -c keplerctl -n $lists -l sort -x -a 'energy power cpu name id' -d By
complete -c keplerctl -n $lists -l all -d 'Show what has ended, too'
complete -c keplerctl -n $lists -s n -x -d 'At most so many'
complete -c keplerctl -n '__fish_seen_subcommand_from monitor' -l count -x -d 'End after so many ticks'
complete -c keplerctl -n '__fish_seen_subcommand_from monitor' -l interval -x -d 'At least so long between two ticks'
for root in sysfs procfs cgroupfs
    complete -c keplerctl -n '__fish_seen_subcommand_from doctor' -l $root -r -F -d 'Look here'
end
complete -c keplerctl -n '__fish_seen_subcommand_from doctor' -l capture -r -F -d 'Write what keplerd reads of this host'
