# Bash reads this file before each hook. It redirects absolute paths of the engine's image
# to the places of these files on this machine.
source() {
  case "$1" in
  /shell_lib.sh) set -- "${OPERON_SHELL_LIB}" "${@:2}" ;;
  /hooks/*) set -- "${OPERON_HOOKS}/${1#/hooks/}" "${@:2}" ;;
  /modules/* | /global-hooks/*) set -- "${OPERON_HOOKS}$1" "${@:2}" ;;
  esac
  # The message of bash for a missing file would name this script.
  if [[ "$1" == */* && ! -e "$1" ]]; then
    echo "${BASH_SOURCE[1]}: line ${BASH_LINENO[0]}: $1: No such file or directory" >&2
    return 1
  fi
  builtin source "$@"
}
.() { source "$@"; }
