package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/generators/aggregated"
	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/pki"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

// tier is what the rig takes from the files of one aggregated tier.
type tier struct {
	plan.AggregatedTier
	// kubeconfigs are the rendered ones, and user whom they name.
	kubeconfigs []file.File
	user        string
	// rendered are the APIServices among the files.
	rendered []schema.GroupVersion
}

// The reasons for changes of what belongs to tiers.
const (
	whyOwnServer = "there is no load balancer here: a server talks to the apiserver of its host"
	whyExternal  = "EndpointSlices may not hold addresses on loopback"
)

// tiersOf reads the tiers of rendered files.
func tiersOf(files []file.File) ([]tier, error) {
	var tiers []tier
	for _, f := range files {
		parts := strings.Split(f.Path, "/")
		if len(parts) != 3 || parts[0] != aggregated.Dir || parts[2] != aggregated.ObjectsFile {
			continue
		}
		t := tier{AggregatedTier: plan.AggregatedTier{Name: parts[1], Store: parts[1], Form: plan.StaticForm}}
		if err := t.read(files); err != nil {
			return nil, fmt.Errorf("%s: %w", path.Dir(f.Path), err)
		}
		tiers = append(tiers, t)
	}
	return tiers, nil
}

// read takes in the files of a tier's directory.
func (t *tier) read(files []file.File) error {
	for _, f := range files {
		dir, name := path.Split(f.Path)
		if dir != aggregated.Dir+"/"+t.Name+"/" {
			continue
		}
		switch {
		case name == aggregated.WorkloadFile:
			return errors.New("a tier of workloads needs a scheduler and nodes: the rig runs the static form")
		case slices.Contains(controlplane.AggregatedKubeconfigs, name):
			config, err := kubeconfigOf(f)
			if err != nil {
				return err
			}
			t.kubeconfigs, t.user = append(t.kubeconfigs, f), config.AuthInfos[0].Name
			if name != controlplane.AggregatedKubeconfig {
				t.Server = target.KubeAPIServer
			}
		case name == aggregated.ObjectsFile, name == aggregated.APIServicesFile:
			objects, err := objectsOf(f)
			if err != nil {
				return err
			}
			for _, o := range objects {
				t.take(o)
			}
		}
	}
	if t.Service == "" || t.user == "" {
		return errors.New("no Service or no kubeconfig in it")
	}
	return nil
}

// take learns from an object what the tier is called and what it serves.
func (t *tier) take(o *unstructured.Unstructured) {
	text := func(fields ...string) string {
		s, _, _ := unstructured.NestedString(o.Object, fields...)
		return s
	}
	switch o.GetKind() {
	case "Service":
		t.Service, t.Namespace = o.GetName(), o.GetNamespace()
		ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
		for _, p := range ports {
			if fields, ok := p.(map[string]any); ok {
				if n, ok := fields["port"].(int64); ok {
					t.Port = int(n)
				}
			}
		}
	case "FlowSchema":
		rules, _, _ := unstructured.NestedSlice(o.Object, "spec", "rules")
		for _, r := range rules {
			resources, _, _ := unstructured.NestedSlice(r.(map[string]any), "resourceRules")
			for _, x := range resources {
				groups, _, _ := unstructured.NestedStringSlice(x.(map[string]any), "apiGroups")
				t.Groups = append(t.Groups, groups...)
			}
		}
	case "APIService":
		t.rendered = append(t.rendered, schema.GroupVersion{Group: text("spec", "group"), Version: text("spec", "version")})
	}
}

// objectsOf are the documents of a file.
func objectsOf(f file.File) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	docs := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(f.Data), 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := docs.Decode(&o.Object); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		if len(o.Object) > 0 {
			// Numbers come as upstream's clients have them.
			data, err := o.MarshalJSON()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Path, err)
			}
			if err := o.UnmarshalJSON(data); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Path, err)
			}
			all = append(all, o)
		}
	}
}

// tierCredentials puts the keys of tiers where the manifests of a host expect
// them, as their pki.sh would.
func (r *Rig) tierCredentials(h Host, server string) error {
	if len(r.tiers) == 0 {
		return nil
	}
	m := r.mapping(h.Name)
	var files []file.File
	for _, t := range r.tiers {
		dir := aggregated.Dir + "/" + t.Name
		certs := []plan.Certificate{
			{Path: dir + "/server", CA: plan.AggregatedCA, CN: t.DNSName(), Usages: []string{"server"}, SANs: []string{t.DNSName(), h.Address}},
			{Path: dir + "/etcd-client", CA: plan.AggregatedEtcdCA, CN: t.Name, Usages: []string{"client"}},
			{Path: dir + "/client", CA: pki.CA, CN: t.user, Usages: []string{"client"}},
		}
		made, err := r.pki.Files(certs)
		if err != nil {
			return err
		}
		files = append(files, made...)
		for _, f := range t.kubeconfigs {
			config, err := configFor(f, m, server)
			if err != nil {
				return err
			}
			files = append(files, file.File{Path: f.Path, Data: config, Mode: 0o600})
		}
		if t.Second() {
			pair, err := pki.ServiceAccountKey()
			if err != nil {
				return err
			}
			files = append(files, file.File{Path: dir + "/" + controlplane.ServiceAccountKey, Data: pair.Key, Mode: 0o600})
		}
	}
	var bundle []byte
	for _, name := range []string{pki.EtcdCA, plan.AggregatedEtcdCA} {
		a, err := r.pki.Authority(name)
		if err != nil {
			return err
		}
		bundle = append(bundle, a.Cert...)
	}
	files = append(files, file.File{Path: plan.AggregatedEtcdClients + ".crt", Data: bundle})
	return pki.Write(filepath.Join(r.dir, h.Name, "etc", "kubernetes", "pki"), files)
}

// kubeconfigOf reads a rendered kubeconfig of a tier.
func kubeconfigOf(f file.File) (*clientcmdapi.Config, error) {
	config := &clientcmdapi.Config{}
	if err := sigsyaml.UnmarshalStrict(f.Data, config); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	if len(config.AuthInfos) != 1 || len(config.Clusters) != 1 {
		return nil, fmt.Errorf("%s: it does not have one cluster and one user", f.Path)
	}
	return config, nil
}

// configFor is a rendered kubeconfig with this machine's paths and server; what
// stands behind the server's address stays.
func configFor(f file.File, m mapping, server string) ([]byte, error) {
	config, err := kubeconfigOf(f)
	if err != nil {
		return nil, err
	}
	cluster, user := &config.Clusters[0].Cluster, &config.AuthInfos[0].AuthInfo
	rendered, err := url.Parse(cluster.Server)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	cluster.Server, cluster.CertificateAuthority = server+rendered.Path, m.onHost(cluster.CertificateAuthority)
	user.ClientCertificate, user.ClientKey = m.onHost(user.ClientCertificate), m.onHost(user.ClientKey)
	return sigsyaml.Marshal(config)
}

// Tiers are the names of the aggregated tiers, in the order of the files. The
// processes of a tier are aggregated-NAME@HOST, its store has its name.
func (r *Rig) Tiers() []string {
	var names []string
	for _, t := range r.tiers {
		names = append(names, t.Name)
	}
	return names
}

// TierOf is the tier that serves a group; ok is false when none does.
func (r *Rig) TierOf(group string) (name string, ok bool) {
	for _, t := range r.tiers {
		if slices.Contains(t.Groups, group) {
			return t.Name, true
		}
	}
	return "", false
}

// TierServers are the servers of a tier, by host.
func (r *Rig) TierServers(name string) []*Process {
	var servers []*Process
	for _, p := range r.Processes() {
		if name != "" && p.Tier == name {
			servers = append(servers, p)
		}
	}
	return servers
}

// tierOfPod is the tier whose server a pod is; empty when it is none's.
func (r *Rig) tierOfPod(pod string) string {
	for _, t := range r.tiers {
		if t.ServerName() == pod {
			return t.Name
		}
	}
	return ""
}

// tierIndex is where a tier stands among the rig's; -1 for none.
func (r *Rig) tierIndex(name string) int {
	return slices.IndexFunc(r.tiers, func(t tier) bool { return t.Name == name })
}

// prepareTiers has kube-apiserver know the tiers' servers before they start:
// they end when they may not read how the front proxy shows itself.
func (r *Rig) prepareTiers(ctx context.Context) error {
	if len(r.tiers) == 0 {
		return nil
	}
	var files []file.File
	for _, f := range r.options.Files {
		if strings.HasPrefix(f.Path, aggregated.Dir+"/") && path.Base(f.Path) == aggregated.ObjectsFile {
			files = append(files, f)
		}
	}
	// Those that all tiers share stand one level up, and come first.
	slices.SortStableFunc(files, func(a, b file.File) int { return strings.Count(a.Path, "/") - strings.Count(b.Path, "/") })
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return r.Apply(ctx, files...)
}
