# SPDX-License-Identifier: Apache-2.0
# bash completion for keplerd(8). Needs nothing but bash.
_keplerd() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} candidates
    if [[ $before = = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $current = = ]]; then
        current=
    fi
    case $before in
        --bus) candidates='system session none' ;;
        --source) candidates='auto perf powercap guest hwmon estimated simulated' ;;
        --log-level) candidates='debug info warning error' ;;
        --config | --runtime-dir | --state-dir | --wal-dir | --sysfs | --procfs | --cgroupfs | --root | --replay)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            compopt -o filenames 2>/dev/null
            return ;;
        --interval | --every) return ;;
        *) candidates='--config --bus --runtime-dir --state-dir --wal-dir --sysfs --procfs --cgroupfs --root --source
                       --interval --log-level --check-config --replay --every --version -h --help' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$current")
}

complete -F _keplerd keplerd
