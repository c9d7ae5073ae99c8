# Bash reads this file before the hook: what stands at the top of the image's
# file system is elsewhere here.
source() {
  case "$1" in
  /shell_lib.sh) set -- "${OPERON_SHELL_LIB}" "${@:2}" ;;
  /hooks/*) set -- "${OPERON_HOOKS}/${1#/hooks/}" "${@:2}" ;;
  esac
  builtin source "$@"
}
.() { source "$@"; }
