package cluster

import (
	"context"
	"fmt"
	"maps"
	"net"
	"path"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/scrape"
)

// view is what of a cluster can be looked at.
type view struct {
	seen []prove.Seen
	// unseen says why, by the prefix of the figures: "store", "apiserver.main".
	unseen map[string]string
	// remarks name what was seen in part.
	remarks []string
}

// reach is how long one look at metrics may take to find out whether they are
// to be had.
const reach = 5 * time.Second

// lookAround finds the metrics that can be had: of the apiservers directly, of
// the rest by the apiserver's proxy to Pods, and of what the user named.
func lookAround(ctx context.Context, config *rest.Config, s *survey, named map[string]string) (*view, error) {
	v := &view{unseen: map[string]string{}}
	for _, prefix := range slices.Sorted(maps.Keys(named)) {
		source, err := scrape.NewSource(prefix, strings.TrimSuffix(named[prefix], "/metrics"), nil)
		if err == nil {
			err = answers(ctx, source)
		}
		if err != nil {
			return nil, fmt.Errorf("metrics of %s: %w", prefix, err)
		}
		v.seen = append(v.seen, prove.Seen{Prefix: prefix, Source: source})
	}
	if err := v.apiservers(ctx, config, s); err != nil {
		return nil, err
	}
	for _, p := range s.control {
		v.pod(ctx, config, p)
	}
	if !slices.ContainsFunc(v.seen, func(x prove.Seen) bool { return strings.HasPrefix(x.Prefix, "store.") }) && v.unseen["store"] == "" {
		v.unseen["store"] = "no etcd runs as a Pod of kube-system; --metrics store.main=URL tells where its metrics are"
	}
	return v, ctx.Err()
}

func answers(ctx context.Context, s *scrape.Source) error {
	ctx, cancel := context.WithTimeout(ctx, reach)
	defer cancel()
	_, err := s.Scrape(ctx)
	return err
}

// has reports whether the user named metrics of that prefix.
func (v *view) has(prefix string) bool {
	return slices.ContainsFunc(v.seen, func(x prove.Seen) bool { return x.Prefix == prefix })
}

// oneApiserver begins the figures of the only apiserver of several that is
// seen: they are not those of the tier.
const oneApiserver = "apiserver.one"

// apiservers sees each behind the kubernetes Service, or the one that the
// kubeconfig leads to. Behind a load balancer a connection stays with one
// process; its start time would show a change.
func (v *view) apiservers(ctx context.Context, config *rest.Config, s *survey) error {
	if v.has("apiserver.main") {
		return nil
	}
	count := max(s.apiservers, len(s.endpoints))
	var direct []prove.Seen
	for _, endpoint := range s.endpoints {
		c := rest.CopyConfig(config)
		c.Host, c.ServerName = "https://"+endpoint, "kubernetes.default.svc"
		c.Dial = (&net.Dialer{Timeout: reach}).DialContext
		source, err := scrape.NewSource("apiserver at "+endpoint, c.Host, c)
		if err == nil && answers(ctx, source) == nil {
			direct = append(direct, prove.Seen{Prefix: "apiserver.main", Source: source})
		}
	}
	if len(direct) >= count && count > 0 {
		v.seen = append(v.seen, direct...)
		return nil
	}
	host, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return err
	}
	source, err := scrape.NewSource("apiserver at "+host.Host, host.String(), config)
	if err != nil {
		return err
	}
	if err := answers(ctx, source); err != nil {
		v.unseen["apiserver"] = fmt.Sprintf("no apiserver tells its metrics (%v)", err)
		return nil
	}
	if count <= 1 {
		v.seen = append(v.seen, prove.Seen{Prefix: "apiserver.main", Source: source})
		return nil
	}
	v.seen = append(v.seen, prove.Seen{Prefix: oneApiserver, Source: source})
	v.unseen["apiserver"] = fmt.Sprintf("%d of %d apiservers are reached one by one; what one of them says is under %s", len(direct), count, oneApiserver)
	return nil
}

// pod tries a Pod of the control plane by the apiserver's proxy, which passes no
// identity on: what wants one stays unseen.
func (v *view) pod(ctx context.Context, config *rest.Config, p core.Pod) {
	if len(p.Spec.Containers) == 0 {
		return
	}
	command := slices.Concat(p.Spec.Containers[0].Command, p.Spec.Containers[0].Args)
	program := ""
	if len(command) > 0 {
		program = path.Base(command[0])
	}
	prefix, scheme, port := "", "https", ""
	switch program {
	case "etcd":
		store := storeOf(p)
		prefix, scheme = "store."+store, "http"
		var why string
		if port, why = metricsPort(command); port == "" {
			v.miss("store", "the etcd of Pod "+p.Name+" "+why+"; --metrics "+prefix+"=URL tells where they can be had")
			return
		}
	case "kube-controller-manager":
		prefix, port = "component.controller-manager", "10257"
	case "kube-scheduler":
		prefix, port = "component.scheduler", "10259"
	default:
		return
	}
	host, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return
	}
	base := host.JoinPath("api/v1/namespaces", p.Namespace, "pods", scheme+":"+p.Name+":"+port, "proxy").String()
	source, err := scrape.NewSource(p.Name, base, config)
	if err == nil {
		err = answers(ctx, source)
	}
	if err != nil {
		v.miss(strings.SplitN(prefix, ".", 2)[0], fmt.Sprintf("%s does not tell its metrics through the apiserver (%v)", p.Name, err))
		return
	}
	v.seen = append(v.seen, prove.Seen{Prefix: prefix, Source: source})
}

func (v *view) miss(prefix, why string) {
	if v.unseen[prefix] != "" {
		why = v.unseen[prefix] + "; " + why
	}
	v.unseen[prefix] = why
}

// storeOf names the store of an etcd's Pod: main for etcd, NAME for etcd-NAME.
// The Pod of a manifest is called after its node as well.
func storeOf(p core.Pod) string {
	name := strings.TrimSuffix(p.Name, "-"+p.Spec.NodeName)
	if rest, ok := strings.CutPrefix(name, "etcd-"); ok {
		return rest
	}
	return "main"
}

// metricsPort is the port of an etcd's metrics without TLS, or why they cannot
// be had by a proxy.
func metricsPort(command []string) (port, why string) {
	for i, arg := range command {
		value, ok := strings.CutPrefix(arg, "--listen-metrics-urls=")
		if !ok && arg == "--listen-metrics-urls" && i+1 < len(command) {
			value, ok = command[i+1], true
		}
		if !ok {
			continue
		}
		for _, url := range strings.Split(value, ",") {
			host, p, err := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
			if err == nil && strings.HasPrefix(url, "http://") && !net.ParseIP(host).IsLoopback() && host != "localhost" {
				return p, ""
			}
		}
		return "", "tells its metrics at " + value + " only"
	}
	return "", "tells its metrics to its clients only"
}

// why a figure is not seen.
func (v *view) why(metric string) string {
	for _, prefix := range slices.Sorted(maps.Keys(v.unseen)) {
		if strings.HasPrefix(metric, prefix+".") || metric == "resident-copies" && prefix == "apiserver" {
			return v.unseen[prefix]
		}
	}
	return "nothing in the cluster told it"
}

// told are the remarks about everything that is not seen.
func (v *view) told() []string {
	all := slices.Clone(v.remarks)
	for _, prefix := range slices.Sorted(maps.Keys(v.unseen)) {
		all = append(all, "figures of "+prefix+" are not seen: "+v.unseen[prefix])
	}
	return all
}
