//go:build rig

package rig_test

import (
	"encoding/json"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/prove/rig"
)

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// balanced is a way to all apiservers by one address, as the control plane's
// endpoint is: each connection goes to the next one that takes it.
func balanced(t *testing.T, r *rig.Rig) *rest.Config {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var backends []string
	for _, p := range r.Processes() {
		if p.Component == "kube-apiserver" {
			u, err := url.Parse(p.MetricsURL)
			if err != nil {
				t.Fatal(err)
			}
			backends = append(backends, u.Host)
		}
	}
	var turn atomic.Uint32
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go forward(c, backends, int(turn.Add(1)))
		}
	}()
	config := rest.CopyConfig(r.Config(""))
	config.Host = "https://" + listener.Addr().String()
	config.TLSClientConfig.ServerName = "kubernetes" // in every apiserver's certificate
	return config
}

// forward joins a connection with the first backend, from turn on, that takes it.
func forward(c net.Conn, backends []string, turn int) {
	defer c.Close()
	for i := range backends {
		b, err := net.DialTimeout("tcp", backends[(turn+i)%len(backends)], time.Second)
		if err != nil {
			continue
		}
		defer b.Close()
		go func() {
			_, _ = io.Copy(b, c)
			b.Close()
		}()
		_, _ = io.Copy(c, b)
		return
	}
}

// One of three apiservers is lost, that of the leading controller manager: the
// others serve everybody, another host leads, and no node is taken for dead.
func TestFaultApiserver(t *testing.T) {
	files := render(t, "three.cue")
	r := start(t, rig.Options{Files: files, Supervise: true})
	endpoint := balanced(t, r)
	heartbeat(t, endpoint)
	api, err := kubernetes.NewForConfig(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	o := observe(t, r, api, liveness(t, files))
	o.await(time.Minute)
	time.Sleep(5 * time.Second)
	o.mu.Lock()
	leader := o.elections["kube-controller-manager"].holder
	o.mu.Unlock()
	_, host, _ := strings.Cut(leader[:strings.Index(leader, "/")], "@")
	lost := r.Process("kube-apiserver@" + host)
	lost.Kill()
	time.Sleep(75 * time.Second)
	if o.led("kube-controller-manager") != nil || o.led("kube-scheduler") != nil {
		t.Error("no leader without one apiserver of three")
	}
	if err := lost.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Second)
	o.tell("the apiserver of the leader's host down for 75 s")
	// Calls under way at the one that was killed are lost with it.
	for message, n := range o.failed {
		if n > 2 || !slices.ContainsFunc([]string{"EOF", "connection re", "connection lost"}, func(s string) bool { return strings.Contains(message, s) }) {
			t.Errorf("core writes failed %d times: %s", n, message)
		}
	}
	clear(o.failed)
	o.promises()
}
