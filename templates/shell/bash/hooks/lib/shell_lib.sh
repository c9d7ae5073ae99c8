# A library for hooks in bash, with the functions of shell-operator's own library. It
# needs bash 4.4 and jq:
#
#   source "$(dirname -- "${BASH_SOURCE[0]}")/lib/shell_lib.sh"
#
# hook::run "$@"   is the last line of a hook. It prints the configuration if the
#                  argument is --config. Otherwise it calls, for each binding context,
#                  the first of these functions that exists:
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
# A path consists of keys and indices with dots between them: object.data.0."a.b". Any
# other path is a jq filter without the leading dot: objects[].object.metadata.name

if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
  echo "error: hooks need bash 4.4 or later, this is ${BASH_VERSION}" >&2
  exit 1
fi

set -Eeuo pipefail
shopt -s inherit_errexit failglob

# The current context as JSON, and its index.
__context=
__context_index=
# The subshell level of the handler.
__hook_level=0

# context::global::jq runs jq on the list of all contexts.
context::global::jq() {
  jq "$@" "${BINDING_CONTEXT_PATH}"
}

# context::jq runs jq on the current context.
context::jq() {
  context::_load
  jq "$@" < <(printf '%s\n' "${__context}" 2>/dev/null || :)
}

# context::get [--required] PATH prints a value of the current context, strings without
# quotes. A missing value is null, or an error with --required.
context::get() {
  if [[ "${1:-}" != --required ]]; then
    context::jq -r "$(context::_filter "${1:-}")"
    return
  fi
  shift
  context::jq -r --arg path "${1:-}" "if $(context::_has "${1:-}") then $(context::_filter "${1:-}")
    else \"error: the context of binding \(.binding) has no \(\$path)\n\" | halt_error(1) end"
}

# context::has PATH reports whether the key or item exists, even if it is null.
context::has() {
  context::jq -e "$(context::_has "${1:-}")" >/dev/null
}

# context::is_true, is_false and is_null PATH compare a value.
context::is_true() { context::_is "${1:-}" true; }
context::is_false() { context::_is "${1:-}" false; }
context::is_null() { context::_is "${1:-}" null; }

context::_is() {
  context::jq -e "$(context::_filter "$1") == $2" >/dev/null
}

# context::_load reads the current context once.
context::_load() {
  local index="${BINDING_CONTEXT_CURRENT_INDEX:-0}"
  if [[ "${__context_index}" != "${index}" ]]; then
    __context="$(context::global::jq -c ".[${index}]")"
    __context_index="${index}"
  fi
}

# context::_keys splits a path into the array keys. It fails if the path contains
# anything else.
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

# context::_steps prints the filter for keys. A number is an index of a list, and a key
# of any other value.
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

# context::_filter prints the filter for a path.
context::_filter() {
  local keys
  if context::_keys "$1"; then
    context::_steps "${keys[@]}"
  else
    printf '(.%s)' "${1//\'/\"}"
  fi
}

# context::_has prints the filter that reports whether a path exists.
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
    # A condition or || would disable errexit in the handler.
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
# handle it, separated by tabs, and the context. It starts jq only once, because that
# takes much of the time of a hook.
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

# hook::_handle runs the first function in a line that exists.
hook::_handle() {
  local names name
  IFS=$'\t' read -r -a names <<<"$1"
  for name in "${names[@]}"; do
    if declare -F -- "${name}" >/dev/null; then
      "${name}"
      return
    fi
  done
  echo "error: no function handles the context of binding ${BINDING_CONTEXT_CURRENT_BINDING}; define one of: ${names[*]}" >&2
  exit 1
}

# hook::_backtrace prints where a command failed and, at the level of the handler, the
# callers. For frames in this library it prints the function that the hook called.
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
