# SPDX-License-Identifier: Apache-2.0
# bash completion for keplerctl(1). Needs nothing but bash.

# The running rows' names, and with "ids" their ids too, one a line. Nothing where keplerd does not answer.
__keplerctl_names() { # names|ids KIND ADDRESS-OPTION...
    local what=$1 kind=$2 show='\3'
    shift 2
    [[ $what = ids ]] && show='\1\n\3'
    timeout 3 keplerctl "$@" --json=short --no-legend "$kind" 2>/dev/null |
        grep -oE '"id":"([^"\\]|\\.)*","name":"([^"\\]|\\.)*","kind":"[^"]*","state":"running"' |
        sed -E 's/^"id":"(([^"\\]|\\.)*)","name":"(([^"\\]|\\.)*)",.*/'"$show"'/; s/\\(["\\])/\1/g' | sort -u
}

_keplerctl() {
    local kinds='units vms containers pods processes zones'
    local verbs="status $kinds apps show monitor top history report budgets run record calibrate doctor help"
    local global='--varlink= -H --host= --json= -j -o --output= -l --full -q --quiet --no-legend --no-pager -h --help --version'
    local list='--limit= --sort= -a --all'
    # "=" and ":" part words for readline, but not for keplerctl.
    local words=() word i joins=
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $joins || $word =~ ^[=:]+$ ]] && ((${#words[@]})); then
            words[-1]+=$word
        else
            words+=("$word")
        fi
        [[ $word =~ ^[=:]+$ ]] && joins=yes || joins=
    done
    local current=${words[-1]} before= verb= address=() candidates= option
    unset 'words[-1]'
    for word in "${words[@]}"; do
        case $before in
            --varlink) address=("--varlink=$word") word= ;;
            -H | --host | --of | -n | --limit | --count | --sort | --json | -o | --output | --interval | --sysfs | --procfs | --cgroupfs | --capture | --type | -p | --property | -r | --repeat | --warmup | --prepare | --delay | --unit | --slice | --attach | --for | --report | --compare | --label | --append | --summary | --cost-config | --max-energy | --duration | --max-size | --output-file | --step | --by | --functional-unit | --month | --day | --since | --until | --history | --idle) word= ;;
        esac
        [[ $word = --varlink=* ]] && address=("$word")
        # What is behind `run`, its options and their values is a command of its own.
        if [[ $verb = run && ($word = -- || $word && $word != -*) ]]; then
            compopt -o bashdefault -o default 2>/dev/null
            return
        fi
        [[ -z $verb && $word && $word != -* ]] && verb=$word
        before=$word
    done

    # An option's value is the word behind it, or behind its "=".
    option=$before
    [[ $current = --*=* ]] && option=${current%%=*}
    local value=${current#*=}
    [[ $current = --*=* ]] || value=$current
    case $option in
        --json) candidates='pretty short off' ;;
        -H | --host)
            # The last one of a list; the names are those that ssh knows.
            local known=${value%"${value##*,}"}
            mapfile -t COMPREPLY < <(compgen -P "$known" -A hostname -- "${value##*,}")
            return ;;
        -o | --output) candidates='table json json-pretty json-short json-seq csv waybar i3blocks' ;;
        --sort) candidates='energy power cpu name id' ;;
        --idle) candidates='separate equal size usage' ;;
        --type) candidates='service scope slice socket mount swap cgroup' ;;
        --varlink | --history | --sysfs | --procfs | --cgroupfs | --capture)
            mapfile -t COMPREPLY < <(compgen -f -- "$value")
            compopt -o filenames 2>/dev/null
            return ;;
        --report | --compare | --append | --summary | --cost-config | --output-file)
            mapfile -t COMPREPLY < <(compgen -f -- "$value")
            compopt -o filenames 2>/dev/null
            return ;;
        --step) candidates='5min hour day month' ;;
        --by) candidates='unit slice user vm project container pod' ;;
        --day | --since | --until) candidates='today yesterday' ;;
        --attach | --of) __keplerctl_show "$value" "${address[@]}"; return ;;
        -p | --property) candidates='AllowedCPUs= CPUQuota= CPUWeight= IOWeight= MemoryHigh= MemoryMax= RuntimeMaxSec= TasksMax=' ;;
        -n | --limit | --count | --interval | -r | --repeat | --warmup | --prepare | --delay | --unit | --slice | --label | --for | --max-energy | --duration | --max-size | --month)
            return ;;
        *)
            value=$current
            if [[ $current = -* ]]; then
                candidates=$global
                case $verb in
                    '' | status | show | top) candidates+=' --wall' ;;
                    units) candidates+=" -n $list --tree --type= --wall --idle=" ;;
                    vms | containers | pods) candidates+=" -n $list --wall --idle=" ;;
                    processes) candidates+=" -n $list --wall" ;;
                    zones) candidates+=" -n $list" ;;
                    apps) candidates+=" -n $list --wall --history=" ;;
                    monitor) candidates+=" -n --count= --interval= --of= --wall $list" ;;
                    run)
                        candidates+=' --system --user --unit= --slice= -p --property= --wait -r --repeat= --warmup= --prepare= --delay='
                        candidates+=' --attach= --for= --include-idle --report= --compare= --label= --append= --summary= --cost-config= --max-energy=' ;;
                    history) candidates+=' --wall --step= --graph --month= --day= --since= --until= --history=' ;;
                    budgets) candidates+=' --history=' ;;
                    report) candidates+=' --wall --by= --functional-unit= --month= --day= --since= --until= --history=' ;;
                    record) candidates+=' --duration= --max-size= --interval= --anonymize' ;;
                    calibrate) candidates+=' --for= --dry-run --undo --output-file= --sysfs= --procfs= --cgroupfs=' ;;
                    doctor) candidates+=' --sysfs= --procfs= --cgroupfs= --capture=' ;;
                esac
            else
                case $verb in
                    '') candidates=$verbs ;;
                    monitor | top) candidates=$kinds ;;
                    help) candidates=$verbs ;;
                    history) candidates='host units vms containers pods' ;;
                    calibrate) candidates=idle ;;
                    run)
                        mapfile -t COMPREPLY < <(compgen -c -- "$value")
                        return ;;
                    record)
                        mapfile -t COMPREPLY < <(compgen -f -- "$value")
                        compopt -o filenames 2>/dev/null
                        return ;;
                    show) __keplerctl_show "$current" "${address[@]}"; return ;;
                esac
            fi ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$value")
    [[ ${COMPREPLY[0]-} = *= ]] && compopt -o nospace 2>/dev/null
}

# Names of what there is; ids, too, once something is typed. Processes are too many.
__keplerctl_show() { # CURRENT ADDRESS-OPTION...
    local current=$1 what=names kind names=() name
    shift
    current=${current#[\"\']}
    [[ $current ]] && what=ids
    for kind in vms containers pods units zones; do
        mapfile -t -O ${#names[@]} names < <(__keplerctl_names "$what" "$kind" "$@")
    done
    # What readline takes for words of their own, it does not replace.
    local kept=${current%"${current##*[=:]}"}
    [[ $COMP_WORDBREAKS = *:* ]] || kept=
    for name in "${names[@]}"; do
        [[ $name = "$current"* ]] && COMPREPLY+=("$(printf %q "${name#"$kept"}")")
    done
}

complete -F _keplerctl keplerctl
