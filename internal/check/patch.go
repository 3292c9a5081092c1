package check

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	kubelet "k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/cmd/kubeadm/app/componentconfigs"
	"k8s.io/kubernetes/cmd/kubeadm/app/constants"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/patches"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/pattern"
	"github.com/kubeseams/seams/internal/yamltext"
)

const refPatchName = "kubernetes cmd/kubeadm/app/util/patches/patches.go, parseFilename"

// patch is a file in a patches directory of kubeadm.
type patch struct {
	file   file.File
	target string
	kind   types.PatchType
	docs   []*document
}

// inPatches reports whether a file stands in a directory of patches.
func inPatches(name string) bool {
	return slices.Contains(strings.Split(path.Dir(name), "/"), "patches")
}

// patchDir is the directory that the patches directory of a file is in.
func patchDir(name string) string {
	parts := strings.Split(path.Dir(name), "/")
	return path.Join(parts[:slices.Index(parts, "patches")]...)
}

var (
	patchExtension = pattern.Of(`.+\.(json|yaml)$`)
	patchName      = pattern.Of(`^(` + strings.Join(patches.KnownTargets(), "|") + `)([^.+\n]*)?(\+)?(json|merge|strategic)?`)
)

// addPatch reads a patch file and judges its name, from which kubeadm takes
// what the patch is for and of which type it is.
func (c *checker) addPatch(f file.File) {
	if strings.EqualFold(path.Ext(f.Path), ".md") {
		return
	}
	wrong := func(code, message, fix string) {
		c.add(finding.Finding{Code: code, Severity: finding.Error, File: f.Path, Message: message, Fix: fix, Ref: refPatchName})
	}
	base := path.Base(f.Path)
	if !patchExtension().MatchString(base) {
		wrong("patch-name-extension", "kubeadm reads .yaml and .json patches only, and leaves this file out with one line in its log", "rename it to .yaml")
		return
	}
	m := patchName().FindStringSubmatch(base)
	switch {
	case m == nil:
		wrong("patch-name-target", "the name begins with no target that kubeadm knows: the file is left out with one line in kubeadm's log",
			"begin the name with one of "+strings.Join(patches.KnownTargets(), ", "))
		return
	case m[3] != "" && m[4] == "":
		wrong("patch-name-type", "after + comes no patch type, which kubeadm refuses", "write +json, +merge or +strategic")
		return
	case strings.HasPrefix(m[2], "-"):
		wrong("patch-name-suffix", fmt.Sprintf("kubeadm takes the name for target %s with suffix %q, and patches the %s pod with it", m[1], m[2], m[1]),
			"put a pod of its own into manifests/, or name a patch "+m[1]+"0+strategic.yaml")
		return
	}
	p := patch{file: f, target: m[1], kind: types.StrategicMergePatchType}
	switch m[4] {
	case "json":
		p.kind = types.JSONPatchType
	case "merge":
		p.kind = types.MergePatchType
	}
	p.docs = c.read(f)
	c.patches = append(c.patches, p)
}

// applyPatches applies the patches to what kubeadm would make, and judges the outcome.
func (c *checker) applyPatches() {
	slices.SortStableFunc(c.patches, func(a, b patch) int { return strings.Compare(a.file.Path, b.file.Path) })
	for _, p := range c.patches {
		cl := c.clusterAbove(patchDir(p.file.Path))
		switch p.target {
		case constants.KubeAPIServer, constants.KubeControllerManager, constants.KubeScheduler, constants.Etcd:
			c.patchPod(p, cl)
		case patches.KubeletConfiguration:
			c.patchKubelet(p)
		}
	}
	c.judgePatchReferences()
}

// clusterAbove finds the kubeadm configuration a patches directory goes with.
// Without one, patches are tried on what kubeadm makes by default.
func (c *checker) clusterAbove(dir string) *cluster {
	var best *cluster
	for _, cl := range c.clusters {
		if isBelow(dir, cl.dir) && (best == nil || len(cl.dir) > len(best.dir)) {
			best = cl
		}
	}
	if best == nil {
		best = c.defaultCluster(dir)
	}
	return best
}

// patchPod applies a patch to a static pod of kubeadm.
func (c *checker) patchPod(p patch, cl *cluster) {
	before := cl.pods[p.target]
	if before == nil || len(p.docs) == 0 {
		return
	}
	data, ok := c.apply(p, before, corev1.Pod{})
	if !ok {
		return
	}
	// The patched pod is kubeadm's; its faults are shown where the patch is.
	d := c.parse(p.file.Path, "", yamltext.Document{Text: data, Line: 1})
	if d == nil {
		return
	}
	after, ok := c.judgeResult(p, d, clientscheme.Scheme, func(sub *checker, object runtime.Object) {
		if pod, isPod := object.(*corev1.Pod); isPod {
			sub.validatePod(d, pod)
		}
	}).(*corev1.Pod)
	if !ok {
		return
	}
	cl.pods[p.target] = after
	if process := cl.processes[p.target]; process != nil {
		process.pod = after
	}
	c.judgePatchedPod(p, cl, before, after)
}

// apply applies a patch with kubeadm's own code; ok is false when it does not
// apply, which is a finding.
func (c *checker) apply(p patch, to, kind any) (data []byte, ok bool) {
	base, err := json.Marshal(to) // JSON is YAML, and cheaper to read back
	if err == nil {
		data, err = applyPatch(p, base, kind)
	}
	if err != nil {
		fix := "compare it with the manifest that kubeadm writes"
		if p.kind == types.JSONPatchType {
			fix += "; a JSON patch is a list of operations (op, path, value)"
		}
		c.at(p.docs[0], "", finding.Finding{
			Code: "patch-does-not-apply", Severity: finding.Error, Fix: fix,
			Message: fmt.Sprintf("the patch does not apply to %s: %s", p.target, patchReason(err)),
		})
		return nil, false
	}
	return data, true
}

// applyPatch turns a panic of the patch library, which odd patches provoke, into an error.
func applyPatch(p patch, base []byte, kind any) (data []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the patch library fails: %v", r)
		}
	}()
	set, err := patches.CreatePatchSet(p.target, p.kind, string(p.file.Data))
	if err != nil {
		return nil, err
	}
	manager := patches.NewPatchManager([]*patches.PatchSet{set}, patches.KnownTargets(), io.Discard)
	onto := &patches.PatchTarget{Name: p.target, StrategicMergePatchObject: kind, Data: base}
	if err := manager.ApplyPatchesToTarget(onto); err != nil {
		return nil, err
	}
	return onto.Data, nil
}

// patchReason is what stands behind an error of kubeadm's, which quotes the
// whole patch first.
func patchReason(err error) string {
	text := strings.TrimSpace(err.Error())
	return strings.TrimLeft(text[strings.LastIndexByte(text, '\n')+1:], ": ")
}

// judgePatchedPod compares a pod with what kubeadm had made of it.
func (c *checker) judgePatchedPod(p patch, cl *cluster, before, after *corev1.Pod) {
	place := p.docs[0]
	if len(after.Spec.Containers) != len(before.Spec.Containers) {
		c.at(place, "spec.containers", finding.Finding{
			Code: "patch-adds-container", Severity: finding.Error,
			Message: fmt.Sprintf("the patch leaves %s with %d containers: a strategic patch finds a container by its name, here %q", p.target, len(after.Spec.Containers), before.Spec.Containers[0].Name),
			Fix:     "write name: " + before.Spec.Containers[0].Name,
		})
		return
	}
	was, is := before.Spec.Containers[0], after.Spec.Containers[0]
	if lost := lostWords(was.Command, is.Command); len(lost) > 0 {
		c.at(place, "spec.containers[0].command", finding.Finding{
			Code: "patch-replaces-command", Severity: finding.Error,
			Message: fmt.Sprintf("the patch replaces the whole command of %s and loses %d of its words, %s among them", p.target, len(lost), lost[0]),
			Fix:     "use a JSON patch: add /spec/containers/0/command/-", Ref: "https://github.com/kubernetes/kubeadm/issues/3113",
		})
		return
	}
	if len(is.Args) > 0 && len(was.Args) == 0 {
		c.at(place, "spec.containers[0].args", finding.Finding{
			Code: "patch-sets-args", Severity: finding.Warning,
			Message: "the flags now stand in two lists, command and args, of which kubeadm compares one",
			Fix:     "use a JSON patch: add /spec/containers/0/command/-",
		})
	}
	c.addPatchedWords(p, cl, was, is)
}

// lostWords are the words of a command that another has no longer.
func lostWords(was, is []string) []string {
	return slices.DeleteFunc(slices.Clone(was), func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return slices.ContainsFunc(is, func(now string) bool { return now == w || strings.HasPrefix(now, name+"=") })
	})
}

// addPatchedWords gives the process the arguments that the patch has added.
func (c *checker) addPatchedWords(p patch, cl *cluster, was, is corev1.Container) {
	process := cl.processes[p.target]
	if process == nil {
		return
	}
	if cl.file.cluster == nil {
		// Nothing is known of the configuration: only what the patch adds is judged.
		process.args, process.doc, process.path = nil, p.docs[0], ""
		process.base, process.pod, process.complete = nil, nil, false
		c.processes = append(c.processes, process)
	}
	var added []word
	for _, w := range append(slices.Clone(is.Command), is.Args...) {
		if !slices.Contains(was.Command, w) && !slices.Contains(was.Args, w) {
			added = append(added, word{w, ""})
		}
	}
	for _, a := range c.parseArgs(process, added) {
		a.doc = p.docs[0]
		process.args = append(process.args, a)
	}
}

// patchKubelet applies a patch to a KubeletConfiguration.
func (c *checker) patchKubelet(p patch) {
	if len(p.docs) == 0 {
		return
	}
	base := &kubelet.KubeletConfiguration{}
	base.APIVersion, base.Kind = kubelet.SchemeGroupVersion.String(), "KubeletConfiguration"
	for _, k := range c.kubelets {
		if isBelow(patchDir(p.file.Path), dirOf(k.doc.file)) {
			base = k.config
		}
	}
	data, ok := c.apply(p, base, kubelet.KubeletConfiguration{})
	if !ok {
		return
	}
	if d := c.parse(p.file.Path, "", yamltext.Document{Text: data, Line: 1}); d != nil {
		c.judgeResult(p, d, componentconfigs.Scheme, func(*checker, runtime.Object) {})
	}
}

// judgeResult decodes what a patch has made strictly and judges it further. Its
// faults are shown where the patch is. The object is nil when there is none.
func (c *checker) judgeResult(p patch, d *document, scheme *runtime.Scheme, judge func(*checker, runtime.Object)) runtime.Object {
	place := p.docs[0]
	sub := &checker{target: c.target}
	object := sub.strict(d, scheme)
	if object != nil {
		judge(sub, object)
	}
	for _, f := range sub.findings {
		f.Code, f.Line = "patch-result-invalid", place.line("")
		f.Message = fmt.Sprintf("the patched %s is wrong: %s", p.target, f.Message)
		c.add(f)
	}
	return object
}
