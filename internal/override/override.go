// Package override reads and writes the values of kube-apiserver's
// --etcd-servers-overrides, and says what is wrong with one. It stands beside
// the flow: generators write values with it, check and lint judge them.
//
// The grammar is that of ParseEtcdServersOverrides in k8s.io/apiserver
// pkg/server/options/etcd.go behind a pflag StringSlice; tests hold this
// package to upstream's answer on every input. It is not called directly
// because it brings the whole API server library with it.
package override

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubeseams/seams/internal/finding"
)

// Flag is the flag's name, without dashes.
const Flag = "etcd-servers-overrides"

// Override sends one kind of resource to an etcd of its own.
type Override struct {
	// Group is empty for the core group.
	Group string
	// Resource is the plural, or "*" for every resource of the group.
	Resource string
	// Servers are the client URLs of one etcd's members.
	Servers []string
}

// Key writes what is moved: "/events", "coordination.k8s.io/leases".
func (o Override) Key() string { return o.Group + "/" + o.Resource }

// String writes the override as one item of the flag's value.
func (o Override) String() string { return o.Key() + "#" + strings.Join(o.Servers, ";") }

// Parse reads the value of one flag. The overrides are nil exactly when
// kube-apiserver would refuse to start with the value, and then a finding of
// severity error says why. What is accepted may still be wrong: see Judge.
func Parse(value string) ([]Override, []finding.Finding) { return ParseAll([]string{value}) }

// ParseAll reads the values of a flag that is given several times, which for
// kube-apiserver is the same as one value joined with commas.
func ParseAll(values []string) ([]Override, []finding.Finding) {
	items, findings, err := split(values)
	if err != nil {
		return nil, append(findings, csvFinding(values, err))
	}
	overrides := []Override{}
	for i, item := range items {
		o, ok := parseItem(item)
		if !ok {
			overrides = nil
			findings = append(findings, explain(items, i))
			continue
		}
		if overrides != nil {
			overrides = append(overrides, o)
		}
	}
	return overrides, findings
}

// split does what pflag does to a StringSlice: each value is one line of CSV.
func split(values []string) (items []string, findings []finding.Finding, err error) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.StringSliceVar(&items, Flag, nil, "")
	for _, value := range values {
		if err := fs.Set(Flag, value); err != nil {
			return nil, findings, err
		}
		if rest := afterFirstLine(value); rest != "" {
			findings = append(findings, newlineFinding(rest))
		}
	}
	return items, findings, nil
}

// afterFirstLine gives what pflag drops in silence: it reads one CSV record.
func afterFirstLine(value string) string {
	r := csv.NewReader(strings.NewReader(value))
	if _, err := r.Read(); err != nil {
		return ""
	}
	return strings.TrimSpace(value[r.InputOffset():])
}

// parseItem applies upstream's whole grammar: one "#", one "/" before it, and
// no empty server after it.
func parseItem(item string) (Override, bool) {
	key, list, ok := strings.Cut(item, "#")
	if !ok || strings.Contains(list, "#") {
		return Override{}, false
	}
	group, resource, ok := strings.Cut(key, "/")
	if !ok || strings.Contains(resource, "/") {
		return Override{}, false
	}
	servers := strings.Split(list, ";")
	if slices.Contains(servers, "") {
		return Override{}, false
	}
	return Override{group, resource, servers}, true
}

// Format writes overrides as one value, in their order, which is the canonical
// form: kind keeps only the last of two arguments of one name, so a value is
// never spread over several flags.
func Format(overrides []Override) string {
	if len(overrides) == 0 {
		return ""
	}
	items := make([]string, len(overrides))
	for i, o := range overrides {
		items[i] = o.String()
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	// Neither call can fail: the writer is a buffer and the separator is fixed.
	_ = w.Write(items)
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
