#!/usr/bin/env bash
# Scaffolds an operator in FOLDER/aerospike, generates its manifests, builds it, and times each step.
# It needs bash, Go, git and awk, and operon on PATH. `make demo` calls it with the command that builds
# operon.
#
# usage: project.sh FOLDER [COMMAND THAT BUILDS OPERON...]
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/testdata/demo/steps.sh"
dir=$1/aerospike
shift
if [ $# -gt 0 ]; then
	note 'Build operon. With empty caches, this downloads and compiles the libraries of Kubernetes,' \
		'which takes about 4 minutes on two cores.'
	step "$@"
fi
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"

# The commands of the scenario, with the user's edits where it makes them.
scenario=$top/testdata/scenarios/aerospike
while IFS= read -r line <&3; do
	case $line in
	'#'* | '') ;;
	EDIT)
		note 'The user replaces the example field by the fields of a database cluster, and writes rules.'
		cp -R "$scenario/edits/." .
		;;
	'operon init '*)
		eval "step $line"
		note 'Download the modules of the project that are not in the module cache.'
		step go -C "$top/testdata/golden/aerospike" mod download
		;;
	'operon create '*) eval "step $line" ;;
	'rm '*) $line ;;
	'git apply '*) GIT_CEILING_DIRECTORIES=${dir%/*} $line ;; # not relative to the repository of operon
	esac
done 3<"$scenario/commands"
step operon generate

crd=config/crd/bases/aerospike.dzolotov.tech_aerospikeclusters.yaml
note "The schema of the spec, without descriptions, in $crd:"
awk '
	/^          status:/ { exit }
	/^          spec:/ { inside = 1 }
	!inside { next }
	{ indent = match($0, /[^ ]/) }
	description && indent > description { next } # its other lines
	{ description = 0 }
	$1 == "description:" { description = indent; next }
	{ print substr($0, 11) }' "$crd"
webhook=internal/webhook/v1alpha1/aerospikecluster_webhook.go
note "The rules in $webhook:"
grep -o 'field[.]Invalid(.*")' "$webhook"

note 'Compile the operator. The first time, this takes about 2 minutes on two cores.'
step go build -o bin/manager ./cmd

note 'The files of the project, by folder:'
find . -type f -not -path './.operon/*' -not -path './bin/*' | sed 's|^\./||' |
	awk -F/ '{ count[NF > 1 ? $1 "/" : "."]++ } END { for (folder in count) printf "%4d  %s\n", count[folder], folder }' | sort -k 2

print_summary
cat <<END
The operator is in $dir. Read its README.md first.

Next: make demo-server runs the operator on an API server, which calls its webhooks.
END
if programs=$(operon envtest path 2>/dev/null); then
	printf 'It takes half a minute: the API server is installed in\n%s.\n\n' "$programs"
else
	printf 'No API server is installed: operon first builds one from Go modules, once, which takes about\n8 minutes on two cores.\n\n'
fi
