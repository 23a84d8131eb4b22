# SPDX-License-Identifier: Apache-2.0
# fish completion for keplerctl(1).
set -l kinds units vms containers pods processes zones
set -l verbs status $kinds apps show monitor top history report budgets run record calibrate doctor help

# Names and ids of existing objects. There are too many processes.
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
complete -c keplerctl -l varlink -r -F -d 'Socket of keplerd'
complete -c keplerctl -s H -l host -x -a '(__fish_print_hostnames)' -d 'Ask these hosts over ssh instead of this one'
complete -c keplerctl -l json -x -a 'pretty short off' -d 'Write JSON: pretty, short or off'
complete -c keplerctl -s j -d 'Same as --json=pretty on a terminal, --json=short otherwise'
complete -c keplerctl -s o -l output -x -a 'table json json-pretty json-short json-seq csv waybar i3blocks' -d 'Output format: table, json, json-pretty, json-short, json-seq, csv, waybar or i3blocks'
complete -c keplerctl -s l -l full -d 'Do not shorten names or leave out columns'
complete -c keplerctl -s q -l quiet -d 'Do not print hints'
complete -c keplerctl -l no-legend -d 'Do not print headers and footers'
complete -c keplerctl -l no-pager -d 'Do not use a pager'
complete -c keplerctl -s h -l help -d 'Show this help'
complete -c keplerctl -l version -d 'Show the version'

set -l without "not __fish_seen_subcommand_from $verbs"
complete -c keplerctl -n $without -a status -d 'Power and energy of the host, its accounts, source and cost'
complete -c keplerctl -n $without -a units -d 'Energy of every systemd unit and other cgroup'
complete -c keplerctl -n $without -a vms -d 'Energy of every virtual machine'
complete -c keplerctl -n $without -a containers -d 'Energy of every container'
complete -c keplerctl -n $without -a pods -d 'Energy of every Kubernetes pod'
complete -c keplerctl -n $without -a processes -d 'Energy of every process'
complete -c keplerctl -n $without -a zones -d 'The host\'s energy zones: packages, memory, ...'
complete -c keplerctl -n $without -a apps -d 'Energy of the applications of users\' sessions, by their names'
complete -c keplerctl -n $without -a show -d 'Details of one unit, virtual machine, container, pod, process or zone'
complete -c keplerctl -n $without -a monitor -d 'Follow the host, or all rows of a kind, live'
complete -c keplerctl -n $without -a top -d 'Live screen of what draws power'
complete -c keplerctl -n $without -a history -d 'Energy of the host, a unit, a VM, ... over time'
complete -c keplerctl -n $without -a report -d 'Energy and cost of a month or a day, and who used it'
complete -c keplerctl -n $without -a budgets -d 'Budgets of energy, and how much of them is used'
complete -c keplerctl -n $without -a run -d 'Run a command, and report the energy it used'
complete -c keplerctl -n $without -a record -d 'Record what keplerd divides, for keplerd --replay'
complete -c keplerctl -n $without -a calibrate -d 'Measure the idle power of a quiet host, for keplerd to use'
complete -c keplerctl -n $without -a doctor -d 'Check what keplerd needs, and suggest fixes'

complete -c keplerctl -n $without -a help -d 'Show this help, or that of a verb'

complete -c keplerctl -n '__fish_seen_subcommand_from show' -a '(__keplerctl_names)'
set -l without_kind "not __fish_seen_subcommand_from $kinds"
complete -c keplerctl -n "__fish_seen_subcommand_from monitor top; and $without_kind" -a "$kinds"
set -l lists "__fish_seen_subcommand_from $kinds apps monitor; and not __fish_seen_subcommand_from top"
set -l monitor '__fish_seen_subcommand_from monitor'
complete -c keplerctl -n "$lists; and not $monitor" -s n -l limit -x -d 'Show at most N rows'
complete -c keplerctl -n $monitor -l limit -x -d 'Show at most N rows'
complete -c keplerctl -n $lists -l sort -x -a 'energy power cpu name id' -d 'Sort by power (the default of tables), energy (that of JSON), cpu, name or id'
complete -c keplerctl -n $lists -s a -l all -d 'Include ended rows in tables'
complete -c keplerctl -n 'not __fish_seen_subcommand_from zones budgets run record calibrate doctor help' -l wall -d 'Show the power at the plug, by a model'
set -l units '__fish_seen_subcommand_from units; and not __fish_seen_subcommand_from monitor top show'
complete -c keplerctl -n $units -l tree -d 'Show all cgroups, each below its parent'
complete -c keplerctl -n $units -l type -x -a 'service scope slice socket mount swap cgroup' -d 'Show units of these types: service, scope, slice, socket, mount, swap or cgroup'
set -l workloads '__fish_seen_subcommand_from units vms containers pods; and not __fish_seen_subcommand_from monitor top history show'
complete -c keplerctl -n $workloads -l idle -x -a 'separate equal size usage' -d 'Also show the power under another idle policy: separate, equal, size or usage'
complete -c keplerctl -n $monitor -s n -l count -x -d 'Exit after COUNT updates'
complete -c keplerctl -n $monitor -l interval -x -d 'Minimum time between two updates'
complete -c keplerctl -n $monitor -l of -x -a 'session (__keplerctl_names)' -d 'What a status bar shows: an id, a name, or session'
complete -c keplerctl -n '__fish_seen_subcommand_from apps' -l history -r -F -d 'Socket of keplerd-history'
set -l record '__fish_seen_subcommand_from record'
complete -c keplerctl -n $record -F
complete -c keplerctl -n $record -l duration -x -d 'Stop after TIME (default: 1h)'
complete -c keplerctl -n $record -l max-size -x -d 'Stop before the file exceeds SIZE (default: 1G)'
complete -c keplerctl -n $record -l interval -x -d 'Time between two samples, if shorter than keplerd\'s'
complete -c keplerctl -n $record -l anonymize -d 'Replace the names of workloads by hashes'
set -l run '__fish_seen_subcommand_from run'
complete -c keplerctl -n $run -xa '(__fish_complete_subcommand --fcs-skip=2)'
complete -c keplerctl -n $run -l system -d 'Start the scope with the manager of the system (default for root)'
complete -c keplerctl -n $run -l user -d 'Start the scope with the manager of the user (default for users)'
complete -c keplerctl -n $run -l unit -x -d 'Name of the scope'
complete -c keplerctl -n $run -l slice -x -d 'Slice of the scope'
complete -c keplerctl -n $run -s p -l property -x -a 'AllowedCPUs= CPUQuota= CPUWeight= IOWeight= MemoryHigh= MemoryMax= RuntimeMaxSec= TasksMax=' -d 'Set a property of the scope'
complete -c keplerctl -n $run -l wait -d 'Wait until the scope is empty, not only for the command'
complete -c keplerctl -n $run -s r -l repeat -x -d 'Run the command N times'
complete -c keplerctl -n $run -l warmup -x -d 'Run it N times before, without measuring'
complete -c keplerctl -n $run -l prepare -x -d 'Run this with sh before each run, without measuring'
complete -c keplerctl -n $run -l delay -x -d 'Wait before each run'
complete -c keplerctl -n $run -l attach -x -d 'Measure this unit, process or VM instead of a command'
complete -c keplerctl -n $run -l for -x -d 'Measure it for so long (default: until it ends or Ctrl-C)'
complete -c keplerctl -n $run -l include-idle -d 'Include the idle energy that Idle= places on it'
complete -c keplerctl -n $run -l report -r -F -d 'Write the report to this file instead of standard error'
complete -c keplerctl -n $run -l compare -r -F -d 'Compare with an earlier report, written as JSON'
complete -c keplerctl -n $run -l label -x -d 'Name of this phase in the report'
complete -c keplerctl -n $run -l append -r -F -d 'Append the report to a file of phases'
complete -c keplerctl -n $run -l summary -r -F -d 'Show a file of phases, and run nothing'
complete -c keplerctl -n $run -l cost-config -r -F -d 'Read price and emissions from this file'
complete -c keplerctl -n $run -l max-energy -x -d 'Exit with 3 if a successful command used more'
set -l past '__fish_seen_subcommand_from history report'
complete -c keplerctl -n '__fish_seen_subcommand_from history' -a 'host units vms containers pods'
complete -c keplerctl -n '__fish_seen_subcommand_from history' -l step -x -a '5min hour day month' -d 'One row for each 5min, hour, day or month'
complete -c keplerctl -n '__fish_seen_subcommand_from report' -l by -x -a 'unit slice user vm project container pod' -d 'Divide by unit (default), slice, user, vm, project, container or pod'
complete -c keplerctl -n '__fish_seen_subcommand_from history' -l graph -d 'Show the power as a graph instead of a table'
complete -c keplerctl -n '__fish_seen_subcommand_from report' -l functional-unit -x -d 'Show the Software Carbon Intensity for N functional units'
complete -c keplerctl -n $past -l month -x -d 'The whole month, like 2026-11'
complete -c keplerctl -n $past -l day -x -a 'today yesterday' -d 'The whole day, like 2026-11-24, today or yesterday'
complete -c keplerctl -n $past -l since -x -a 'today yesterday' -d 'Begin at TIME'
complete -c keplerctl -n $past -l until -x -a 'today yesterday' -d 'End at TIME (default: now)'
complete -c keplerctl -n '__fish_seen_subcommand_from history report budgets' -l history -r -F -d 'Socket of keplerd-history'
set -l calibrate '__fish_seen_subcommand_from calibrate'
complete -c keplerctl -n $calibrate -a idle
complete -c keplerctl -n $calibrate -l for -x -d 'Measure for TIME (default: 1min)'
complete -c keplerctl -n $calibrate -l dry-run -d 'Only measure'
complete -c keplerctl -n $calibrate -l undo -d 'Remove what an earlier calibration has written'
complete -c keplerctl -n $calibrate -l output-file -r -F -d 'Write FILE instead of a drop-in of keplerd.conf'
set -l doctor '__fish_seen_subcommand_from calibrate doctor'
complete -c keplerctl -n $doctor -l sysfs -r -F -d 'Read this instead of /sys'
complete -c keplerctl -n $doctor -l procfs -r -F -d 'Read this instead of /proc'
complete -c keplerctl -n $doctor -l cgroupfs -r -F -d 'Read this instead of the mounted cgroup2'
complete -c keplerctl -n '__fish_seen_subcommand_from doctor' -l capture -r -F -d 'Write what keplerd reads on this host to a new file'
