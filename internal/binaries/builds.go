package binaries

import (
	"crypto/sha256"
	_ "embed" // builds.txt
	"encoding/hex"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// buildsText is shared with hack/build-binaries.sh, which fills the cache.
//
//go:embed builds.txt
var buildsText string

// builds is the table of what is built, from which module and how.
type builds struct {
	// names in the order of building.
	names []string
	// module of a name; version, ldflags and build tags of a module.
	module, version, ldflags, tags map[string]string
}

// parseBuilds reads builds.txt. A line that it does not understand is an
// error: the script and this package must not read it differently.
func parseBuilds(text string) (builds, error) {
	b := builds{module: map[string]string{}, version: map[string]string{}, ldflags: map[string]string{}, tags: map[string]string{}}
	for n, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(fields) < 3 {
			return builds{}, fmt.Errorf("builds.txt:%d: %q has no value", n+1, line)
		}
		switch kind, key := fields[0], fields[1]; kind {
		case "version":
			b.version[key] = fields[2]
		case "build":
			b.names = append(b.names, key)
			b.module[key] = fields[2]
		case "ldflags":
			b.ldflags[key] = rest(line, 2)
		case "tags":
			b.tags[key] = fields[2]
		default:
			return builds{}, fmt.Errorf("builds.txt:%d: %q is none of version, build, ldflags, tags", n+1, kind)
		}
	}
	for _, name := range b.names {
		module := b.module[name]
		if b.version[module] == "" || b.ldflags[module] == "" {
			return builds{}, fmt.Errorf("builds.txt: module %s of %s has no version or no ldflags", module, name)
		}
	}
	return b, nil
}

// rest is a line after its first fields, with the spaces inside kept.
func rest(line string, fields int) string {
	for range fields {
		line = strings.TrimLeft(line, " ")
		_, line, _ = strings.Cut(line, " ")
	}
	return strings.TrimLeft(line, " ")
}

// versionOf is the version a name is built in when Kubernetes is of the given one.
func (b builds) versionOf(name, kubernetes string) string {
	module := b.module[name]
	if module == "kubernetes" && kubernetes != "" {
		return "v" + strings.TrimPrefix(kubernetes, "v")
	}
	return b.version[module]
}

// dir is the directory of one build below the cache.
func (b builds) dir(cache, name, kubernetes string) string {
	return filepath.Join(cache, name, b.versionOf(name, kubernetes)+"-"+digest(b.ldflags[b.module[name]], b.tags[b.module[name]]))
}

// digest is of what decides the bytes of a program beside its version.
func digest(ldflags, tags string) string {
	decides := ldflags + "\n" + runtime.GOOS + "/" + runtime.GOARCH + "\n"
	if tags != "" {
		decides += tags + "\n"
	}
	sum := sha256.Sum256([]byte(decides))
	return hex.EncodeToString(sum[:])[:12]
}

// known reports whether the table builds a name.
func (b builds) known(name string) bool { return slices.Contains(b.names, name) }
