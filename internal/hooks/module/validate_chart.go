package module

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/chart"
	helmchart "helm.sh/helm/v3/pkg/chart"
)

// checkChart validates the chart by rendering it with the values that files define.
func (v *validator) checkChart() error {
	c, found, err := v.loadChart()
	if invalid := (*chart.Error)(nil); errors.As(err, &invalid) {
		if v.invalid && invalid.File == "values.yaml" {
			return nil // already reported
		}
		v.add(ruleChart.At(v.path+"/"+invalid.File, invalid.Line, 0, "%s", invalid.Msg))
		return nil
	}
	if err != nil {
		return err
	}
	if !found {
		v.add(ruleNoChart.At(v.path, 0, 0, "has neither Chart.yaml nor templates: nothing is installed"))
		return nil
	}
	if v.invalid {
		return nil
	}
	global := v.common.Global.effective(nil)
	rendered, err := chart.Render(c, v.chartValues(global, v.static.effective(nil)), v.release("default"), clusterOf(v.table))
	if invalid := (*chart.Error)(nil); errors.As(err, &invalid) {
		rule, hint := ruleTemplate, ""
		if v.incomplete || len(checkValues(v.common.Global.Schemas.Helm, global)) > 0 {
			rule, hint = ruleRequired, " (the ConfigMap or a hook must set required values; a test can set them)"
		}
		v.add(rule.At(v.path+"/"+invalid.File, invalid.Line, invalid.Column, "%s%s", invalid.Msg, hint))
		return nil
	}
	if err != nil {
		return err
	}
	v.checkRendered(rendered)
	return nil
}

// checkRendered validates the rendered templates.
func (v *validator) checkRendered(files map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		objects, err := chart.Objects(map[string]string{name: files[name]})
		if err != nil {
			message := err.Error()
			if invalid := (*chart.Error)(nil); errors.As(err, &invalid) {
				message = invalid.Msg
			}
			v.add(ruleTemplate.At(v.path+"/"+name, 0, 0, "%s", message))
			continue
		}
		for _, o := range objects {
			problems := chart.Lint(o)
			if reason := unserved(v.table, o); reason != "" {
				problems = append(problems, reason)
			}
			for _, problem := range problems {
				v.add(ruleObject.At(v.path+"/"+name, 0, 0, "%s", problem))
			}
		}
	}
}

// loadChart loads the module's chart as addon-operator does. found reports whether the module
// has a chart. The error for an invalid chart is a *chart.Error.
func (m Module) loadChart() (c *helmchart.Chart, found bool, err error) {
	_, err = os.Stat(filepath.Join(m.Dir, "Chart.yaml"))
	if err == nil {
		c, err = chart.Load(m.Dir)
		return c, true, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	if _, err := os.Stat(filepath.Join(m.Dir, "templates")); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	} else if err != nil {
		return nil, false, err
	}
	c, err = chart.LoadBare(m.Dir, m.Name)
	return c, true, err
}

// chartValues returns the values for rendering the chart.
func (m Module) chartValues(global, values map[string]any) map[string]any {
	return map[string]any{"global": global, m.Key(): values}
}

// release returns the Helm release of the chart. namespace is the namespace of the operator.
func (m Module) release(namespace string) chart.Release {
	return chart.Release{Name: m.Name, Namespace: namespace}
}
