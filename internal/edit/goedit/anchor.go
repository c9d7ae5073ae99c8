package goedit

import (
	"go/ast"
	"go/token"
)

// Anchor is a place where Insert can add lines.
type Anchor struct {
	what string // what the file must have, for messages
	find func(*File) (place, bool)
}

// Has reports whether the file contains the anchor.
func (f *File) Has(a Anchor) bool {
	_, ok := a.find(f)
	return ok
}

const scaffoldMarker = "+kubebuilder:scaffold:"

// Marker is the place above the comment "// +kubebuilder:scaffold:<name>". The
// comment must be alone on its line. The form "//+kubebuilder" is accepted too.
func Marker(name string) Anchor {
	return Anchor{
		what: "the marker " + scaffoldMarker + name,
		find: func(f *File) (place, bool) {
			if c := f.marker(name, token.NoPos, token.NoPos); c != nil {
				return f.above(c.Pos()), true
			}
			return place{}, false
		},
	}
}

// BeforeCall is the place before the statement of func fn that contains the
// first call of call, and before the comment above that statement. A call with
// a dot ("mgr.Start") is compared completely; one without a dot ("AddToScheme")
// is compared with the last name of the called expression. The place is at the
// outermost statement, but inside the block that declares the name before the
// first dot.
//
// fn can also be a function that is called at package level with a function
// literal, as in test suites: var _ = BeforeSuite(func() { ... }).
func BeforeCall(fn, call string) Anchor {
	return Anchor{
		what: "a call of " + call + " in func " + fn,
		find: func(f *File) (place, bool) {
			for _, body := range f.bodies(fn) {
				if calls := findCalls(body, call); len(calls) > 0 {
					list, i := statement(body.List, calls[0], call)
					return f.beforeStmt(body, list, i), true
				}
			}
			return place{}, false
		},
	}
}

// AfterCall is the place after the last statement of func fn that contains a
// call of call, and after statements on the next lines that check what that
// statement assigned (an error check). fn and call are as in BeforeCall.
func AfterCall(fn, call string) Anchor {
	return Anchor{
		what: "a call of " + call + " in func " + fn,
		find: func(f *File) (place, bool) {
			for _, body := range f.bodies(fn) {
				if calls := findCalls(body, call); len(calls) > 0 {
					list, i := statement(body.List, calls[len(calls)-1], call)
					return f.afterStmt(body, list, i), true
				}
			}
			return place{}, false
		},
	}
}

// EndOfFunc is the place before the closing brace of func fn, or before its
// final return statement. fn is as in BeforeCall.
func EndOfFunc(fn string) Anchor {
	return Anchor{
		what: "the function " + fn,
		find: func(f *File) (place, bool) {
			bodies := f.bodies(fn)
			if len(bodies) == 0 {
				return place{}, false
			}
			body := bodies[0]
			if n := len(body.List); n > 0 {
				if _, ok := body.List[n-1].(*ast.ReturnStmt); ok {
					return f.beforeStmt(body, body.List, n-1), true
				}
			}
			p := f.above(body.Rbrace)
			p.indent += "\t"
			p.folded = f.folded(body)
			return p, true
		},
	}
}
