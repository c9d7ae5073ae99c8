package project

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// OperandKey is kubebuilder's key below plugins in PROJECT that records operands:
//
//	deploy-image.go.kubebuilder.io/v1-alpha:
//	  resources:
//	  - {domain: example.org, group: cache, kind: Memcached, version: v1,
//	    options: {image: "memcached:1.6", containerCommand: "memcached,-v", containerPort: "11211", runAsUser: "1001"}}
const OperandKey = "deploy-image.go.kubebuilder.io/v1-alpha"

// Operand returns the recorded operand of r. ok is false if there is none.
func (c *Config) Operand(r Resource) (o Operand, ok bool) {
	wanted := entryOf(r, "", Features{})
	for _, entry := range c.entries(OperandKey) {
		m, isMap := entry.(map[string]any)
		if !isMap || !sameEntry(m, wanted) {
			continue
		}
		options, _ := m["options"].(map[string]any)
		text := func(key string) string {
			if options[key] == nil {
				return ""
			}
			return fmt.Sprint(options[key]) // a number if somebody edited the file
		}
		return Operand{text("image"), text("containerCommand"), text("containerPort"), text("runAsUser")}, true
	}
	return o, false
}

// PutOperand records the operand of r.
func (c *Config) PutOperand(r Resource, o Operand) {
	entry := entryOf(r, "", Features{})
	entry["options"] = plainData(o)
	c.putEntry(OperandKey, entry)
}

// CheckOperand validates the recorded operand of r.
func (c *Config) CheckOperand(r Resource) error {
	o, ok := c.Operand(r)
	if !ok {
		return nil
	}
	err := o.Check()
	if err == nil && !c.IsNamespaced(r) {
		err = fault.Usage("make the kind namespaced", "%s is cluster-scoped, and its Deployment needs a namespace", r.Kind)
	}
	if err == nil {
		err = c.CheckDeploymentKind(r)
	}
	if err != nil {
		return InPluginConfig(OperandKey, err)
	}
	return nil
}

// CheckDeploymentKind returns an error if r or another kind of the project has the names of the Deployment of
// Kubernetes, because these names then mean the kind of the project.
func (c *Config) CheckDeploymentKind(r Resource) error {
	with := &Config{Resources: append(slices.Clone(c.Resources), r)}
	if t, err := with.Target("owns", operandDeployment); err == nil && !t.Core {
		return fault.Usage("use another group or version for that kind", "--image deploys the Deployment of Kubernetes, and the project has a kind of the same name, %s", operandDeployment)
	}
	return nil
}

// ImageVariable returns the environment variable of the manager that has the image of the operand of r, which is
// recorded. kubebuilder uses the kind. If an operand that was added earlier has that name, the group is added, and
// then the domain.
func (c *Config) ImageVariable(r Resource) string {
	taken := map[string]bool{}
	for _, entry := range c.entries(OperandKey) {
		o := resourceOf(entry)
		variable := ""
		for _, prefix := range []string{"", o.Group, o.QualifiedGroup()} {
			variable = variableName(prefix, o.Kind)
			if !taken[variable] {
				break
			}
		}
		if o.SameKind(r) {
			return variable
		}
		taken[variable] = true
	}
	return variableName("", r.Kind)
}

func variableName(prefix, kind string) string {
	words := strings.NewReplacer("-", "_", ".", "_").Replace(prefix)
	return strings.ToUpper(strings.TrimPrefix(words+"_"+kind, "_")) + "_IMAGE"
}

// resourceOf returns the resource that an entry names.
func resourceOf(entry any) Resource {
	m, _ := entry.(map[string]any)
	text := func(key string) string { s, _ := m[key].(string); return s }
	return Resource{Group: text("group"), Domain: text("domain"), Version: text("version"), Kind: text("kind")}
}

// operandDeployment is the kind that an operand's controller owns, as Target reads it.
const operandDeployment = "apps/v1/Deployment"

// operandFeatures returns the features of r's controller of that name that follow from an operand.
func (c *Config) operandFeatures(r Resource, controller string) Features {
	if _, ok := c.Operand(r); !ok || controller != r.Lower() {
		return Features{}
	}
	return Features{Owns: []string{operandDeployment}, Finalizer: true}
}

// OperandFields returns the descriptions of the fields of r that follow from an operand.
func (c *Config) OperandFields(r Resource) []string {
	o, ok := c.Operand(r)
	if !ok {
		return nil
	}
	all := []string{`size:int32,min=0,default=1,doc="number of pods"`}
	if o.ContainerPort != "" {
		all = append(all, "containerPort:int32,min=1,max=65535,default="+o.ContainerPort+`,doc="port on which the container listens"`)
	}
	return all
}

// IsOperandDeployment reports whether r is the kind that the controller of an operand owns.
func (r Resource) IsOperandDeployment() bool { return r.Core && r.targetName() == operandDeployment }
