package testcluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Account is an account that sends requests in tests, with its Roles and ClusterRoles.
type Account struct {
	Hook  string // "" is the operator, and all hooks without an account of their own
	Roles []*unstructured.Unstructured

	Strict bool // the server refuses objects with unknown fields
}

// account is an Account on the API server.
type account struct {
	Account
	id       types.NamespacedName // of the ServiceAccount
	requests *cluster.Recorder
	client   *cluster.Cluster
	home     cluster.KubeconfigDir // for programs
}

// newAccounts returns accounts with the names of their ServiceAccounts. The namespace exists in every cluster, so that hooks see the
// same namespaces as on a new one. The names of the roles are different, because the hooks of a project may have roles of one name.
func newAccounts(given []Account) []*account {
	var all []*account
	for _, g := range given {
		a := &account{Account: Account{Hook: g.Hook, Strict: g.Strict}, id: types.NamespacedName{Namespace: "kube-system", Name: "operon-hooks"}}
		if g.Hook != "" {
			a.id.Name = "operon-hook-" + strings.Map(inName, strings.ToLower(g.Hook))
			if slices.ContainsFunc(all, func(other *account) bool { return other.id == a.id }) {
				a.id.Name += fmt.Sprintf("-%d", len(all))
			}
		}
		for _, r := range g.Roles {
			if r.GetKind() != "Role" && r.GetKind() != "ClusterRole" {
				continue
			}
			r = r.DeepCopy()
			if g.Hook != "" {
				r.SetName(a.id.Name + "-" + r.GetName())
			}
			a.Roles = append(a.Roles, r)
		}
		all = append(all, a)
	}
	return all
}

// inName returns the character of a ServiceAccount's name for one of a hook's name.
func inName(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

// serviceAccount returns the ServiceAccount.
func (a *account) serviceAccount() *unstructured.Unstructured {
	return object("v1", "ServiceAccount", a.id.Namespace, a.id.Name)
}

// account returns the account of a hook.
func (s *Backend) account(hook string) *account {
	for _, name := range []string{hook, ""} {
		if i := slices.IndexFunc(s.accounts, func(a *account) bool { return a.Hook == name }); i >= 0 {
			return s.accounts[i]
		}
	}
	return nil // never: Options.Open has the accounts of all hooks
}

// accountsOf returns the accounts that send requests in a test.
func (s *Backend) accountsOf(t *hooktest.Test) []*account {
	switch {
	case t.File == nil: // a test of a chart
		return []*account{s.account("")}
	case t.Converts():
		return s.accounts // any hook may be part of the conversion
	}
	return []*account{s.account(t.File.Hook)}
}

// loginAll gets tokens for accounts.
func (s *Backend) loginAll(ctx context.Context, accounts []*account) error {
	for _, a := range accounts {
		if err := s.login(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// login gets a token for the ServiceAccount. A recreated one needs a new token.
func (s *Backend) login(ctx context.Context, a *account) error {
	recorder, err := s.admin.NewRecorder()
	if err != nil {
		return err
	}
	recorder.Administrator = s.administrator
	client, err := s.admin.ObservedAs(ctx, a.id, hooktest.HookNamespace, time.Hour, recorder.Wrap)
	if err != nil {
		return err
	}
	client.RevisionOf, client.Strict = s.mirror.revisionOf, a.Strict
	if client, err = s.proxy.Add(client, nil); err != nil {
		return err
	}
	home, err := client.NewKubeconfigDir()
	if err != nil {
		return err
	}
	a.home.Remove()
	a.requests, a.client, a.home = recorder, client, home
	return nil
}
