// Package stripbodies removes the bodies of functions from Go sources that compile, and whole
// methods. This halves the work of the parser, and the types that the cache has of a dependency. The
// type checker does not need bodies, but the collector of markers does. Therefore a function stays
// as it is if its body contains a marker, or if anything follows the body on its last line.
package stripbodies

import "bytes"

// Blank returns a source with spaces in place of bodies, and of methods that no generator looks for.
// Comments stay, and so does the offset of every other byte.
func Blank(src []byte) []byte {
	out := bytes.Clone(src)
	bodies(src, func(start, open, end int) {
		if isUnused(method(src[start:open])) {
			blank(out[start:end])
		} else {
			blank(out[open+1 : end-1])
		}
	})
	return out
}

// isUnused reports whether name is a method that no generator looks for. As of controller-tools v0.23.0, object
// looks for methods of deepcopy, and crd for those that make a type a JSON or text value. The
// others are most of what packages like k8s.io/api/core/v1 declare. Without them, the type checker
// finds errors where a package calls them, which the generators ignore as they ignore all errors in types.
func isUnused(name string) bool {
	switch name {
	case "", "DeepCopy", "DeepCopyInto", "DeepCopyObject", "MarshalJSON", "MarshalText":
		return false
	}
	return true
}

// method returns the name of the method that a declaration declares, or "".
func method(declaration []byte) string {
	rest, ok := bytes.CutPrefix(declaration, []byte("func ("))
	if !ok {
		return ""
	}
	_, rest, _ = bytes.Cut(rest, []byte(")"))
	name, _, _ := bytes.Cut(rest, []byte("("))
	return string(bytes.TrimSpace(name))
}

// bodies calls found for each function whose body can be removed, with the offsets of its declaration, of
// the brace that opens its body, and after the one that closes it.
func bodies(src []byte, found func(start, open, end int)) {
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
			found(i, open, end)
		}
		i = end
	}
}

// blank overwrites everything but comments and line ends with spaces.
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

// declaresFunc reports whether a function declaration begins at i, at the start of a
// line.
func declaresFunc(src []byte, i int) bool {
	return (i == 0 || src[i-1] == '\n') && bytes.HasPrefix(src[i:], []byte("func "))
}

// bodyOf returns the offset of the brace that opens the body of the function declared at
// i, or -1. It is the first brace outside parentheses and brackets that does not belong
// to a type.
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

// endsInWord reports whether src, without trailing blanks, ends in word.
func endsInWord(src []byte, word string) bool {
	src = bytes.TrimRight(src, " \t")
	rest, ok := bytes.CutSuffix(src, []byte(word))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t)]*,"), rest[len(rest)-1]) >= 0)
}

// block returns the offset after the brace that closes the one at i, and whether a
// comment in between is a marker.
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
	return i, true // not closed: the body stays
}

// isComment reports whether a comment begins at i, outside any other comment.
func isComment(src []byte, i int) bool {
	return src[i] == '/' && i+1 < len(src) && (src[i+1] == '/' || src[i+1] == '*')
}

// plain reports the bytes that have no meaning in this package.
var plain = func() (plain [256]bool) {
	for i := range plain {
		plain[i] = bytes.IndexByte([]byte("/`\"'{}()[]\n"), byte(i)) < 0
	}
	return plain
}()

// skip returns the offset after the comment, string or character literal that begins at
// i, or otherwise after one byte or a run of plain bytes.
func skip(src []byte, i int) int {
	after := func(from int, end string) int {
		if n := bytes.Index(src[min(from, len(src)):], []byte(end)); n >= 0 {
			return from + n + len(end)
		}
		return len(src)
	}
	switch src[i] {
	case '/':
		switch {
		case bytes.HasPrefix(src[i:], []byte("//")):
			return max(after(i, "\n")-1, i+1) // the end of the line is not part of the comment
		case bytes.HasPrefix(src[i:], []byte("/*")):
			return after(i+2, "*/")
		}
	case '`':
		return after(i+1, "`")
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
