package kops

import (
	"testing"

	"k8s.io/apiserver/pkg/server/options"
)

// TestWatchCacheSizesAreUpstreams holds watchCacheSize to upstream's parser.
func TestWatchCacheSizesAreUpstreams(t *testing.T) {
	for _, item := range []string{
		"pods#0", "leases.coordination.k8s.io#100", "pods", "pods#", "#0", "#", "pods#-1", "pods#1#2", "pods# 1", "pods#+1", "pods#0x10",
		"pods#99999999999999999999", "a.b.c#7", "pods#1,nodes#2",
	} {
		_, err := options.ParseWatchCacheSizes([]string{item})
		if got, want := watchCacheSize(item), err == nil; got != want {
			t.Errorf("%q: %v, upstream %v (%v)", item, got, want, err)
		}
	}
}
