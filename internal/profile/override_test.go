package profile

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/finding"
)

// TestOverride replaces versions and platform of a file: what Validate then
// says is about what will be rendered, and names the flag where a flag is to
// blame.
func TestOverride(t *testing.T) {
	const old = "name: a\nkubernetes: \"1.35\"\nnodes: {count: 10}\nplatform: {kind: kops, kops: {version: 1.35.2, cloud: gce}}\n"
	const plain = "name: a\nnodes: {count: 10, statusUpdateSeconds: 10}\n"
	cases := []struct {
		name, text       string
		o                Override
		kubernetes, kops string
		want             string // findings, one on a line
	}{
		{"nothing", old, Override{}, "1.35", "1.35.2 gce", ""},
		{"another platform", old, Override{Platform: "kubeadm"}, "1.35", "", ""},
		{"kOps brings its minor", plain, Override{Platform: "kops"}, "1.36", "1.36.2 aws",
			"kubernetes-lowered-for-kops status-report-follows-update"},
		{"an older kOps brings its minor", old, Override{KopsVersion: "1.34.1"}, "1.34", "1.34.1 gce", "kubernetes-lowered-for-kops"},
		{"both asked for", plain, Override{Platform: "kops", Kubernetes: "1.35", Cloud: "gce"}, "1.35", "1.36.2 gce",
			"status-report-follows-update"},
		{"contradiction", plain, Override{Platform: "kops", Kubernetes: "1.37"}, "1.37", "1.36.2 aws",
			"status-report-follows-update kops-older-than-kubernetes"},
		{"unknown version", plain, Override{Kubernetes: "1.99"}, "1.99", "",
			"--kubernetes:kubernetes-unsupported status-report-follows-update"},
		{"unknown platform", plain, Override{Platform: "podman"}, "1.37", "",
			"--target:profile-not-one-of status-report-follows-update"},
		{"unknown cloud", old, Override{Cloud: "moon"}, "1.35", "1.35.2 moon", "--cloud:profile-not-one-of"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			loaded, found := loadFiles(t, map[string]string{"/w/p.yaml": c.text}, Options{Path: "p.yaml", Override: c.o})
			if len(loaded) != 1 {
				t.Fatal(lines(found))
			}
			p := loaded[0].Profile
			var kops string
			if k := p.Platform.Kops; k != nil {
				kops = k.Version + " " + k.Cloud
			}
			if p.Kubernetes != c.kubernetes || kops != c.kops {
				t.Errorf("Kubernetes %q on %q, want %q on %q", p.Kubernetes, kops, c.kubernetes, c.kops)
			}
			var codes []string
			for _, f := range loaded[0].Findings {
				code := f.Code
				if strings.HasPrefix(f.File, "--") {
					code = f.File + ":" + code
				}
				codes = append(codes, code)
			}
			slices.Sort(codes)
			want := strings.Fields(c.want)
			slices.Sort(want)
			if !slices.Equal(codes, want) {
				t.Errorf("findings %v, want %v\n%s", codes, want, lines(loaded[0].Findings))
			}
			for _, f := range loaded[0].Findings {
				if !slices.Contains(found, f) {
					t.Errorf("Load does not tell %s", f)
				}
			}
		})
	}
}

// TestOverrideKeepsDigest holds the digest to what the file says.
func TestOverrideKeepsDigest(t *testing.T) {
	files := map[string]string{"/w/p.yaml": "name: a\nnodes: {count: 10}\n"}
	as, _ := loadFiles(t, files, Options{Path: "p.yaml"})
	bs, _ := loadFiles(t, files, Options{Path: "p.yaml", Override: Override{Platform: "kops"}})
	if as[0].Digest != bs[0].Digest {
		t.Error("the digest changes with what is put over the profile")
	}
}

// TestOverrideFollowsSchema compares what Override knows of kOps with the schema.
func TestOverrideFollowsSchema(t *testing.T) {
	loaded, found := loadText(t, YAML, "name: a\nnodes: {count: 10}\nplatform: {kind: kops}\n")
	if len(loaded) != 1 || finding.AtLeast(found, finding.Error) {
		t.Fatal(lines(found))
	}
	if k := loaded[0].Profile.Platform.Kops; k.Version != defaultKopsVersion || k.Cloud != defaultCloud {
		t.Errorf("the schema's defaults are %+v, Override's %s and %s", k, defaultKopsVersion, defaultCloud)
	}
	for _, cloud := range append(slices.Clone(clouds), "moon") {
		_, found := loadText(t, YAML, "name: a\nnodes: {count: 10}\nplatform: {kind: kops, kops: {cloud: "+cloud+"}}\n")
		if refused := finding.AtLeast(found, finding.Error); refused != (cloud == "moon") {
			t.Errorf("%s: refused %v\n%s", cloud, refused, lines(found))
		}
	}
}
