package check

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	serveroptions "k8s.io/apiserver/pkg/server/options"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	kubelet "k8s.io/kubelet/config/v1beta1"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	etcdphase "k8s.io/kubernetes/cmd/kubeadm/app/phases/etcd"
	kubeadmconfig "k8s.io/kubernetes/cmd/kubeadm/app/util/config"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/patches"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	kubeletscheme "k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	kubeletvalidation "k8s.io/kubernetes/pkg/kubelet/apis/config/validation"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// kubeadmCodes are the findings for which kubeadm config validate fails. The
// others are about what kubeadm takes and should not.
var kubeadmCodes = []string{
	"kubeadm-old-api", "kubeadm-experimental-api", "kubeadm-args-map", "kubeadm-kind-twice", "kubeadm-invalid",
	"unknown-field", "duplicate-field", "wrong-type", "unknown-kind", "not-decodable", "yaml-syntax",
}

// refuses reports whether we hold that kubeadm refuses a file.
func refuses(findings []finding.Finding) bool {
	return slices.ContainsFunc(findings, func(f finding.Finding) bool {
		return f.Severity == finding.Error && slices.Contains(kubeadmCodes, f.Code)
	})
}

// TestKubeadmAgrees: kubeadm config validate refuses what we say it does, and
// nothing else. The inputs name a version, so that nothing is looked up.
func TestKubeadmAgrees(t *testing.T) {
	const head = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\n"
	const start = "---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nlocalAPIEndpoint: {advertiseAddress: 10.0.0.11}\nnodeRegistration: {name: cp-1}\n"
	texts := map[string]string{
		"plain": head, "with init": head + start,
		"bad subnet":        head + "networking: {podSubnet: 10.0.0.0}\n" + start,
		"small subnet":      head + "networking: {serviceSubnet: 10.0.0.0/31}\n" + start,
		"pods in services":  head + "networking: {podSubnet: 10.96.0.0/24}\n" + start,
		"bad san":           head + "apiServer: {certSANs: [\"a b\"]}\n" + start,
		"bad dir":           head + "certificatesDir: pki\n" + start,
		"gate":              head + "featureGates: {NoSuch: true}\n" + start,
		"known gate":        head + "featureGates: {NodeLocalCRISocket: true}\n" + start,
		"endpoint":          head + "controlPlaneEndpoint: \"a:b:c\"\n" + start,
		"endpoint no port":  head + "controlPlaneEndpoint: api.example.com\n" + start,
		"endpoint ip":       head + "controlPlaneEndpoint: 10.0.0.300:6443\n" + start,
		"image repository":  head + "imageRepository: \"A B\"\n" + start,
		"algorithm":         head + "encryptionAlgorithm: DSA\n" + start,
		"external":          head + "etcd: {external: {endpoints: [\"https://10.0.0.11:2379\"], caFile: a, certFile: b, keyFile: c}}\n" + start,
		"external http":     head + "etcd: {external: {endpoints: [\"http://10.0.0.11:2379\"]}}\n" + start,
		"external empty":    head + "etcd: {external: {endpoints: []}}\n" + start,
		"etcd dir":          head + "etcd: {local: {dataDir: lib}}\n" + start,
		"validity":          head + "certificateValidityPeriod: 999999h\n" + start,
		"dns domain":        head + "networking: {dnsDomain: A_B}\n" + start,
		"unknown group":     head + "---\napiVersion: example.com/v1\nkind: Thing\n",
		"proxy":             head + "---\napiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: nftables\n",
		"proxy unknown":     head + "---\napiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmodes: nftables\n",
		"null":              head + "apiServer: null\n",
		"anchor":            head + "apiServer: {extraArgs: &a [{name: v, value: \"2\"}]}\nscheduler: {extraArgs: *a}\n",
		"merge key":         head + "apiServer: &a {extraArgs: []}\nscheduler: {<<: *a}\n",
		"join":              "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration: {name: cp-2}\ndiscovery: {bootstrapToken: {token: abcdef.0123456789abcdef, apiServerEndpoint: \"10.0.0.11:6443\", unsafeSkipCAVerification: true}}\n",
		"join without ca":   "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration: {name: cp-2}\ndiscovery: {bootstrapToken: {token: abcdef.0123456789abcdef, apiServerEndpoint: \"10.0.0.11:6443\"}}\n",
		"join with nothing": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration: {name: cp-2}\n",
		"join bad token":    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration: {name: cp-2}\ndiscovery: {bootstrapToken: {token: abc, apiServerEndpoint: \"10.0.0.11:6443\", unsafeSkipCAVerification: true}}\n",
		"upgrade":           "apiVersion: kubeadm.k8s.io/v1beta4\nkind: UpgradeConfiguration\napply: {patches: {directory: /a}}\n",
		"upgrade relative":  "apiVersion: kubeadm.k8s.io/v1beta4\nkind: UpgradeConfiguration\nnode: {patches: {directory: a}}\n",
		"reset":             "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ResetConfiguration\nforce: true\n",
		"node name":         head + strings.Replace(start, "name: cp-1", "name: CP 1", 1),
		"socket":            head + strings.Replace(start, "name: cp-1", "name: cp-1, criSocket: \"tcp://a\"", 1),
		"bare socket":       head + strings.Replace(start, "name: cp-1", "name: cp-1, criSocket: /run/a.sock", 1),
		"address":           head + strings.Replace(start, "10.0.0.11", "cp-1", 1),
		"bind port":         head + strings.Replace(start, "10.0.0.11", "10.0.0.11, bindPort: 99999", 1),
		"certificate key":   head + start + "certificateKey: abc\n",
		"bootstrap token":   head + start + "bootstrapTokens: [{token: abcdef.0123456789abcdef, ttl: 1h}]\n",
		"bootstrap usages":  head + start + "bootstrapTokens: [{token: abcdef.0123456789abcdef, usages: [x]}]\n",
		"pull policy":       head + strings.Replace(start, "name: cp-1", "name: cp-1, imagePullPolicy: Sometimes", 1),
		"timeouts":          head + start + "timeouts: {etcdAPICall: 1m}\n",
		"arg of two":        head + "apiServer: {extraArgs: [{name: a, value: b, mergeMethod: append}]}\n",
	}
	for _, root := range []string{ha, tiers} {
		for _, f := range load(t, filepath.Join(good, root)) {
			if base := filepath.Base(f.Path); base == "init.yaml" || base == "upgrade.yaml" {
				texts[root+"/"+base] = string(f.Data)
			}
		}
	}
	names, err := filepath.Glob(inputs + "/[0-9]*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	for _, name := range names {
		texts[filepath.Base(name)] = readFile(t, name)
	}
	for name, text := range texts {
		upstream := kubeadmconfig.ValidateConfig([]byte(text), false, false)
		got := one(newest, "config.yaml", text)
		if refuses(got) == (upstream != nil) {
			continue
		}
		if name == "unknown group" && slices.Contains(brief(got), "5 warning unjudged-document") {
			continue // refused by kubeadm, and a warning here: the document may be for somebody else
		}
		t.Errorf("%s: kubeadm says %v, we say %v", name, upstream, got)
	}
}

// TestEtcdPodIsKubeadms compares the pod that is laid out again with what
// kubeadm's own code makes.
func TestEtcdPodIsKubeadms(t *testing.T) {
	config := defaultCluster()
	config.Etcd.Local = &kubeadmapi.LocalEtcd{
		DataDir:   "/var/lib/etcd",
		ExtraArgs: []kubeadmapi.Arg{{Name: "snapshot-count", Value: "5"}, {Name: "quota-backend-bytes", Value: "9"}},
		ExtraEnvs: []kubeadmapi.EnvVar{{EnvVar: corev1.EnvVar{Name: "GOGC", Value: "100"}}},
	}
	config.KubernetesVersion = "v1.37.2"
	for _, address := range []string{"10.0.0.11", "fd00::1"} {
		endpoint := kubeadmapi.APIEndpoint{AdvertiseAddress: address, BindPort: 6443}
		want := etcdphase.GetEtcdPodSpec(config, &endpoint, placeholderHost, nil)
		got := etcdPod(newest.Kubernetes, config, &endpoint)
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s (-kubeadm +ours):\n%s", address, diff)
		}
		if !strings.HasSuffix(want.Spec.Containers[0].Image, ":"+target.EtcdVersion(newest.Kubernetes)) {
			t.Errorf("kubeadm runs %s, the table says %s", want.Spec.Containers[0].Image, target.EtcdVersion(newest.Kubernetes))
		}
	}
}

// TestPatchNamesAreKubeadms: the target and type that we read from a name are
// those that kubeadm reads.
func TestPatchNamesAreKubeadms(t *testing.T) {
	for name, patched := range map[string]bool{
		"kube-apiserver.yaml": true, "kube-apiserver7.yaml": true, "kube-apiserver+merge.json": true,
		"kube-apiserver.yml": false, "apiserver.yaml": false, "etcd0+strategic.yaml": false, "kube-apiserver0+.yaml": false,
	} {
		dir := t.TempDir()
		patch := "metadata: {annotations: {a: b}}\n"
		if strings.HasSuffix(name, ".json") {
			patch = `{"metadata": {"annotations": {"a": "b"}}}`
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(patch), 0o600); err != nil {
			t.Fatal(err)
		}
		manager, err := patches.GetPatchManagerForPath(dir, patches.KnownTargets(), io.Discard)
		onto := &patches.PatchTarget{Name: "kube-apiserver", StrategicMergePatchObject: corev1.Pod{}, Data: []byte("metadata: {name: x}\n")}
		if err == nil {
			err = manager.ApplyPatchesToTarget(onto)
		}
		if got := err == nil && strings.Contains(string(onto.Data), "annotations"); got != patched {
			t.Errorf("%s: kubeadm patches kube-apiserver with it: %t", name, got)
		}
		c := &checker{target: newest, missing: map[string]bool{}}
		c.addPatch(file.File{Path: "patches/" + name, Data: []byte(patch)})
		if got := len(c.patches) == 1 && c.patches[0].target == "kube-apiserver"; got != patched {
			t.Errorf("%s: we hold that it patches kube-apiserver: %t (%v)", name, got, c.findings)
		}
	}
}

// TestWatchCacheSizesAreUpstreams: what we call a syntax error is one.
func TestWatchCacheSizesAreUpstreams(t *testing.T) {
	for _, item := range []string{
		"leases.coordination.k8s.io#0", "pods#0", "pods#5", "pods", "pods#-1", "pods#x", "pods#0#0", "#0", "", "pods#", " pods#0", "a/b#0",
	} {
		_, err := serveroptions.ParseWatchCacheSizes([]string{item})
		c := &checker{target: newest}
		c.judgeCacheSize(arg{doc: nil}, item)
		refused := slices.ContainsFunc(c.findings, func(f finding.Finding) bool { return f.Code == "watch-cache-size-syntax" })
		if refused != (err != nil) {
			t.Errorf("%q: upstream says %v, we say %v", item, err, c.findings)
		}
	}
}

// TestDefaultsParse: the value that a program has by itself is one that we
// take, for every flag of every version, whose text is a scalar's.
func TestDefaultsParse(t *testing.T) {
	t.Parallel()
	for _, v := range target.Minors() {
		for _, component := range target.Components {
			table, ok := target.Flags(v, component)
			if !ok {
				t.Fatalf("%s: no flags of %s", v, component)
			}
			for _, name := range table.Names() {
				f, _ := table.Find(name)
				if f.Default == "" || f.Default == "<nil>" || strings.HasPrefix(f.Default, "[") {
					continue
				}
				if err := parseValue(f.Type, f.Default); err != nil {
					t.Errorf("%s %s --%s: %s %q: %v", v, component, name, f.Type, f.Default, err)
				}
			}
		}
	}
}

// TestKubeletConfigurationsAreValid runs the kubelet's own validation over the
// good files, since package check only decodes them.
func TestKubeletConfigurationsAreValid(t *testing.T) {
	_, codecs, err := kubeletscheme.NewSchemeAndCodecs()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, root := range []string{ha, tiers, static} {
		for _, f := range load(t, filepath.Join(good, root)) {
			c := &checker{target: newest, missing: map[string]bool{}}
			if !isYAML(f) {
				continue
			}
			for _, d := range c.read(f) {
				if d.kind != "KubeletConfiguration" {
					continue
				}
				tried++
				object, _, err := codecs.UniversalDecoder().Decode(d.bytes(), nil, nil)
				if err != nil {
					t.Fatalf("%s: %v", f.Path, err)
				}
				config, ok := object.(*kubeletconfig.KubeletConfiguration)
				if !ok {
					t.Fatalf("%s: %T", f.Path, object)
				}
				config.FailCgroupV1 = false // about the host that validates
				if config.ContainerRuntimeEndpoint == "" {
					config.ContainerRuntimeEndpoint = "unix:///run/containerd/containerd.sock" // kubeadm gives it
				}
				if err := kubeletvalidation.ValidateKubeletConfiguration(config, utilfeature.DefaultFeatureGate); err != nil {
					t.Errorf("%s: %v", f.Path, err)
				}
			}
		}
	}
	if tried == 0 {
		t.Error("no KubeletConfiguration among the good files")
	}
}

// TestKubeletRulesAreUpstreams: what we refuse of a kubelet's fields it refuses.
func TestKubeletRulesAreUpstreams(t *testing.T) {
	scheme, _, err := kubeletscheme.NewSchemeAndCodecs()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*kubeletconfig.KubeletConfiguration){
		"nodeLeaseDurationSeconds": func(c *kubeletconfig.KubeletConfiguration) { c.NodeLeaseDurationSeconds = -5 },
		"kubeAPIQPS":               func(c *kubeletconfig.KubeletConfiguration) { c.KubeAPIQPS = -1 },
		"kubeAPIBurst":             func(c *kubeletconfig.KubeletConfiguration) { c.KubeAPIBurst = -1 },
		"eventRecordQPS":           func(c *kubeletconfig.KubeletConfiguration) { c.EventRecordQPS = -1 },
		"eventBurst":               func(c *kubeletconfig.KubeletConfiguration) { c.EventBurst = -1 },
		"maxPods":                  func(c *kubeletconfig.KubeletConfiguration) { c.MaxPods = -1 },
	} {
		external := &kubelet.KubeletConfiguration{}
		scheme.Default(external)
		config := &kubeletconfig.KubeletConfiguration{}
		if err := scheme.Convert(external, config, nil); err != nil {
			t.Fatal(err)
		}
		config.ContainerRuntimeEndpoint, config.FailCgroupV1 = "unix:///a.sock", false
		if err := kubeletvalidation.ValidateKubeletConfiguration(config, utilfeature.DefaultFeatureGate); err != nil {
			t.Fatalf("the defaults are refused: %v", err)
		}
		change(config)
		if err := kubeletvalidation.ValidateKubeletConfiguration(config, utilfeature.DefaultFeatureGate); err == nil {
			t.Errorf("upstream takes a negative %s", name)
		}
		if got := one(newest, "k.yaml", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"+name+": -1\n"); !finding.AtLeast(got, finding.Error) {
			t.Errorf("we take a negative %s", name)
		}
	}
}
