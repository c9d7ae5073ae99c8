// Package registry serves a catalog to the Operator Lifecycle Manager (OLM) over gRPC, as
// `opm serve` does.
package registry

import (
	"bytes"
	"context"
	"net"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/model"
	"github.com/operator-framework/operator-registry/pkg/api"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// Serve serves a file-based catalog on a listener, without TLS, until stop is called. The bundles have
// their manifests in properties, or an image.
func Serve(l net.Listener, catalog []byte) (stop func(), err error) {
	config, err := declcfg.LoadReader(bytes.NewReader(catalog))
	if err != nil {
		return nil, err
	}
	packages, err := declcfg.ConvertToModel(*config)
	if err != nil {
		return nil, err
	}
	s := grpc.NewServer()
	api.RegisterRegistryServer(s, server{packages: packages})
	grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	go func() { _ = s.Serve(l) }() // fails if the listener does, which OLM reports as a lost connection
	return s.Stop, nil
}

// server implements the methods that OLM calls.
type server struct {
	api.UnimplementedRegistryServer

	packages model.Model
}

func (s server) ListPackages(_ *api.ListPackageRequest, stream api.Registry_ListPackagesServer) error {
	for name := range s.packages {
		if err := stream.Send(&api.PackageName{Name: name}); err != nil {
			return err
		}
	}
	return nil
}

func (s server) GetPackage(_ context.Context, r *api.GetPackageRequest) (*api.Package, error) {
	pkg, ok := s.packages[r.GetName()]
	if !ok {
		return nil, notFound("package " + r.GetName())
	}
	answer := &api.Package{Name: pkg.Name, DefaultChannelName: pkg.DefaultChannel.Name}
	for _, channel := range pkg.Channels {
		head, err := channel.Head()
		if err != nil {
			return nil, err
		}
		answer.Channels = append(answer.Channels, &api.Channel{Name: channel.Name, CsvName: head.Name})
	}
	return answer, nil
}

func (s server) ListBundles(_ *api.ListBundlesRequest, stream api.Registry_ListBundlesServer) error {
	for _, pkg := range s.packages {
		for _, channel := range pkg.Channels {
			for _, b := range channel.Bundles {
				converted, err := api.ConvertModelBundleToAPIBundle(*b)
				if err != nil {
					return err
				}
				if err := stream.Send(converted); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s server) GetBundle(_ context.Context, r *api.GetBundleRequest) (*api.Bundle, error) {
	channel, err := s.channel(r.GetPkgName(), r.GetChannelName())
	if err != nil {
		return nil, err
	}
	b, ok := channel.Bundles[r.GetCsvName()]
	if !ok {
		return nil, notFound("bundle " + r.GetCsvName())
	}
	return api.ConvertModelBundleToAPIBundle(*b)
}

func (s server) GetBundleForChannel(_ context.Context, r *api.GetBundleInChannelRequest) (*api.Bundle, error) {
	channel, err := s.channel(r.GetPkgName(), r.GetChannelName())
	if err != nil {
		return nil, err
	}
	head, err := channel.Head()
	if err != nil {
		return nil, err
	}
	return api.ConvertModelBundleToAPIBundle(*head)
}

func (s server) channel(pkg, name string) (*model.Channel, error) {
	if found, ok := s.packages[pkg]; ok {
		if channel, ok := found.Channels[name]; ok {
			return channel, nil
		}
	}
	return nil, notFound("channel " + name + " of package " + pkg)
}

func notFound(what string) error {
	return status.Error(codes.NotFound, "the catalog does not have "+what)
}
