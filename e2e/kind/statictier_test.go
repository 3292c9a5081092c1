//go:build kind

package kind

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestStaticTier takes a cluster from stock to an aggregated tier of static pods
// by the commands of rollout.md as they stand, with the image that the rendered
// recipe builds: its server reads the keys that pki.sh makes on the host, its
// etcd trusts the server and no client of main's, and sessions go there.
func TestStaticTier(t *testing.T) {
	const name = "stat"
	live := &running{
		name: name, hosts: hostsOf(name)[:1],
		more: `  tiers:
    image: registry.agents.example.dev/apiextensions-apiserver:v0.37.2
    groups: [{group: agents.example.dev, versions: [v1]}]
churn:
  resources:
  - {group: agents.example.dev, resource: sessions, sessions: {perMinute: 6000, writesPerSession: 12}, objectBytes: 3000, live: 60000, watchers: 1}
`,
		rungs: []string{"--rung", "churn/aggregated-tier"},
	}
	live.start(t)
	live.book(t)
	if err := os.WriteFile(filepath.Join(live.shell.Dir, "CRDS.yaml"), []byte(sessions), 0o644); err != nil {
		t.Fatal(err)
	}
	// There is no registry here: the image is built by the same recipe, and brought
	// to the node by hand. The group has no objects yet, so that the last step is
	// its definition.
	const push = "PUSH=1 sh aggregated/image/build.sh\n"
	pushed := 0
	for i, s := range live.steps {
		pushed += strings.Count(s.Commands, push)
		live.steps[i].Commands = strings.NewReplacer(push, "", "\n# seams tier crds ", "\nseams tier crds ").Replace(s.Commands)
	}
	if pushed != 1 {
		t.Fatalf("the image is pushed %d times", pushed)
	}
	loadsImages(t, live.c, live.shell.Dir, live.hosts[0])
	live.follow(t)
	host := live.hosts[0]
	sessionsIn(t, live.c, host, func() int { return keys(t, live.c, host, tierPort(t, live.shell.Dir, host), sessionKeys) })
	// The only server is lost: kubelet starts it again, and it reads its keys again.
	node(t, live.c, host, "pkill", "-KILL", "-f", "^/?[^ ]*apiextensions-apiserver ")
	comesBack(t, live.c)
}

// tierPort is where the tier's etcd listens, by its rendered manifest.
func tierPort(t *testing.T, dir, host string) int {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join(dir, "manifests", host, "etcd-"+tierName+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`--listen-client-urls=https://127\.0\.0\.1:(\d+)`).FindSubmatch(manifest)
	if m == nil {
		t.Fatalf("no client port in\n%s", manifest)
	}
	port, _ := strconv.Atoi(string(m[1]))
	return port
}
