package cluster

import (
	"crypto/rand"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/transport"
)

// Proxy is a server on this machine that passes on the requests of programs, such as kubectl, through the transports of
// clients. It knows a client by a token of its own.
type Proxy struct {
	url    string
	ca     []byte
	server *http.Server

	mu      sync.Mutex
	clients map[string]http.Handler // by token
}

// NewProxy starts a proxy at 127.0.0.1 with a certificate for that address, as PEM. The caller closes it.
func NewProxy(ca, certificate, key []byte) (*Proxy, error) {
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{url: "https://" + listener.Addr().String(), ca: ca, clients: map[string]http.Handler{}}
	p.server = &http.Server{
		Handler: p, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
	}
	go func() { _ = p.server.ServeTLS(listener, "", "") }() // it ends with Close
	return p, nil
}

// Add lets programs send requests as a client, through a wrapper around its transport. It returns the client with a kubeconfig for
// them.
func (p *Proxy) Add(c *Cluster, wrap transport.WrapperFunc) (*Cluster, error) {
	target, err := url.Parse(c.Server)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(c.config)
	config.NextProtos = []string{"http/1.1"} // for kubectl exec, which upgrades the connection
	config.Wrap(wrap)
	through, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	own, err := clientcmd.Load(c.Kubeconfig)
	if err != nil {
		return nil, err
	}
	token, current := rand.Text(), own.Contexts[own.CurrentContext]
	current.AuthInfo, own.AuthInfos = "hook", map[string]*api.AuthInfo{"hook": {Token: token}}
	server := own.Clusters[current.Cluster]
	server.Server, server.CertificateAuthorityData, server.InsecureSkipTLSVerify = p.url, p.ca, false
	server.TLSServerName, server.ProxyURL = "", ""
	content, err := clientcmd.Write(*own)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clients[token] = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization") // the transport adds the client's
		},
		Transport: through,
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	proxied := *c
	proxied.Kubeconfig = content
	return &proxied, nil
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	handler := p.clients[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	p.mu.Unlock()
	if handler == nil {
		http.Error(w, "use the kubeconfig of the hook", http.StatusUnauthorized)
		return
	}
	handler.ServeHTTP(w, r)
}

// Close ends the connections.
func (p *Proxy) Close() { _ = p.server.Close() }
