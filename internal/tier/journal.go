package tier

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Place is one of the two servers of a group.
type Place string

// The places.
const (
	Main Place = "main"
	Tier Place = "tier"
)

// Other is the other one.
func (p Place) Other() Place {
	if p == Main {
		return Tier
	}
	return Main
}

// Step is a step of a move.
type Step string

// The steps in their order.
const (
	Freeze Step = "freeze" // writes are refused
	Fence  Step = "fence"  // the target's revision is above the source's
	Copy   Step = "copy"   // keys
	Define Step = "define" // definitions in the target
	Switch Step = "switch" // APIServices lead to the target
	Close  Step = "close"  // watches of the source end
	Verify Step = "verify" // both hold the same, and the target serves it
	Thaw   Step = "thaw"   // writes are taken again
	Done   Step = "done"
)

// steps are all of them.
func steps() []Step { return []Step{Freeze, Fence, Copy, Define, Switch, Close, Verify, Thaw, Done} }

// Journal is what a move remembers of itself, in a ConfigMap: enough to go on
// or back after a death at any point.
type Journal struct {
	Group string `json:"group"`
	// To is where the group goes. Tier is the tier's Service.
	To   Place  `json:"to"`
	Tier string `json:"tier"`
	// Step is the last that was begun; it may have been done in part. Done means
	// that the move is over, and only the source's keys are left.
	Step Step `json:"step"`
	// RollingBack says that the steps are being undone.
	RollingBack bool `json:"rollingBack,omitempty"`
	// CleaningUp says that the source's keys are being deleted.
	CleaningUp bool `json:"cleaningUp,omitempty"`
	// Versions are those that kube-apiserver serves of the group.
	Versions []string `json:"versions"`
	// Made are the definitions that the target did not have before.
	Made []string `json:"made,omitempty"`
	// Moved is what Verify found, equal on both sides.
	Moved *Digest `json:"moved,omitempty"`
	// Started is when, By who began it.
	Started time.Time `json:"started"`
	By      string    `json:"by"`
}

const (
	configMapsPath = "/api/v1/namespaces/kube-system/configmaps"
	journalKey     = "journal"
)

func journalName(group string) string { return "seams-move-" + group }

// journal is a Journal and where it is kept.
type journal struct {
	Journal
	server *Server
	object corev1.ConfigMap
}

// readJournal reads the journal of a group; nil when there is none.
func readJournal(ctx context.Context, s *Server, group string) (*journal, error) {
	j := &journal{server: s}
	err := s.get(ctx, path.Join(configMapsPath, journalName(group)), &j.object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(j.object.Data[journalKey]), &j.Journal)
	}
	if err == nil && j.Group != group {
		err = fmt.Errorf("it is of %q", j.Group)
	}
	return j, wrap(err, "journal kube-system/%s", journalName(group))
}

// ReadJournal reads how far the move of a group is; nil when there is none.
func ReadJournal(ctx context.Context, s *Server, group string) (*Journal, error) {
	j, err := readJournal(ctx, s, group)
	if j == nil || err != nil {
		return nil, err
	}
	return &j.Journal, nil
}

// begin makes the journal of a new move, in the place of one that is over.
func begin(ctx context.Context, s *Server, over *journal, first Journal) (*journal, error) {
	j := &journal{Journal: first, server: s}
	if over != nil {
		j.object = over.object
		return j, j.save(ctx)
	}
	j.object.APIVersion, j.object.Kind = "v1", "ConfigMap"
	j.object.ObjectMeta = metav1.ObjectMeta{Name: journalName(first.Group), Namespace: "kube-system", Labels: map[string]string{Label: "move"}}
	if err := j.encode(); err != nil {
		return nil, err
	}
	return j, wrap(s.create(ctx, configMapsPath, nil, j.object, &j.object), "begin a journal")
}

func (j *journal) encode() error {
	data, err := json.MarshalIndent(j.Journal, "", "  ")
	j.object.Data = map[string]string{journalKey: string(data)}
	return err
}

// save writes it if nobody else has.
func (j *journal) save(ctx context.Context) error {
	if err := j.encode(); err != nil {
		return err
	}
	return wrap(j.server.update(ctx, path.Join(configMapsPath, j.object.Name), j.object, &j.object), "write the journal")
}

func (j *journal) remove(ctx context.Context) error {
	err := j.server.remove(ctx, path.Join(configMapsPath, j.object.Name), j.object.ObjectMeta)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return wrap(err, "delete the journal")
}
