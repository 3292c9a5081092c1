package aggregated

import (
	"fmt"
	"strings"

	"github.com/kubeseams/seams/internal/plan"
)

// readme says what the files are, in which order they are used (the rollout has
// the commands), and what has to be kept up.
func readme(p *plan.Plan) string {
	var b strings.Builder
	b.WriteString("# Aggregated tiers\n\n")
	server, steps, limits := "upstream's server of custom resources", append([]string{readmeImage}, readmeSteps...), readmeLimits
	if p.Aggregated[0].Second() {
		server, steps, limits = "a second kube-apiserver", readmeSteps, readmeSecond
	}
	b.WriteString("Each tier is " + server + " with an etcd of its own. kube-apiserver sends it the groups that an APIService names; what it serves is neither cached nor stored by the main servers.\n\n")
	b.WriteString("| tier | groups | form | servers | etcd members |\n| --- | --- | --- | --- | --- |\n")
	for _, t := range p.Aggregated {
		s, _ := p.Store(t.Store)
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d, %s |\n", t.Name, strings.Join(t.Groups, ", "), t.Form, t.Replicas, t.Members(s), s.Durability)
	}
	b.WriteString("\n## Order\n\n")
	for i, step := range steps {
		fmt.Fprintf(&b, "%d. %s\n", i+1, step)
	}
	static, work := false, false
	for _, t := range p.Aggregated {
		static, work = static || t.Form == plan.StaticForm, work || t.Form == plan.WorkloadForm
	}
	b.WriteString(readmeKeys)
	if static {
		b.WriteString(readmeStatic)
	}
	if work {
		b.WriteString(readmeWorkload)
	}
	b.WriteString("\n## Limits\n\n" + readmeDown + limits)
	return b.String()
}

// readmeSteps is the order of a tier; for upstream's own server the image comes first.
var readmeSteps = []string{
	"`objects.yaml`" + ` here and in the directory of each tier: namespace, rights, Service, priority. They change nothing for the groups.`,
	"`TIER/pki.sh`, then etcd and servers.",
	`The CRDs in the tier, and after them the APIServices, which switch the groups: ` + "`seams tier crds -f CRDS.yaml`" + ` does both, and ` + "`seams tier move`" + ` takes existing objects along. By hand: post each CRD to the tier's own server (it has no discovery for them, so that kubectl apply fails) with ` + "`kubectl create --server=https://HOST:PORT --raw /apis/apiextensions.k8s.io/v1/customresourcedefinitions -f CRD.json`" + `, then run ` + "`TIER/apiservices.sh`" + `.`,
	`A CRD of the groups in the main server comes after the APIServices, and only for clients that look for it there: an APIService made after it is put back within seconds.`,
}

const readmeImage = "`image/build.sh` builds the image; push it to the registry that the profile names."

const readmeKeys = `
## Certificates

` + "`TIER/pki.sh`" + ` made them, for a year; the authorities for ten. ` + "`pki.sh`" + ` without an argument renews what ends within 30 days, so run it monthly, on every host. Servers read renewed files by themselves.

- ` + "`aggregated/ca`" + ` signs the servers' certificates, for the name SERVICE.NAMESPACE.svc. Its public half is the caBundle of the APIServices: with a new authority run ` + "`apiservices.sh`" + ` again.
- ` + "`aggregated/etcd-ca`" + ` signs the tiers' clients of their etcds. The main etcd does not trust it: a tier cannot read what is not its own.
- A tier is known to kube-apiserver by a certificate or a ServiceAccount of its own, whose rights are those of ` + "`seams:aggregated-server`" + `, of system:auth-delegator and of extension-apiserver-authentication-reader.

An expired certificate of a server makes its APIServices unavailable: its groups answer 503, namespaces are not deleted, the rest of the API goes on.
`

const readmeStatic = `
## Static pods

- The Service selects nothing; its EndpointSlice lists the hosts. Nothing takes a host off when its server is down: until it is back, its share of new connections fails. For a longer repair take the address out of the slice.
- Servers are on their host's network, which no NetworkPolicy covers, and static pods are not evicted, so that no PodDisruptionBudget holds for them: let the hosts' firewall admit the ports from the control plane only.
`

const readmeWorkload = `
## Workloads

- kube-apiserver has to reach pods and Services from its host, as it does for webhooks.
- The etcd's pods need the cluster to run: when it starts as a whole, the tier comes last, and its groups answer 503 until then. Nothing that pods need to start may be among them.
- Volumes of the etcd stay when the StatefulSet is deleted.
`

const readmeDown = `- With a tier down, no namespace can be deleted: its content is not known. It goes on when the tier is back.
- Rights that were taken away hold at the tier's own address for 10 s more; through kube-apiserver they are gone at once.
- Discovery and availability are asked for with a limit of 5 s.
`

const readmeSecond = `- **Webhooks and admission policies of the cluster do not hold for the groups.** The server asks its own admission, which has none. Nothing says so when an object is written.
- It takes objects of namespaces that are not there, and into one that is being deleted.
- A conversion webhook is called by its URL only: Services are looked for in the server's own API, which has none.
- At its own address it serves every group of kube-apiserver, to whoever has the rights in the cluster, and keeps what is written there out of everybody's sight. Let nobody but the control plane reach its port.
- It counts no quotas of the cluster.
- It is a kube-apiserver: upgrade it with the others, and not before them.
`

const readmeLimits = `- The server has no ResourceQuota admission: counts of the groups' objects are shown and not enforced.
- It publishes no OpenAPI. With the CRD in the main server as well, which ` + "`seams tier crds --keep-definition`" + ` puts there, schemas come from there: kubectl explain needs it, and so does a MutatingAdmissionPolicy, which otherwise refuses every write to the groups that it matches.
- Webhooks and policies are those of the main server. A webhook that is called by a Service is found by its name in the cluster's DNS: while that is down, writes fail as the webhook's failurePolicy has it. A policy with parameters needs the tier to read them: give its identity get, list and watch on their kind.
`
