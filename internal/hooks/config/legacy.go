package config

import (
	"encoding/json"
)

// legacyEvents maps the event names of version v0 to version v1's.
var legacyEvents = map[string]string{"add": "Added", "update": "Modified", "delete": "Deleted"}

// convertLegacy validates a configuration without configVersion, and converts it to v1. That
// format supports a subset of v1, with other names.
func (v *validator) convertLegacy() *Config {
	var old struct {
		OnStartup         *float64
		Schedule          []Schedule
		OnKubernetesEvent []struct {
			Name              string
			Event             []string
			Kind              string
			ObjectName        string
			NamespaceSelector *struct {
				MatchNames []string
				Any        bool
			}
			JQFilter     string
			AllowFailure bool
		}
	}
	content, err := json.Marshal(v.values)
	if err == nil {
		err = json.Unmarshal(content, &old)
	}
	if err != nil {
		v.report(nil, ruleSchema, "%v", err)
		return nil
	}
	c := &Config{Version: "v0", OnStartup: old.OnStartup, Schedule: old.Schedule}
	for i, s := range c.Schedule {
		if err := checkCrontab(s.Crontab); err != nil {
			v.report(path{"schedule", i, "crontab"}, ruleCrontab, "schedule[%d].crontab: %v", i, err)
		}
	}
	for i, b := range old.OnKubernetesEvent {
		p := path{"onKubernetesEvent", i}
		k := Kubernetes{Name: b.Name, Kind: b.Kind, JQFilter: b.JQFilter, AllowFailure: b.AllowFailure}
		if k.Name == "" {
			k.Name = "onKubernetesEvent"
		}
		for n, event := range b.Event {
			if legacyEvents[event] == "" {
				v.report(p.in("event").in(n), ruleSchema, "%s is %q, but must be add, update or delete", p.in("event").in(n), event)
			}
			k.ExecuteHookOnEvent = append(k.ExecuteHookOnEvent, legacyEvents[event])
		}
		if b.ObjectName != "" {
			k.NameSelector = &NameSelector{MatchNames: []string{b.ObjectName}}
		}
		if n := b.NamespaceSelector; n != nil && !n.Any {
			k.Namespace = &NamespaceSelector{NameSelector: &NameSelector{MatchNames: n.MatchNames}}
		}
		if err := CheckJQ(k.JQFilter); err != nil {
			v.report(p.in("jqFilter"), ruleJQ, "%s: %v", p.in("jqFilter"), err)
		}
		c.Kubernetes = append(c.Kubernetes, k)
	}
	v.checkText()
	v.report(nil, ruleVersion, "without configVersion: v1, the engine reads this as version v0, whose binding contexts differ")
	return c
}
