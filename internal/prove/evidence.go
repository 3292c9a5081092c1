package prove

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/kubeseams/seams/internal/recipe"
)

// EvidenceDir is where the project keeps the records of its own runs.
const EvidenceDir = "recipes/evidence"

// Standing is how a record stands to its rung today.
type Standing string

// The standings.
const (
	// Proven is a record of a run that met all limits of what the rung is now.
	Proven Standing = "proven"
	// Failed is one that did not.
	Failed Standing = "failed"
	// Stale is a record of a recipe or a proof that has changed since.
	Stale Standing = "stale"
)

// Evidence is a record and its standing.
type Evidence struct {
	Standing Standing `json:"standing"`
	Record   *Record  `json:"record"`
}

// Standings reads the records below dir and says how each stands to the ladder,
// by rung. A record of a rung that is not on the ladder is stale. Errors: a
// file that is no record, or a rung whose proof cannot be read.
func Standings(ctx context.Context, ladder *recipe.Ladder, files fs.FS, dir string) (map[string]Evidence, error) {
	records, err := Records(files, dir)
	if err != nil {
		return nil, err
	}
	all := map[string]Evidence{}
	for id, r := range records {
		standing, err := standing(ctx, ladder, r)
		if err != nil {
			return nil, fmt.Errorf("the record of %s: %w", id, err)
		}
		all[id] = Evidence{standing, r}
	}
	return all, nil
}

func standing(ctx context.Context, ladder *recipe.Ladder, r *Record) (Standing, error) {
	rung, ok := ladder.Rung(r.Rung)
	if !ok || rung.Proof == nil {
		return Stale, nil
	}
	digest, err := Digest(ctx, ladder, rung, r.Versions["kube-apiserver"])
	switch {
	case err != nil:
		return "", err
	case digest != r.Digest:
		return Stale, nil
	case r.Pass:
		return Proven, nil
	}
	return Failed, nil
}
