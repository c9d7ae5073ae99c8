# The library of hooks in bash, with the functions of shell-operator's own. It needs
# bash 4.4 and jq, and runs wherever they do:
#
#   source "$(dirname -- "${BASH_SOURCE[0]}")/lib/shell_lib.sh"
#
# hook::run "$@"   is the last line of a hook. It prints the configuration when asked
#                  for it, or else calls, for each binding context, the first of
#                  these functions that there is:
#
#   __on_startup
#   __on_kubernetes::BINDING::synchronization
#   __on_kubernetes::BINDING::added, ::modified, ::deleted
#   __on_kubernetes::BINDING::added_or_modified
#   __on_kubernetes::BINDING
#   __on_group::GROUP
#   __on_schedule::BINDING
#   __on_validating::BINDING, __on_mutating::BINDING
#   __on_conversion::BINDING::FROM::TO   with a dot for the slash of group/version
#   __on_conversion::BINDING
#   __main__
#
# A path is keys and indices with dots between them: object.data.0."a.b". What is
# more than that goes to jq, behind a dot: objects[].object.metadata.name

if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
  echo "error: hooks need bash 4.4 or newer, and this is ${BASH_VERSION}" >&2
  exit 1
fi

set -Eeuo pipefail
shopt -s inherit_errexit failglob

# The context at hand as JSON, and which one it is.
__context=
__context_index=
# How deep in subshells the handler runs.
__hook_level=0

# context::global::jq runs jq on the list of all contexts.
context::global::jq() {
  jq "$@" "${BINDING_CONTEXT_PATH}"
}

# context::jq runs jq on the context at hand.
context::jq() {
  context::_load
  jq "$@" < <(printf '%s\n' "${__context}" 2>/dev/null || :)
}

# context::get [--required] PATH prints a value of the context at hand, strings
# without quotes, and null for what is not there, unless it is required.
context::get() {
  if [[ "${1:-}" != --required ]]; then
    context::jq -r "$(context::_filter "${1:-}")"
    return
  fi
  shift
  context::jq -r --arg path "${1:-}" "if $(context::_has "${1:-}") then $(context::_filter "${1:-}")
    else \"error: the context of binding \(.binding) has no \(\$path)\n\" | halt_error(1) end"
}

# context::has PATH tells whether there is such a key or item, were it null.
context::has() {
  context::jq -e "$(context::_has "${1:-}")" >/dev/null
}

# context::is_true PATH and its sisters compare a value.
context::is_true() { context::_is "${1:-}" true; }
context::is_false() { context::_is "${1:-}" false; }
context::is_null() { context::_is "${1:-}" null; }

context::_is() {
  context::jq -e "$(context::_filter "$1") == $2" >/dev/null
}

# context::_load reads the context at hand, unless it was read before.
context::_load() {
  local index="${BINDING_CONTEXT_CURRENT_INDEX:-0}"
  if [[ "${__context_index}" != "${index}" ]]; then
    __context="$(context::global::jq -c ".[${index}]")"
    __context_index="${index}"
  fi
}

# context::_keys splits a path into the array named keys, and fails when it is more
# than keys.
context::_keys() {
  local rest="${1//\'/\"}"
  local key='^\.?("[^"]*"|[A-Za-z0-9_/-]+)(.*)$'
  local item='^\.?\[([0-9]+|"[^"]*")\](.*)$'
  keys=()
  while [[ -n "${rest}" ]]; do
    if [[ "${rest}" =~ ${key} ]]; then
      if [[ ${#keys[@]} -gt 0 && "${rest}" != .* ]]; then
        return 1
      fi
    elif ! [[ "${rest}" =~ ${item} ]]; then
      return 1
    fi
    keys+=("${BASH_REMATCH[1]}")
    rest="${BASH_REMATCH[2]}"
  done
}

# context::_steps prints the filter that follows keys. A number is an index of a
# list, and a key of anything else.
context::_steps() {
  local key filter=.
  for key in "$@"; do
    case "${key}" in
    \"*) filter+=" | .[${key}]" ;;
    *[!0-9]*) filter+=" | .[\"${key}\"]" ;;
    *) filter+=" | (if type == \"array\" then .[${key}] else .[\"${key}\"] end)" ;;
    esac
  done
  printf '(%s)' "${filter}"
}

# context::_filter prints the filter that leads to a path.
context::_filter() {
  local keys
  if context::_keys "$1"; then
    context::_steps "${keys[@]}"
  else
    printf '(.%s)' "${1//\'/\"}"
  fi
}

# context::_has prints the filter that tells whether there is something at a path.
context::_has() {
  local keys
  if ! context::_keys "$1"; then
    printf '([.%s] | any(. != null))' "${1//\'/\"}"
    return
  fi
  if [[ ${#keys[@]} -eq 0 ]]; then
    printf 'true'
    return
  fi
  local last="${keys[-1]}" index=-1
  case "${last}" in
  \"*) ;;
  *[!0-9]*) last="\"${last}\"" ;;
  *) index="${last}" last="\"${last}\"" ;;
  esac
  unset 'keys[-1]'
  printf '((try %s catch null) | if type == "object" then has(%s) elif type == "array" then %s >= 0 and length > %s else false end)' \
    "$(context::_steps "${keys[@]}")" "${last}" "${index}" "${index}"
}

# hook::run answers --config, or handles all contexts.
hook::run() {
  if [[ "${1:-}" == --config ]]; then
    __config__
    exit 0
  fi
  local plan status index
  mapfile -t plan < <(hook::_plan)
  wait "$!" || exit "$?"
  for ((index = 0; index < ${#plan[@]}; index += 3)); do
    export BINDING_CONTEXT_CURRENT_INDEX="$((index / 3))"
    export BINDING_CONTEXT_CURRENT_BINDING="${plan[index]}"
    __context="${plan[index + 2]}"
    __context_index="${BINDING_CONTEXT_CURRENT_INDEX}"
    # A condition or || would switch the handler's own errexit off.
    set +e
    trap - ERR
    (
      trap hook::_backtrace ERR
      set -e
      __hook_level="${BASH_SUBSHELL}"
      hook::_handle "${plan[index + 1]}"
    )
    status=$?
    trap hook::_backtrace ERR
    set -e
    if ((status != 0)); then
      exit "${status}"
    fi
  done
}

# hook::_plan prints three lines for each context: its binding, the functions that may
# handle it with tabs between them, and the context. One start of jq for all of it is a
# good part of what a hook costs.
hook::_plan() {
  context::global::jq -rc '
    def dotted: (. // "") | tostring | split("/") | join(".");
    .[] | (.binding // "unknown") as $name |
    "__on_kubernetes::\($name)" as $kubernetes |
    "__on_conversion::\($name)" as $conversion |
    {
      Synchronization: ["\($kubernetes)::synchronization", $kubernetes],
      Event: ({
        Added: ["\($kubernetes)::added", "\($kubernetes)::added_or_modified", $kubernetes],
        Modified: ["\($kubernetes)::modified", "\($kubernetes)::added_or_modified", $kubernetes],
        Deleted: ["\($kubernetes)::deleted", $kubernetes]
      }[.watchEvent // ""]),
      Group: ["__on_group::\(.groupName)"],
      Schedule: ["__on_schedule::\($name)"],
      Validating: ["__on_validating::\($name)"],
      Mutating: ["__on_mutating::\($name)"],
      Conversion: ["\($conversion)::\(.fromVersion | dotted)::\(.toVersion | dotted)", $conversion]
    }[.type // ""] as $handlers |
    ([$name] | @tsv),
    ((if $name == "onStartup" then ["__on_startup"] else $handlers // [] end) + ["__main__"] | @tsv),
    .'
}

# hook::_handle runs the first of the functions in a line that there is.
hook::_handle() {
  local names name
  IFS=$'\t' read -r -a names <<<"$1"
  for name in "${names[@]}"; do
    if declare -F -- "${name}" >/dev/null; then
      "${name}"
      return
    fi
  done
  echo "error: no function handles the context of binding ${BINDING_CONTEXT_CURRENT_BINDING}; one of these may: ${names[*]}" >&2
  exit 1
}

# hook::_backtrace says where a command failed, and at the level of the handler, who
# called that. Of frames in this library it names the function that the hook called.
hook::_backtrace() {
  local status=$? what="${BASH_COMMAND%%$'\n'*}" frame=1
  while ((frame < ${#FUNCNAME[@]} - 1)) && [[ "${BASH_SOURCE[frame]}" == "${BASH_SOURCE[0]}" ]]; do
    what="${FUNCNAME[frame]}"
    frame=$((frame + 1))
  done
  printf 'error: %s:%d: exit code %d of %s\n' "${BASH_SOURCE[frame]}" "${BASH_LINENO[frame - 1]}" "${status}" "${what}" >&2
  if ((BASH_SUBSHELL <= __hook_level)); then
    while ((frame + 1 < ${#FUNCNAME[@]})) && [[ "${BASH_SOURCE[frame + 1]}" != "${BASH_SOURCE[0]}" ]]; do
      printf '  in %s, called at %s:%d\n' "${FUNCNAME[frame]}" "${BASH_SOURCE[frame + 1]}" "${BASH_LINENO[frame]}" >&2
      frame=$((frame + 1))
    done
    if [[ "${FUNCNAME[frame]}" != main ]]; then
      printf '  in %s\n' "${FUNCNAME[frame]}" >&2
    fi
  fi
}

trap hook::_backtrace ERR
