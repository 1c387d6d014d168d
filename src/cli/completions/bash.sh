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
    # Inside quotes bash does not split, and replaces everything after the quote. Outside of quotes a backslash is before a
    # blank and other special characters.
    local last=$((${#words[@]} - 1)) quoted= special
    local current=${words[last]} kept=
    case $current in
        [\'\"]*) quoted=1 current=${current:1} ;;
        *) current=${current//\\/} ;;
    esac
    if [[ -z $quoted && $current == *[=:]* && $COMP_WORDBREAKS == *[=:]* ]]; then
        kept=${current%"${current##*[=:]}"}
    fi
    words[last]=$current
    COMPREPLY=()
    # The last line has no end.
    while IFS= read -r word || [[ -n $word ]]; do
        word=${word#"$kept"}
        if [[ -z $quoted ]]; then
            for special in '\' ' ' \' \" '(' ')' '[' ']' '{' '}' '*' '?' '&' ';' '<' '>' '|' '$' '`' '!' '#'; do
                word=${word//"$special"/\\"$special"}
            done
        fi
        COMPREPLY+=("$word")
    done < <(VARIABLE=bash _CLAP_COMPLETE_INDEX=$last PROGRAM -- "${words[@]}" 2> /dev/null)
    # More follows these, so there is no space after them.
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[=:/,] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o bashdefault -F _complete_FUNCTION PROGRAM
