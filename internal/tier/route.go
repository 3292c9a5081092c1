package tier

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Route is who serves a version, as one kube-apiserver has it.
type Route struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	// Through is the kube-apiserver that was asked.
	Through string `json:"through"`
	// Resources are what it lists.
	Resources []string `json:"resources"`
}

// routeWait bounds how long kube-apiservers take to follow a change of an
// APIService or of a definition.
const routeWait = 60 * time.Second

// verifyRoutes makes sure that every kube-apiserver sends every version that
// the tier serves of a group to it: the version is available, discovery lists
// what the tier has, marked with the tier's category, and a list has the
// tier's own resourceVersion.
func verifyRoutes(ctx context.Context, c Cluster, group string) ([]Route, error) {
	crds, err := crdsOf(ctx, c.Tier[0], []string{group})
	if err != nil {
		return nil, err
	}
	var routes []Route
	for _, v := range allServed(crds) {
		if err := waitAvailable(ctx, c.Main[0], group, v.version, routeWait); err != nil {
			return routes, err
		}
		for _, main := range c.Main {
			err := until(ctx, routeWait, 250*time.Millisecond, func(ctx context.Context) error {
				return routed(ctx, main, c.Target, group, v)
			})
			if err == nil {
				// A tier under load moves on between the lists: a few attempts see
				// the one between the other two.
				err = until(ctx, 10*time.Second, 50*time.Millisecond, func(ctx context.Context) error {
					return sameStore(ctx, main, c.Tier[0], path.Join("/apis", group, v.version, v.plurals[0]))
				})
			}
			if err != nil {
				return routes, fmt.Errorf("%s/%s through %s: %w", group, v.version, main.Host, err)
			}
			routes = append(routes, Route{group, v.version, main.Host, v.plurals})
		}
	}
	return routes, nil
}

// served is a version with the plurals of what it has.
type served struct {
	version string
	plurals []string
}

// allServed are the versions of definitions of one group, sorted.
func allServed(crds map[string]*CRD) []served {
	by := map[string][]string{}
	for _, crd := range crds {
		for _, v := range servedVersions(crd) {
			by[v] = append(by[v], crd.Spec.Names.Plural)
		}
	}
	var all []served
	for v, plurals := range by {
		slices.Sort(plurals)
		all = append(all, served{v, plurals})
	}
	slices.SortFunc(all, func(a, b served) int { return cmpVersion(a.version, b.version) })
	return all
}

func cmpVersion(a, b string) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// routed is an error unless a server's discovery of a version lists the plurals
// with the tier's category.
func routed(ctx context.Context, s *Server, t Target, group string, v served) error {
	marked, err := discovered(ctx, s, t, group, v.version)
	if err != nil {
		return err
	}
	for _, plural := range v.plurals {
		if is, ok := marked[plural]; !ok {
			return fmt.Errorf("discovery does not list %s", plural)
		} else if !is {
			return fmt.Errorf("%s is still served by another server than the tier", plural)
		}
	}
	return nil
}

// discovered tells of each resource of a version whether the tier serves it.
func discovered(ctx context.Context, s *Server, t Target, group, version string) (map[string]bool, error) {
	var resources metav1.APIResourceList
	if err := s.get(ctx, path.Join("/apis", group, version), &resources); err != nil {
		return nil, err
	}
	marked := map[string]bool{}
	for _, r := range resources.APIResources {
		marked[r.Name] = slices.Contains(r.Categories, t.category())
	}
	return marked, nil
}

// sameStore compares resourceVersions: those of lists through main lie between
// those of lists at the tier before and after it when both read one etcd.
func sameStore(ctx context.Context, main, tier *Server, at string) error {
	var versions [3]int64
	for i, s := range []*Server{tier, main, tier} {
		var page struct{ Metadata metav1.ListMeta }
		if err := s.do(ctx, http.MethodGet, at, params{"limit": "1"}, "", nil, &page); err != nil {
			return err
		}
		n, err := strconv.ParseInt(page.Metadata.ResourceVersion, 10, 64)
		if err != nil {
			return fmt.Errorf("resourceVersion %q of %s is no number", page.Metadata.ResourceVersion, s.Host)
		}
		versions[i] = n
	}
	if versions[1] < versions[0] || versions[1] > versions[2] {
		return errors.New("a list through kube-apiserver has another resourceVersion than one of the tier: they read different stores")
	}
	return nil
}
