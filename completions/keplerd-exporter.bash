# SPDX-License-Identifier: Apache-2.0
# bash completion for keplerd-exporter(8). Needs nothing but bash.
_keplerd-exporter() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} candidates
    if [[ $before = = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $current = = ]]; then
        current=
    fi
    case $before in
        --serve) candidates='host units vms containers pods processes budgets all' ;;
        --varlink | --history | --web-config | --cost-config)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            compopt -o filenames 2>/dev/null
            return ;;
        --listen | --processes) return ;;
        *) candidates='--varlink --history --listen --web-config --cost-config --serve --processes --version -h --help' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$current")
}

complete -F _keplerd-exporter keplerd-exporter
