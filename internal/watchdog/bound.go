package watchdog

import (
	"fmt"
	"math"
	"strings"
)

// maxValue is the size of the largest text or list that a function of templates makes at once, in bytes.
const maxValue = 64 << 20

// Bound limits the functions of sprig that make a value of any size at once. While Go fills gigabytes, it can neither stop for the
// garbage collector nor run the watchdog.
func Bound(functions map[string]any) {
	repeat, replace := functions["repeat"].(func(int, string) string), functions["replace"].(func(string, string, string) string)
	functions["repeat"] = func(count int, text string) (string, error) {
		return bounded(float64(count)*float64(len(text)), func() string { return repeat(count, text) })
	}
	functions["replace"] = func(old, with, text string) (string, error) {
		size := float64(len(text)) + float64(strings.Count(text, old))*float64(len(with))
		return bounded(size, func() string { return replace(old, with, text) })
	}
	for _, name := range []string{"indent", "nindent"} {
		indent := functions[name].(func(int, string) string)
		functions[name] = func(spaces int, text string) (string, error) {
			size := float64(len(text)) + float64(spaces)*float64(strings.Count(text, "\n")+1)
			return bounded(size, func() string { return indent(spaces, text) })
		}
	}
	until, untilStep := functions["until"].(func(int) []int), functions["untilStep"].(func(int, int, int) []int)
	functions["until"] = func(count int) ([]int, error) {
		return bounded(8*math.Abs(float64(count)), func() []int { return until(count) })
	}
	functions["untilStep"] = func(start, stop, step int) ([]int, error) {
		size := 8 * math.Abs(float64(stop)-float64(start)) / max(1, math.Abs(float64(step)))
		return bounded(size, func() []int { return untilStep(start, stop, step) })
	}
}

// bounded makes a value of a size, unless that is too large.
func bounded[T any](size float64, value func() T) (none T, err error) {
	if size > maxValue {
		return none, fmt.Errorf("the result is larger than %d MiB", maxValue>>20)
	}
	return value(), nil
}
