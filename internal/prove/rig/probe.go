package rig

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// probe asks one URL, with the manifest's numbers and the kubelet's defaults.
type probe struct {
	url                    *url.URL
	headers                http.Header
	delay, period, timeout time.Duration
	failures               int
}

// newProbe takes a probe of a manifest; nil stays nil.
func newProbe(from *corev1.Probe, ports []corev1.ContainerPort) (*probe, error) {
	if from == nil {
		return nil, nil
	}
	get := from.HTTPGet
	if get == nil {
		return nil, fmt.Errorf("the rig asks only by httpGet")
	}
	port, err := portOf(get.Port, ports)
	if err != nil {
		return nil, err
	}
	// Path may carry a query, as the kubelet reads it.
	u, err := url.Parse(get.Path)
	if err != nil {
		return nil, err
	}
	u.Scheme = "http"
	if get.Scheme == corev1.URISchemeHTTPS {
		u.Scheme = "https"
	}
	// Without a host it is the pod's address, which is the host's.
	u.Host = net.JoinHostPort(orDefault(get.Host, anyAddress), strconv.Itoa(port))
	p := &probe{
		url:      u,
		headers:  http.Header{},
		delay:    time.Duration(from.InitialDelaySeconds) * time.Second,
		period:   time.Duration(orDefault(from.PeriodSeconds, 10)) * time.Second,
		timeout:  time.Duration(orDefault(from.TimeoutSeconds, 1)) * time.Second,
		failures: int(orDefault(from.FailureThreshold, 3)),
	}
	for _, h := range get.HTTPHeaders {
		p.headers.Add(h.Name, h.Value)
	}
	return p, nil
}

func portOf(port intstr.IntOrString, ports []corev1.ContainerPort) (int, error) {
	if port.Type == intstr.Int {
		return port.IntValue(), nil
	}
	for _, p := range ports {
		if p.Name == port.StrVal {
			return int(p.ContainerPort), nil
		}
	}
	return 0, fmt.Errorf("the container has no port named %q", port.StrVal)
}

func orDefault[T comparable](value, otherwise T) T {
	if zero := *new(T); value == zero {
		return otherwise
	}
	return value
}

// at is the probe at another host.
func (p *probe) at(host func(string) string) *probe {
	if p == nil {
		return nil
	}
	q, u := *p, *p.url
	u.Host = net.JoinHostPort(host(p.url.Hostname()), p.url.Port())
	q.url = &u
	return &q
}

// patience is for how long a kubelet waits for the probe's first success.
func (p *probe) patience() time.Duration {
	return p.delay + time.Duration(p.failures)*p.period + p.timeout
}

// probeClient asks as the kubelet does: it takes whatever certificate there
// is, shows none of its own and keeps no connection.
func probeClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // controller managers and schedulers sign their own
		DisableKeepAlives: true,
	}}
}

// ask makes one request; nil means success.
func (p *probe) ask(ctx context.Context, client *http.Client) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url.String(), nil)
	if err != nil {
		return err
	}
	request.Header = p.headers
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 1024))
	if response.StatusCode < 200 || response.StatusCode >= 400 {
		return fmt.Errorf("%s answers %d: %s", p.url, response.StatusCode, body)
	}
	return nil
}
