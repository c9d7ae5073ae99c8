package cluster

import (
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
)

// Proxy is a server on this machine that passes on the requests of programs, such as kubectl, through the transports of
// clients. It knows a client by its token.
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

// Add lets programs send requests as a client with a token. It returns the client with a kubeconfig for them.
func (p *Proxy) Add(c *Cluster) (*Cluster, error) {
	target, err := url.Parse(c.Server)
	if err != nil {
		return nil, err
	}
	through, err := rest.TransportFor(c.config)
	if err != nil {
		return nil, err
	}
	own, err := clientcmd.Load(c.Kubeconfig)
	if err != nil {
		return nil, err
	}
	server := own.Clusters[own.Contexts[own.CurrentContext].Cluster]
	server.Server, server.CertificateAuthorityData, server.InsecureSkipTLSVerify = p.url, p.ca, false
	server.TLSServerName, server.ProxyURL = "", ""
	content, err := clientcmd.Write(*own)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clients[c.config.BearerToken] = &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
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
