package aggregated

import (
	"fmt"

	"github.com/kubeseams/seams/generators"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

// addImage adds the recipe of the servers' image: upstream's module has a
// program and no image.
func addImage(w *generators.Writer, p *plan.Plan) {
	image := p.Aggregated[0].Image
	if image == "" {
		image = "${1:?usage: build.sh IMAGE}"
	} else {
		image = "${1:-" + image + "}"
	}
	w.Text(Dir+"/image/Dockerfile", `# The program alone: it is linked statically, and reads no roots and no users.
FROM scratch
COPY `+target.APIExtensionsServer+` /`+target.APIExtensionsServer+`
USER 65532:65532
ENV PATH=/
ENTRYPOINT ["/`+target.APIExtensionsServer+`"]
`, 0)
	w.Text(Dir+"/image/build.sh", script(`Builds upstream's `+target.APIExtensionsServer+` from its module and puts it into an
image; PUSH=1 pushes it. ENGINE is docker or podman, ARCH the hosts' (amd64).`, fmt.Sprintf(`
image=%[1]s
engine=${ENGINE:-docker}
dir=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
go mod init build >/dev/null 2>&1
go get k8s.io/apiextensions-apiserver@%[2]s
CGO_ENABLED=0 GOOS=linux GOARCH="${ARCH:-amd64}" go build -trimpath -ldflags="-s -w" -o %[3]s k8s.io/apiextensions-apiserver
cp "$dir/Dockerfile" .
"$engine" build --tag "$image" .
if [ -n "${PUSH:-}" ]; then "$engine" push "$image"; fi
`, image, moduleVersion(p), target.APIExtensionsServer)), 0o755)
}

// moduleVersion is the version of upstream's module of a release: v0.37.2 of
// Kubernetes 1.37.2.
func moduleVersion(p *plan.Plan) string {
	v := p.Target.Kubernetes
	return fmt.Sprintf("v0.%d.%d", v.Minor, v.Patch)
}
