_complete_FUNCTION() {
    # Bash splits words at the characters of COMP_WORDBREAKS, which include ':' and '='. What has no space between it in
    # the line is joined again.
    local line=${COMP_LINE:0:COMP_POINT} word i
    local -a words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i == 0)) || [[ $line == [[:space:]]* ]]; then
            line=${line#"${line%%[![:space:]]*}"}
            words+=("")
        fi
        # The last word ends at the cursor.
        ((i == COMP_CWORD)) && word=$line
        words[${#words[@]} - 1]+=$word
        line=${line#"$word"}
    done
    # Inside quotes bash does not split, and replaces everything after the quote.
    local last=$((${#words[@]} - 1))
    local current=${words[last]} kept=
    case $current in
        [\'\"]*) current=${current:1} ;;
        *[=:]*) [[ $COMP_WORDBREAKS == *:* || $COMP_WORDBREAKS == *=* ]] && kept=${current%"${current##*[=:]}"} ;;
    esac
    words[last]=$current
    local IFS=$'\n'
    COMPREPLY=($(VARIABLE=bash COMPLETER -- "${words[@]}" 2> /dev/null))
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
    # More follows these, so there is no space after them.
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[=:/,] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o bashdefault -F _complete_FUNCTION BIN
