module github.com/werf/nelm

go 1.26.4
require k8s.io/apimachinery v0.34.8
