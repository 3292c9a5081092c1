package check

import (
	"fmt"

	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"

	"github.com/kubeseams/seams/internal/finding"
)

// judgePatchReferences wants every configuration to name the patches that lie
// beside it: kubeadm forgets them from one command to the next.
func (c *checker) judgePatchReferences() {
	dirs := map[string]string{}
	for _, p := range c.patches {
		dirs[patchDir(p.file.Path)] = p.file.Path
	}
	for _, ref := range c.patchReferences {
		example, ok := dirs[dirOf(ref.doc.file)]
		switch {
		case ok && ref.dir == "":
			severity := finding.Error
			if c.existing {
				severity = finding.Warning // --patches on the command line names them too
			}
			c.at(ref.doc, ref.path, finding.Finding{
				Code: "patches-not-used", Severity: severity,
				Message: fmt.Sprintf("%s names no patches directory, so that kubeadm leaves %s out", ref.doc.kind, example),
				Fix:     "set " + ref.path + ".directory",
			})
		case !ok && ref.dir != "" && !c.existing:
			c.at(ref.doc, ref.path, finding.Finding{
				Code: "patches-missing", Severity: finding.Warning,
				Message: fmt.Sprintf("the configuration names patches in %s, and none are among the files", ref.dir),
			})
		}
	}
}

// patchReference is a field of a kubeadm configuration that names the patches directory.
type patchReference struct {
	doc       *document
	path, dir string
}

// addPatchReferences notes what a file says of patches.
func (c *checker) addPatchReferences(f *kubeadmFile) {
	if x := f.initConfig; x != nil {
		c.patchReferences = append(c.patchReferences, patchReference{f.init, "patches", directoryOf(x.Patches)})
	}
	if x := f.joinConfig; x != nil && x.ControlPlane != nil {
		c.patchReferences = append(c.patchReferences, patchReference{f.join, "patches", directoryOf(x.Patches)})
	}
	if x := f.upgradeConfig; x != nil {
		c.patchReferences = append(c.patchReferences,
			patchReference{f.upgrade, "apply.patches", directoryOf(x.Apply.Patches)},
			patchReference{f.upgrade, "node.patches", directoryOf(x.Node.Patches)})
	}
}

func directoryOf(p *kubeadmapi.Patches) string {
	if p == nil {
		return ""
	}
	return p.Directory
}
