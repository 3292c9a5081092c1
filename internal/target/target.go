// Package target is the version contract: which Kubernetes, which installer,
// and one named predicate for every behaviour that differs between them. No
// generator compares a minor; it asks a predicate.
package target

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/pattern"
)

// Version is major.minor.patch; the patch is -1 when only a minor was given.
type Version struct {
	Major, Minor, Patch int
}

var versionPattern = pattern.Of(`^v?(\d+)\.(\d+)(?:\.(\d+))?$`)

// ParseVersion reads "1.37", "1.37.2" or "v1.37.2".
func ParseVersion(s string) (Version, error) {
	m := versionPattern().FindStringSubmatch(s)
	if m == nil {
		return Version{}, fmt.Errorf("version %q: want MAJOR.MINOR or MAJOR.MINOR.PATCH", s)
	}
	v := Version{Patch: -1}
	for i, field := range []*int{&v.Major, &v.Minor, &v.Patch} {
		if m[i+1] == "" {
			continue
		}
		n, err := strconv.Atoi(m[i+1])
		if err != nil {
			return Version{}, fmt.Errorf("version %q: %s is out of range", s, m[i+1])
		}
		*field = n
	}
	return v, nil
}

// String writes MAJOR.MINOR or MAJOR.MINOR.PATCH.
func (v Version) String() string {
	if v.Patch < 0 {
		return v.Line()
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// Line writes MAJOR.MINOR.
func (v Version) Line() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// IsZero reports whether no version was given.
func (v Version) IsZero() bool { return v == Version{} }

// MarshalText writes the version as text.
func (v Version) MarshalText() ([]byte, error) {
	if v.IsZero() {
		return nil, nil
	}
	return []byte(v.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (v *Version) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*v = Version{}
		return nil
	}
	*v, err = ParseVersion(string(text))
	return err
}

func (v Version) atLeast(minor int) bool { return v.Major > 1 || v.Major == 1 && v.Minor >= minor }

// Platform is who installs the control plane.
type Platform string

// The platforms a recipe can be rendered for.
const (
	Kubeadm   Platform = "kubeadm"
	Kops      Platform = "kops"
	Kind      Platform = "kind"
	StaticPod Platform = "staticpod"
)

// Platforms lists them in the order they are shown.
var Platforms = []Platform{Kubeadm, Kops, Kind, StaticPod}

// Target is what is being rendered for.
type Target struct {
	Kubernetes Version  `json:"kubernetes"`
	Platform   Platform `json:"platform"`
	// Kops and Cloud are set on platform kops.
	Kops  Version `json:"kops,omitzero"`
	Cloud string  `json:"cloud,omitempty"`
	// DNSNone is kOps' topology.dns.type None.
	DNSNone bool `json:"dnsNone,omitempty"`
}

// MinKubernetes and MaxKubernetes bound the supported minors.
const (
	MinKubernetes = 34
	MaxKubernetes = 37
)

// patches are the newest patch releases known for each supported minor; a
// target that names only a minor gets these.
var patches = map[int]int{34: 4, 35: 4, 36: 3, 37: 2}

// Minors lists the supported Kubernetes minors, oldest first.
func Minors() []Version {
	var vs []Version
	for m := MinKubernetes; m <= MaxKubernetes; m++ {
		vs = append(vs, Version{1, m, patches[m]})
	}
	return vs
}

// Resolve fills in the newest known patch of a version that names only a
// minor. It is an error when the minor is not supported.
func Resolve(v Version) (Version, error) {
	if v.Major != 1 || v.Minor < MinKubernetes || v.Minor > MaxKubernetes {
		var lines []string
		for _, m := range Minors() {
			lines = append(lines, m.Line())
		}
		return Version{}, fmt.Errorf("Kubernetes %s is not supported: want one of %s", v, strings.Join(lines, ", "))
	}
	if v.Patch < 0 {
		v.Patch = patches[v.Minor]
	}
	return v, nil
}
