# What of /shell_lib.sh in shell-operator's image a hook needs that is asked for
# its configuration.

set -Eeuo pipefail
shopt -s inherit_errexit failglob

hook::run() {
  if [[ "${1:-}" == "--config" ]]; then
    __config__
    exit 0
  fi
  echo "this hook can only be asked for its configuration here" >&2
  return 1
}
