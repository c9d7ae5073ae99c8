# Functions that the scripts of the demo share: they print and time the steps. They need awk.

summary=

# now sets $now to the time in milliseconds; bash before version 5 knows only seconds. It
# does not print the time, because bash 5.2 reports an error for Ctrl-C at the start of
# $(...).
now() {
	local t=${EPOCHREALTIME:-$(date +%s).000000}
	t=${t/[.,]/}
	now=${t%???}
}

# took prints the time since $1, and adds a line about $2 to the summary.
took() {
	local ms line
	now
	ms=$((now - $1))
	printf '  (%d.%03d s)\n' $((ms / 1000)) $((ms % 1000))
	printf -v line '%4d.%03d s  %s\n' $((ms / 1000)) $((ms % 1000)) "$2"
	summary+=$line
}

# note says what the next steps do.
note() {
	printf '\n'
	printf '# %s\n' "$@"
}

# step prints a command, runs it with short output, and prints how long it took. It returns the
# status of the command.
step() {
	local line='' word start status=0
	for word; do
		case $word in '' | *[!a-zA-Z0-9_.,:=/@+-]*) word="'$word'" ;; esac
		line+="${line:+ }$word"
	done
	printf '\n$ %s\n' "$line"
	now
	start=$now
	"$@" | awk 'NR <= 6; END { if (NR > 6) print "... and " NR - 6 " more lines" }' || status=$?
	took "$start" "$line"
	return "$status"
}

# print_summary prints the times of all steps.
print_summary() { printf '\n# what it took\n%s\n' "$summary"; }
