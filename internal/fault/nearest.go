package fault

import "strings"

// Nearest returns the candidate with the smallest edit distance from name, for
// "did you mean" hints. Among equals it returns the first in alphabetical
// order. It returns "" if no candidate is near enough.
func Nearest(name string, candidates []string) string {
	best, least := "", 1+max(1, min(3, len(name)/4))
	for _, c := range candidates {
		if d := Distance(strings.ToLower(name), strings.ToLower(c)); d < least || d == least && best != "" && c < best {
			best, least = c, d
		}
	}
	return best
}

// DidYouMean returns the end of a sentence about an unknown name: a question with the candidate that
// Nearest returns, or "".
func DidYouMean(name string, candidates []string) string {
	if near := Nearest(name, candidates); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// Distance returns the number of bytes to insert, delete, replace, or swap with
// their neighbour, to turn a into b (optimal string alignment).
func Distance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
