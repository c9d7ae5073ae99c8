package golang

import (
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// checkFinalizer checks that callers of finalize and cleanUp use as many results as these
// methods have. The user may have kept code from the time when both had only one result.
// operon does not change this code, so the project would no longer compile.
func (x featurePlanner) checkFinalizer() error {
	if !x.Finalizer || len(x.Conflicts()) > 0 { // conflicts end the command anyway
		return nil
	}
	all, err := source.Files(x.config.ControllerDir(x.of), x.Plan)
	if err != nil {
		return err
	}
	returns := func(method string) (file string, results int) {
		for _, s := range all {
			if fn := x.data.Reconciler + "." + method; s.Parsed.HasFunc(fn) {
				_, results = s.Parsed.Signature(fn)
				return s.Name, results
			}
		}
		return "", 0
	}
	finalizeFile, want := returns("finalize")
	cleanUpFile, got := returns("cleanUp")
	if finalizeFile == "" || cleanUpFile == "" {
		return nil // the user implements the finalizer in another way
	}
	if got != want {
		return x.finalizerMismatch("%s: cleanUp has %d results, and finalize in %s has %d", cleanUpFile, got, finalizeFile, want)
	}
	for _, s := range all {
		for _, method := range []string{"finalize", "cleanUp"} {
			for _, t := range s.Parsed.CallSites(x.data.Reconciler, method) {
				if t.Results != want {
					return x.finalizerMismatch("%s: %s uses %d results of %s, which has %d", s.Name, t.Func, t.Results, method, want)
				}
			}
		}
	}
	return nil
}

func (x featurePlanner) finalizerMismatch(format string, args ...any) error {
	return fault.Failed("return (ctrl.Result, error) from finalize and cleanUp, and use both results in the calls:\n"+
		fillNames(fillNames(finalizeLines, "$clean", cleanUp), "$r", "r", "$ctx", "ctx", "$obj", x.data.Var), format, args...)
}
