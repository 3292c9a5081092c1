package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/quantity"
)

// walls says what a recipe leaves over its ceiling. Envelopes limit what rungs
// were seen to carry; a host that is too small, a quota that is, or a watch
// fan-out that no rung lowers, is beside them, and must not pass in silence.
func walls(r *Recipe, e *estimate.Estimate) []finding.Finding {
	var found []finding.Finding
	for i, p := range e.Pressures {
		if p.Value < 1 || r.Choices[i].PastLadder || said(e, p.Ratios[0].ID) {
			continue
		}
		found = append(found, finding.Finding{
			Code: "axis-over-wall", Severity: finding.Warning, Path: string(p.Axis),
			Message: fmt.Sprintf("the %s axis stays at %s of its wall with this recipe (%s to %s): %s",
				p.Axis, quantity.Ratio(p.Value), quantity.Ratio(p.Low), quantity.Ratio(p.High), p.Limit),
			Fix: wayDown(p.Ratios[0].ID),
			Ref: p.Ratios[0].Source,
		})
	}
	return append(found, fullStores(e, found)...)
}

// said reports whether the estimate's advice names that ceiling already.
func said(e *estimate.Estimate, id string) bool {
	code := ""
	switch {
	case strings.Contains(id, ".fanout"):
		code = "fan-out"
	case strings.Contains(id, ".commits."):
		code = "slow-disk-first"
	}
	return slices.ContainsFunc(e.Findings, func(f finding.Finding) bool { return f.Code == code })
}

// wayDown is what lowers a ratio that no rung does.
func wayDown(id string) string {
	switch {
	case strings.Contains(id, ".memory.") || strings.HasSuffix(id, ".lists"):
		return "give the hosts more memory, or keep less of it: fewer or smaller objects, fewer nodes in one cluster"
	case strings.Contains(id, ".commits."):
		return "use faster disks, or one for each etcd; or write less often"
	case strings.HasSuffix(id, ".seats"):
		return "raise max-requests-inflight, or add an apiserver, which costs a full copy of the watch cache"
	case strings.Contains(id, ".window"):
		return "write the resource less often, or split it; watchers that fall behind list everything again"
	case strings.Contains(id, ".bytes.") || strings.Contains(id, ".objects."):
		return "keep fewer or smaller objects of the resource"
	}
	return "raise the quota (8 GiB is the most that etcd suggests), or write and keep less: smaller objects, a shorter TTL"
}

// nearQuota is the part of a quota up to which an estimate passes without a
// word. Our own: the band of a database is a factor of 1.6 wide at best, and an
// etcd at its quota takes no writes until somebody comes.
const nearQuota = 0.6

// fullStores finds a main etcd that the axes together overfill, or come near
// to, though none does alone. An axis that is over its wall by a store is told
// of already.
func fullStores(e *estimate.Estimate, told []finding.Finding) []finding.Finding {
	if len(told) > 0 {
		return nil
	}
	ratio := e.Measures[estimate.State]["databaseRatio"]
	quota := 0.0
	for _, in := range ratio.Inputs {
		if in.Name == "quota" {
			quota = in.Value
		}
	}
	db, ok := e.Figure("store.main.db")
	if !ok || quota == 0 || db.Value < nearQuota*quota {
		return nil
	}
	f := finding.Finding{
		Code: "database-over-quota", Severity: finding.Warning, Path: "controlPlane.etcdQuotaGiB",
		Message: fmt.Sprintf("with the recipe, the axes together fill the main etcd: %s (%s to %s) under a quota of %s, beyond which it takes no writes",
			quantity.Bytes(db.Value), quantity.Bytes(db.Low), quantity.Bytes(db.High), quantity.Bytes(quota)),
		Fix: "keep less or write less; 8 GiB is the most that etcd suggests",
		Ref: "etcd, --quota-backend-bytes and NOSPACE",
	}
	if db.Value < quota {
		f.Code = "database-near-quota"
		f.Message = fmt.Sprintf("with the recipe, the main etcd comes to %s (%s to %s), more than %s of its quota of %s, beyond which it takes no writes",
			quantity.Bytes(db.Value), quantity.Bytes(db.Low), quantity.Bytes(db.High), quantity.Ratio(nearQuota), quantity.Bytes(quota))
	}
	if quota < 8<<30 {
		f.Fix = "raise the quota (8 GiB is the most that etcd suggests), keep less, or write less"
	}
	return []finding.Finding{f}
}
