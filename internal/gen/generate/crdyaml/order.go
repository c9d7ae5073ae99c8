package crdyaml

import "unicode"

// compareKeys orders the keys of a mapping as the library does: letters by code point
// and after all other characters, runs of digits by their value.
func compareKeys(a, b string) int {
	if lessKey(a, b) {
		return -1
	}
	if a == b {
		return 0
	}
	return 1
}

func lessKey(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return len(a) < len(b)
	}
	if letter(a[i]) && letter(b[i]) {
		return a[i] < b[i]
	}
	return lessRunes([]rune(a), []rune(b))
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func lessRunes(a, b []rune) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return len(a) < len(b)
	}
	switch left, right := unicode.IsLetter(a[i]), unicode.IsLetter(b[i]); {
	case left && right:
		return a[i] < b[i]
	case left || right:
		return right
	}
	// A zero within a number is not a leading zero: it counts as a digit.
	var lead int64
	if a[i] == '0' || b[i] == '0' {
		for j := i - 1; j >= 0 && unicode.IsDigit(a[j]); j-- {
			if a[j] != '0' {
				lead = 1
				break
			}
		}
	}
	x, xEnd := number(a, i, lead)
	y, yEnd := number(b, i, lead)
	switch {
	case x != y:
		return x < y
	case xEnd != yEnd:
		return xEnd < yEnd
	}
	return a[i] < b[i]
}

// number reads the digits of s at i, which follow digits with the value before. It
// returns the value and the offset after the digits.
func number(s []rune, i int, before int64) (value int64, end int) {
	for value, end = before, i; end < len(s) && unicode.IsDigit(s[end]); end++ {
		value = value*10 + int64(s[end]-'0')
	}
	return value, end
}
