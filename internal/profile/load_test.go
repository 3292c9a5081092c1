package profile

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFormatsAgree writes one profile in every format and expects one digest.
func TestFormatsAgree(t *testing.T) {
	texts := map[Format]string{
		YAML: `
			name: x
			nodes: {count: 3000, targetCount: 5e3}
			churn:
			  resources:
			    - &r {group: a.example.dev, resource: things, objectBytes: 0x400, updatesPerSecond: 2.5}
			    - {<<: *r, resource: others}
		`,
		JSON: `{"name": "x", "nodes": {"count": 3000.0, "targetCount": 5e3}, "churn": {"resources": [
			{"group": "a.example.dev", "resource": "things", "objectBytes": 1024, "updatesPerSecond": 2.5},
			{"group": "a.example.dev", "resource": "others", "objectBytes": 1024, "updatesPerSecond": 2.5}]}}`,
		Jsonnet: `
			local r(name) = {group: 'a.example.dev', resource: name, objectBytes: 1024, updatesPerSecond: 5 / 2};
			{name: 'x', nodes: {count: 3000, targetCount: 5 * 1000}, churn: {resources: [r('things'), r('others')]}}
		`,
		CUE: `
			import "github.com/kubeseams/seams/schemas"
			schemas.#Profile
			name: "x"
			nodes: {count: 3000, targetCount: 5000}
			churn: resources: [for r in ["things", "others"] {group: "a.example.dev", resource: r, objectBytes: 1Ki, updatesPerSecond: 2.5}]
		`,
	}
	digests := map[string][]Format{}
	for format, text := range texts {
		got, found := loadText(t, format, strings.TrimSpace(strings.ReplaceAll(text, "\n\t\t\t", "\n")))
		if len(got) != 1 || len(found) > 0 {
			t.Fatalf("%s: %d profiles\n%s", format, len(got), lines(found))
		}
		digests[got[0].Digest] = append(digests[got[0].Digest], format)
	}
	if len(digests) != 1 {
		t.Errorf("the formats disagree: %v", digests)
	}
}

// TestSources checks how one input can hold several profiles, and where they
// are looked for in CUE.
func TestSources(t *testing.T) {
	const head = "import \"github.com/kubeseams/seams/schemas\"\n"
	tests := map[string]struct {
		path   string
		files  map[string]string
		stdin  string
		format Format
		sel    string
		want   []string // SOURCE: NAME
	}{
		"YAML documents": {path: "f.yaml", files: map[string]string{"/w/f.yaml": "---\nname: a\nnodes: {count: 1}\n---\n# nothing\n---\nname: b\nnodes: {count: 2}\n"},
			want: []string{"f.yaml (document 1): a", "f.yaml (document 2): b"}},
		"JSON documents":   {path: "f.json", files: map[string]string{"/w/f.json": `{"name":"a","nodes":{"count":1}} {"name":"b","nodes":{"count":2}}`}, want: []string{"f.json (document 1): a", "f.json (document 2): b"}},
		"a parent's file":  {path: "../f.yml", files: map[string]string{"/f.yml": "name: a\nnodes: {count: 1}\n"}, want: []string{"../f.yml: a"}},
		"an absolute path": {path: "/x/f.yml", files: map[string]string{"/x/f.yml": "name: a\nnodes: {count: 1}\n"}, want: []string{"/x/f.yml: a"}},
		"byte order mark":  {path: "f.json", files: map[string]string{"/w/f.json": "\uFEFF{\"name\":\"a\",\"nodes\":{\"count\":1}}"}, want: []string{"f.json: a"}},

		"CUE without import":                  {path: "f.cue", files: map[string]string{"/w/f.cue": "name: \"a\"\nnodes: count: 1\n"}, want: []string{"f.cue: a"}},
		"CUE field":                           {path: "f.cue", files: map[string]string{"/w/f.cue": head + "profile: schemas.#Profile & {name: \"a\", nodes: count: 1}\n"}, want: []string{"f.cue: a"}},
		"CUE fields":                          {path: "f.cue", files: map[string]string{"/w/f.cue": "east: {name: \"a\", nodes: count: 1}\n\"we-st\": {name: \"b\", nodes: count: 1}\n"}, want: []string{"f.cue (east): a", "f.cue (we-st): b"}},
		"CUE field of a profile's field name": {path: "f.cue", files: map[string]string{"/w/f.cue": "platform: {name: \"a\", nodes: count: 1}\n"}, want: []string{"f.cue: a"}},
		"CUE definition":                      {path: "f.cue", files: map[string]string{"/w/f.cue": head + "#A: {schemas.#Profile, name: \"a\", nodes: count: 1}\n"}, want: []string{"f.cue: a"}},
		"CUE selection":                       {path: "f.cue", sel: "clusters.east", files: map[string]string{"/w/f.cue": "clusters: east: {name: \"a\", nodes: count: 1}\nother: 3\n"}, want: []string{"f.cue: a"}},
		"YAML selection":                      {path: "f.yaml", sel: "clusters[1]", files: map[string]string{"/w/f.yaml": "clusters:\n- 3\n- {name: a, nodes: {count: 1}}\n"}, want: []string{"f.yaml: a"}},
		"CUE package": {path: "d", files: map[string]string{
			"/w/d/a.cue": "package d\nname: \"a\"\n", "/w/d/b.cue": "package d\nnodes: count: _n\n_n: 4\n",
			"/w/d/c_tool.cue": "package d\nname: 7\n", "/w/d/.d.cue": "x", "/w/d/e.txt": "x"}, want: []string{"d: a"}},

		"stdin YAML":    {path: "-", stdin: "name: a\nnodes: {count: 1}\n", want: []string{"stdin: a"}},
		"stdin JSON":    {path: "-", stdin: " {\n \"name\": \"a\", \"nodes\": {\"count\": 1}}", want: []string{"stdin: a"}},
		"stdin CUE":     {path: "-", stdin: head + "schemas.#Profile & {name: \"a\", nodes: count: 1}\n", want: []string{"stdin: a"}},
		"stdin CUE 2":   {path: "-", stdin: "// A comment.\nname: \"a\"\nnodes: count: 1\n", want: []string{"stdin: a"}},
		"stdin Jsonnet": {path: "-", stdin: "local n = 1;\n{name: 'a', nodes: {count: n}}", want: []string{"stdin: a"}},
		"stdin named":   {path: "-", format: CUE, stdin: "name: \"a\", nodes: count: 1", want: []string{"stdin: a"}},
		"no extension":  {path: "/dev/fd/63", files: map[string]string{"/dev/fd/63": "name: a\nnodes: {count: 1}\n"}, want: []string{"/dev/fd/63: a"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := loadFiles(t, test.files, Options{Path: test.path, Stdin: strings.NewReader(test.stdin), Format: test.format, Select: test.sel})
			var names []string
			for _, p := range got {
				names = append(names, p.Source+": "+p.Profile.Name)
			}
			if diff := cmp.Diff(test.want, names); diff != "" || len(found) > 0 {
				t.Errorf("profiles (-want +got):\n%sfindings:\n%s", diff, lines(found))
			}
		})
	}
}

// TestDefaults pins the profile that the least input gives.
func TestDefaults(t *testing.T) {
	got, found := loadText(t, YAML, "name: x\nnodes: {count: 7}\ncontrolPlane:\n  endpoint: lb:1\n  hosts: [{name: a, address: 10.0.0.1}, {name: b, address: 10.0.0.2}, {name: c, address: 'fd00::1'}]\n")
	if len(got) != 1 || len(found) > 0 {
		t.Fatal(lines(found))
	}
	want := &Profile{
		Name: "x", Kubernetes: "1.37", Platform: Platform{Kind: "kubeadm"},
		Nodes: Nodes{Count: 7, LeaseDurationSeconds: 40, MonitorGraceSeconds: 50, NodeBytes: 20000, PodsPerNode: 30, PodBytes: 5000, WatchesPerNode: 18},
		Churn: Churn{Resources: []ChurnResource{}, Events: Events{Bytes: 900, TTLSeconds: 3600}, LeaderElections: 2},
		State: State{Resources: []StateResource{}, RBACObjects: 200},
		ControlPlane: ControlPlane{
			Endpoint: "lb:1", Hosts: []Host{{"a", "10.0.0.1"}, {"b", "10.0.0.2"}, {"c", "fd00::1"}}, Apiservers: 3, CPU: 16, MemoryGiB: 64,
			Disk: "ssd", EtcdDisks: 1, EtcdQuotaGiB: 2,
			Network: Network{PodCIDR: "10.128.0.0/9", ServiceCIDR: "10.96.0.0/12", NodeMaskSize: 24},
		},
	}
	if diff := cmp.Diff(want, got[0].Profile); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}

	got, found = loadText(t, YAML, "name: x\nnodes: {count: 7}\nplatform: {kind: kops}\n")
	if len(got) != 1 || len(found) > 0 {
		t.Fatal(lines(found))
	}
	p := got[0].Profile
	if diff := cmp.Diff(Platform{"kops", &Kops{Version: "1.36.2", Cloud: "aws"}}, p.Platform); diff != "" || p.Kubernetes != "1.36" || p.ControlPlane.Apiservers != 1 {
		t.Errorf("kOps defaults: Kubernetes %s, %d apiservers (-want +got):\n%s", p.Kubernetes, p.ControlPlane.Apiservers, diff)
	}
}

// TestLoadErrors checks what is no fault of a profile's text.
func TestLoadErrors(t *testing.T) {
	l := memoryLoader(map[string]string{"/w/d/a.cue": "name: 3", "/w/a.yaml": "name: x"})
	tests := map[string]Options{
		"open missing.yaml: file does not exist":                 {Path: "missing.yaml"},
		"no profile was named":                                   {},
		`unknown format "toml": want cue, yaml, json or jsonnet`: {Path: "a.yaml", Format: "toml"},
		"d is a directory: only a CUE package can be one":        {Path: "d", Format: JSON},
		`"-" reads standard input, and there is none`:            {Path: "-"},
	}
	for want, o := range tests {
		if _, _, err := l.Load(context.Background(), o); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := l.Load(ctx, Options{Path: "a.yaml"}); err == nil {
		t.Error("a cancelled load had no error")
	}
}
