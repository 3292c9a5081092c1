// Package check is the last arrow: rendered files become findings. Every
// document goes through upstream's own codec, defaulting and validation, every
// command line through the tables of the version's real flags and gates, and
// all of them together through what must hold between them. It knows nothing
// of the generators, so that it judges their output as it would anybody's.
package check

import (
	"bytes"
	"cmp"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"k8s.io/klog/v2"

	"github.com/kubeseams/seams/internal/check/kops"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// Input is what is judged together.
type Input struct {
	// Files are named relative to one directory; files in a directory below
	// another's stand on the hosts of both, and directories beside each other
	// are different hosts.
	Files []file.File
	// Target is what the files are for. A zero Kubernetes version means the newest.
	Target target.Target
	// Existing says that the files are what runs today, or a part of it, and not
	// the whole of something that is about to run: nothing is concluded from what
	// is not among them, and a manifest that kubeadm has written is compared with
	// kubeadm's configuration.
	Existing bool
	// Experimental lets kubeadm.k8s.io/v1 pass, as kubeadm's --allow-experimental-api does.
	Experimental bool
	// KopsFeatureFlags is the value of KOPS_FEATURE_FLAGS that kOps will run with.
	KopsFeatureFlags string
	// Commands are command lines that stand in no manifest.
	Commands []Command
}

// Check judges the files and gives the findings in the order of their places.
// It reads nothing but its input and never fails: what cannot be read is a finding.
func Check(in Input) []finding.Finding {
	quiet()
	c := &checker{target: in.Target, missing: map[string]bool{}, existing: in.Existing, experimental: in.Experimental}
	if c.target.Kubernetes.IsZero() {
		minors := target.Minors()
		c.target.Kubernetes = minors[len(minors)-1]
	}
	files := slices.Clone(in.Files)
	file.Sort(files)
	for _, f := range files {
		c.names = append(c.names, f.Path)
	}
	c.judgeEach(files)
	c.addCommands(in.Commands)
	c.applyPatches()
	c.judgeProcesses()
	if c.existing {
		c.judgeLive()
		c.judgeExternal()
		c.judgeDisks()
	}
	c.judgeTogether()
	c.findings = append(c.findings, kops.Check(kops.Input{Files: in.Files, Target: c.target, FeatureFlags: in.KopsFeatureFlags})...)
	finding.Sort(c.findings)
	return slices.Compact(c.findings)
}

// quiet keeps kubeadm's code from writing to stderr: what it logs while it
// lays out a control plane is a finding here, or no matter. Its logger is the
// process's own and cannot be handed in.
var quiet = sync.OnceFunc(func() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
})

// checker gathers what is found, and what later rules need to see together.
type checker struct {
	target   target.Target
	findings []finding.Finding
	// existing and experimental are the input's.
	existing, experimental bool
	// names are the files' paths.
	names []string
	// clusters are the kubeadm configurations with a control plane in them.
	clusters []*cluster
	patches  []patch
	// patchReferences are the places where configurations name a patches directory.
	patchReferences []patchReference
	// processes are the control plane's command lines, wherever they come from.
	processes []*process
	kubelets  []kubeletConfig
	// joins are the kubeadm files with a JoinConfiguration.
	joins []*kubeadmFile
	// kindControlPlanes counts the control-plane nodes of kind Clusters.
	kindControlPlanes int
	// missing are the programs whose flags are not known for the target, once said.
	missing map[string]bool
}

func (c *checker) add(f finding.Finding) { c.findings = append(c.findings, f) }

// at adds a finding about a field of a document; the field's path may be empty.
func (c *checker) at(d *document, fieldPath string, f finding.Finding) {
	if d != nil {
		f.File, f.Line, f.Path = d.file, d.line(fieldPath), fieldPath
		if d.within != "" {
			f.Path = strings.TrimSuffix(d.within+": "+fieldPath, ": ")
		}
	}
	c.add(f)
}

func (c *checker) version() target.Version { return c.target.Kubernetes }

// isYAML reports whether a file is one whose documents must be judged. Of
// files named .conf, which may be anything, those are that speak of an API.
func isYAML(f file.File) bool {
	switch strings.ToLower(path.Ext(f.Path)) {
	case ".yaml", ".yml", ".json", ".kubeconfig":
		return true
	case ".conf":
		return bytes.Contains(f.Data, []byte("apiVersion:"))
	}
	return false
}

// judgeFile reads a file and judges its documents, those of kubeadm together.
// A patch is judged once it is known what it is for.
func (c *checker) judgeFile(f file.File) {
	if inPatches(f.Path) {
		c.addPatch(f)
		return
	}
	if !isYAML(f) {
		return
	}
	docs := c.read(f)
	if slices.ContainsFunc(docs, func(d *document) bool { return d.group() == kubeadmGroup }) {
		c.judgeKubeadmFile(docs)
		return
	}
	for _, d := range docs {
		c.judgeDocument(d)
	}
}

// judgeDocument judges one document by its kind.
func (c *checker) judgeDocument(d *document) {
	switch d.group() {
	case "kops.k8s.io":
		return // judged together, by package kops
	case kubeletGroup:
		c.judgeKubelet(d)
	case kubeProxyGroup:
		c.judgeComponent(d)
	case schedulerGroup:
		c.judgeScheduler(d)
	case "kind.x-k8s.io":
		c.judgeKind(d)
	default:
		c.judgeObject(d)
	}
}

// unjudged says that nothing here can tell whether a document is right.
func (c *checker) unjudged(d *document) {
	what := cmp.Or(strings.Trim(d.apiVersion+" "+d.kind, " "), "a document without apiVersion and kind")
	c.at(d, "", finding.Finding{
		Code: "unjudged-document", Severity: finding.Warning,
		Message: what + " is not judged: there is no check for it, so that nothing speaks for it",
	})
}
