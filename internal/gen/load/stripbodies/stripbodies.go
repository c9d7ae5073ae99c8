// Package stripbodies takes the bodies of functions out of Go sources, to spare
// readers half of their work where nobody looks at them. The type checker passes
// over bodies. The collector of markers does not: a body with a marker stays as
// it is, as does one with anything behind it on its last line. The sources must
// be such as compile.
package stripbodies

import "bytes"

// Blank returns a source with the bodies blanked. Comments stay. Every byte that
// stays is where it was.
func Blank(src []byte) []byte {
	out := bytes.Clone(src)
	bodies(src, func(open, end int) { blank(out[open:end]) })
	return out
}

// Cut returns a source without the bodies and the comments in them: sources of
// which it returns the same declare the same.
func Cut(src []byte) []byte {
	out, from := make([]byte, 0, len(src)), 0
	bodies(src, func(open, end int) {
		out = append(out, src[from:open]...)
		from = end
	})
	return append(out, src[from:]...)
}

// bodies finds what is between the braces of bodies that are of no interest.
func bodies(src []byte, found func(open, end int)) {
	for i := 0; i < len(src); {
		open := -1
		if declaresFunc(src, i) {
			open = bodyOf(src, i)
		}
		if open < 0 {
			i = skip(src, i)
			continue
		}
		end, marked := block(src, open)
		if !marked && (end >= len(src) || src[end] == '\n') {
			found(open+1, end-1)
		}
		i = end
	}
}

// blank overwrites all but comments and the ends of lines.
func blank(body []byte) {
	for i := 0; i < len(body); {
		next := skip(body, i)
		if !isComment(body, i) {
			for j := i; j < next; j++ {
				if body[j] != '\n' {
					body[j] = ' '
				}
			}
		}
		i = next
	}
}

// declaresFunc reports whether a line begins at i that declares a function.
func declaresFunc(src []byte, i int) bool {
	return (i == 0 || src[i-1] == '\n') && bytes.HasPrefix(src[i:], []byte("func "))
}

// bodyOf finds the brace that opens the body of the function declared at i, or
// -1: it is the first one outside of parentheses and brackets that belongs to
// no type.
func bodyOf(src []byte, i int) int {
	depth := 0
	for i < len(src) {
		switch src[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '\n':
			if depth == 0 {
				return -1
			}
		case '{':
			if depth == 0 && !endsInWord(src[:i], "interface") && !endsInWord(src[:i], "struct") {
				return i
			}
			i, _ = block(src, i)
			continue
		}
		i = skip(src, i)
	}
	return -1
}

// endsInWord reports whether src, less blanks, ends in word.
func endsInWord(src []byte, word string) bool {
	src = bytes.TrimRight(src, " \t")
	rest, ok := bytes.CutSuffix(src, []byte(word))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t)]*,"), rest[len(rest)-1]) >= 0)
}

// block returns the index behind the brace that closes the one at i, and
// whether a comment in between is a marker.
func block(src []byte, i int) (end int, marked bool) {
	depth := 0
	for i < len(src) {
		next := skip(src, i)
		switch {
		case src[i] == '{':
			depth++
		case src[i] == '}':
			if depth--; depth == 0 {
				return next, marked
			}
		case isComment(src, i):
			marked = marked || bytes.HasPrefix(bytes.TrimSpace(src[i+2:next]), []byte("+"))
		}
		i = next
	}
	return i, true // never closed: hands off
}

// isComment reports whether a comment begins at i, which is in no other.
func isComment(src []byte, i int) bool {
	return src[i] == '/' && i+1 < len(src) && (src[i+1] == '/' || src[i+1] == '*')
}

// plain are the bytes that mean nothing here wherever they are.
var plain = func() (plain [256]bool) {
	for i := range plain {
		plain[i] = bytes.IndexByte([]byte("/`\"'{}()[]\n"), byte(i)) < 0
	}
	return plain
}()

// skip returns the index behind the comment, string or character literal that
// begins at i, or else behind one byte, or all plain ones.
func skip(src []byte, i int) int {
	past := func(from int, end string) int {
		if n := bytes.Index(src[min(from, len(src)):], []byte(end)); n >= 0 {
			return from + n + len(end)
		}
		return len(src)
	}
	switch src[i] {
	case '/':
		switch {
		case bytes.HasPrefix(src[i:], []byte("//")):
			return max(past(i, "\n")-1, i+1) // the line's end is not the comment's
		case bytes.HasPrefix(src[i:], []byte("/*")):
			return past(i+2, "*/")
		}
	case '`':
		return past(i+1, "`")
	case '"', '\'':
		for j := i + 1; j < len(src); j++ {
			switch src[j] {
			case '\\':
				j++
			case src[i]:
				return j + 1
			}
		}
		return len(src)
	default:
		for i+1 < len(src) && plain[src[i]] && plain[src[i+1]] {
			i++
		}
	}
	return i + 1
}
