# Bash reads this file before the hook: what stands at the top of the image's
# file system is elsewhere here.
source() {
  case "$1" in
  /shell_lib.sh) set -- "${OPERON_SHELL_LIB}" "${@:2}" ;;
  /hooks/*) set -- "${OPERON_HOOKS}/${1#/hooks/}" "${@:2}" ;;
  /modules/* | /global-hooks/*) set -- "${OPERON_HOOKS}$1" "${@:2}" ;;
  esac
  # What bash says of a missing file would name this one.
  if [[ "$1" == */* && ! -e "$1" ]]; then
    echo "${BASH_SOURCE[1]}: line ${BASH_LINENO[0]}: $1: No such file or directory" >&2
    return 1
  fi
  builtin source "$@"
}
.() { source "$@"; }
