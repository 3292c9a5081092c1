package aggregated

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeseams/seams/internal/plan"
)

// PriorityLevel is the level of the requests that tiers serve.
const PriorityLevel = "seams-aggregated"

// What the level has: a seventh of the seats beside upstream's own levels, none
// of which it may borrow, so that a storm of these requests queues here and not
// before the requests of core groups. What it does not use others may take.
// Queues are upstream's for workloads (apiserver pkg/apis/flowcontrol/bootstrap).
const (
	levelShares   = 40
	levelLendable = 50
	levelQueues   = 128
	levelHand     = 6
	levelQueue    = 50
	// flowPrecedence comes after kube-controller-manager's own flow (800), whose
	// collection of garbage goes on, and before that of service accounts (9000).
	flowPrecedence = 900
)

func priorityLevel() *flowcontrolv1.PriorityLevelConfiguration {
	shares, lendable, borrow := int32(levelShares), int32(levelLendable), int32(0)
	return &flowcontrolv1.PriorityLevelConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: flowcontrolv1.SchemeGroupVersion.String(), Kind: "PriorityLevelConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: PriorityLevel, Labels: map[string]string{partOf: partName}},
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementLimited,
			Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
				NominalConcurrencyShares: &shares, LendablePercent: &lendable, BorrowingLimitPercent: &borrow,
				LimitResponse: flowcontrolv1.LimitResponse{
					Type:    flowcontrolv1.LimitResponseTypeQueue,
					Queuing: &flowcontrolv1.QueuingConfiguration{Queues: levelQueues, HandSize: levelHand, QueueLengthLimit: levelQueue},
				},
			},
		},
	}
}

// flowSchema puts everybody's requests for a tier's groups on that level, at the
// main servers and at the tier's, which reads the same objects.
func flowSchema(t plan.AggregatedTier) *flowcontrolv1.FlowSchema {
	group := func(name string) flowcontrolv1.Subject {
		return flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindGroup, Group: &flowcontrolv1.GroupSubject{Name: name}}
	}
	return &flowcontrolv1.FlowSchema{
		TypeMeta:   metav1.TypeMeta{APIVersion: flowcontrolv1.SchemeGroupVersion.String(), Kind: "FlowSchema"},
		ObjectMeta: metav1.ObjectMeta{Name: "seams-" + t.Name, Labels: labels(t)},
		Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: PriorityLevel},
			MatchingPrecedence:         flowPrecedence,
			DistinguisherMethod:        &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType},
			Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
				Subjects: []flowcontrolv1.Subject{group("system:authenticated"), group("system:unauthenticated")},
				ResourceRules: []flowcontrolv1.ResourcePolicyRule{{
					Verbs: []string{flowcontrolv1.VerbAll}, APIGroups: t.Groups, Resources: []string{flowcontrolv1.ResourceAll},
					ClusterScope: true, Namespaces: []string{flowcontrolv1.NamespaceEvery},
				}},
			}},
		},
	}
}
