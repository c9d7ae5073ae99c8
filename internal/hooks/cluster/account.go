package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/transport"
)

var accountKind = kubeapi.Kind{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts", Namespaced: true}

// As returns a client of the same API server that authenticates as a ServiceAccount.
// namespace is the default namespace of the client and its kubeconfig. The token is valid
// for a time, which the API server may limit.
func (c *Cluster) As(ctx context.Context, account types.NamespacedName, namespace string, valid time.Duration) (*Cluster, error) {
	return c.ObservedAs(ctx, account, namespace, valid, nil)
}

// ObservedAs is As with a wrapper around the transport of all requests, or nil.
func (c *Cluster) ObservedAs(
	ctx context.Context, account types.NamespacedName, namespace string, valid time.Duration, wrap transport.WrapperFunc,
) (*Cluster, error) {
	request := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": map[string]any{"expirationSeconds": int64(valid.Seconds())},
	}}
	request.SetName(account.Name)
	answer, err := c.resource(accountKind, account.Namespace).Create(ctx, request, metav1.CreateOptions{}, "token")
	if err != nil {
		return nil, fmt.Errorf("get a token for ServiceAccount %s: %w", account, err)
	}
	token, _, err := unstructured.NestedString(answer.Object, "status", "token")
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(c.config)
	config.BearerToken = token
	if wrap != nil {
		config.Wrap(wrap)
	}
	own, err := clientcmd.Load(c.Kubeconfig)
	if err != nil {
		return nil, err
	}
	own.AuthInfos = map[string]*api.AuthInfo{account.Name: {Token: token}}
	own.Contexts[own.CurrentContext].AuthInfo = account.Name
	own.Contexts[own.CurrentContext].Namespace = namespace
	content, err := clientcmd.Write(*own)
	if err != nil {
		return nil, err
	}
	client, err := connect(config, c.Context, namespace, content)
	if err == nil {
		client.kinds = c.kinds
	}
	return client, err
}
