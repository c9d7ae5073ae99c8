package config

import (
	"encoding/json"
	"fmt"

	"github.com/itchyny/gojq"
)

// legacyEvents maps the event names of a configuration without configVersion to those of
// v1.
var legacyEvents = map[string]string{"add": "Added", "update": "Modified", "delete": "Deleted"}

// legacy validates a configuration without configVersion, which supports a part of v1
// with other names, and converts it.
func (j *validator) legacy() *Config {
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
	content, err := json.Marshal(j.values)
	if err == nil {
		err = json.Unmarshal(content, &old)
	}
	if err != nil {
		j.refuse(nil, ruleSchema, "%v", err)
		return nil
	}
	c := &Config{Version: "v0", OnStartup: old.OnStartup, Schedule: old.Schedule}
	for i, s := range c.Schedule {
		if err := parseCrontab(s.Crontab); err != "" {
			j.refuse(path{"schedule", i, "crontab"}, ruleCrontab, "schedule[%d].crontab: %s", i, err)
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
				j.refuse(p.in("event").in(n), ruleSchema, "%s is %q, and must be add, update or delete", p.in("event").in(n), event)
			}
			k.ExecuteHookOnEvent = append(k.ExecuteHookOnEvent, legacyEvents[event])
		}
		if b.ObjectName != "" {
			k.NameSelector = &NameSelector{MatchNames: []string{b.ObjectName}}
		}
		if n := b.NamespaceSelector; n != nil && !n.Any {
			k.Namespace = &NamespaceSelector{NameSelector: &NameSelector{MatchNames: n.MatchNames}}
		}
		if err := compileJQ(k.JQFilter); err != nil {
			j.refuse(p.in("jqFilter"), ruleJQ, "%s: %v", p.in("jqFilter"), err)
		}
		c.Kubernetes = append(c.Kubernetes, k)
	}
	j.lintText()
	j.lint(nil, ruleVersion, "without configVersion: v1 the engine reads this as version v0, whose binding contexts differ")
	return c
}

func compileJQ(filter string) error {
	if filter == "" {
		return nil
	}
	query, err := gojq.Parse(filter)
	if err != nil {
		return fmt.Errorf("jq: %w", err)
	}
	if _, err = gojq.Compile(query); err != nil {
		return fmt.Errorf("jq: %w", err)
	}
	return nil
}
