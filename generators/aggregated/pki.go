package aggregated

import (
	"fmt"
	"net"
	"strings"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/plan"
)

// pkiScript makes and renews a tier's keys with openssl, where the authorities'
// keys are: on the hosts, or for a workload in a directory of whoever runs it.
// No key leaves that place but for a workload's Secrets.
func pkiScript(p *plan.Plan, t plan.AggregatedTier, s plan.Store) string {
	var body strings.Builder
	where, use := controlplane.PKIDir, `Run it as root on each host of the tier and of its etcd: "`+PKIScript+` init" on
the first, which makes the tiers' authorities, then without an argument on the
others, once aggregated/ca.* and aggregated/etcd-ca.* were copied there.`
	if t.Form == plan.WorkloadForm {
		where, use = "./pki", `Run "`+PKIScript+` init" once, where kubectl is set up for the cluster; what it makes
below ./pki is to be kept, for it signs the next certificates.`
	}
	fmt.Fprintf(&body, pkiFunctions, where)
	for _, c := range p.PKI {
		if !strings.HasPrefix(c.Path, "aggregated/"+t.Name+"/") {
			continue
		}
		fmt.Fprintf(&body, "certificate %s %s %s %s %s\n", c.Path, c.CA, shellWord(c.CN), usages(c.Usages), shellWord(names(c.SANs)))
	}
	if t.Second() {
		fmt.Fprintf(&body, signingKey, t.Name, controlplane.ServiceAccountKey)
	}
	if t.Form == plan.WorkloadForm {
		body.WriteString(secrets(t))
	} else {
		fmt.Fprintf(&body, staticFiles, plan.AggregatedEtcdClients)
		for _, c := range kubeconfigs(p, t) {
			fmt.Fprintf(&body, "install -m 0600 \"$dir/%[1]s\" \"$PKI/aggregated/%[2]s/%[1]s\"\n", c.file, t.Name)
		}
	}
	return script(`Makes the keys and certificates of the aggregated tier `+t.Name+` and of its etcd
`+s.Name+`, and renews those that end within 30 days, are of another authority or
lack a name (all of them with RENEW=1).
`+use+`
Servers take up renewed files by themselves within a minute; in pods they arrive
within two. DAYS is how long a certificate lives, PKI where all of it is.`, body.String())
}

// pkiFunctions are the same in every script.
const pkiFunctions = `umask 077
PKI=${PKI:-%s}
DAYS=${DAYS:-365}
mode=${1:-renew}
dir=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
printf '[req]\ndistinguished_name=name\n[name]\n' >"$tmp/request"

pair() { # path: whether certificate and key belong together
	[ "$(openssl x509 -in "$PKI/$1.crt" -noout -pubkey)" = "$(openssl pkey -in "$PKI/$1.key" -pubout)" ]
}

authority() { # path: sees that its certificate is there, or makes both halves
	if [ -s "$PKI/$1.crt" ]; then return; fi
	if [ -s "$PKI/$1.key" ]; then
		echo "$PKI/$1.key is there and its .crt is not: put it back, or remove the key if nothing was ever signed with it" >&2
		exit 1
	fi
	case $1 in aggregated/*) ;; *) mode=none ;; esac
	if [ "$mode" != init ]; then
		echo "$PKI/$1.crt and .key are not there: copy them from the host on which $0 init was run" >&2
		exit 1
	fi
	mkdir -p "$(dirname "$PKI/$1")"
	printf '[req]\ndistinguished_name=name\nx509_extensions=ca\n[name]\n[ca]\nbasicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=critical,keyCertSign\nsubjectKeyIdentifier=hash\n' >"$tmp/authority"
	openssl ecparam -name prime256v1 -genkey -noout -out "$PKI/$1.key.new"
	openssl req -x509 -new -config "$tmp/authority" -key "$PKI/$1.key.new" -sha256 -days 3650 -subj "/CN=$(printf %%s "$1" | tr / -)" -out "$PKI/$1.crt.new"
	chmod 0644 "$PKI/$1.crt.new"
	mv "$PKI/$1.key.new" "$PKI/$1.key"
	mv "$PKI/$1.crt.new" "$PKI/$1.crt"
	echo "$PKI/$1.crt: made"
}

signer() { # path: sees that it can sign
	if [ ! -s "$PKI/$1.key" ]; then
		echo "$PKI/$1.key is not there, and is needed to sign: put it there for this run. A new authority in its place would be trusted by nobody who has the certificate of the old one" >&2
		exit 1
	fi
	if ! pair "$1"; then
		echo "$PKI/$1.crt and $PKI/$1.key do not belong together: put back the half that was changed" >&2
		exit 1
	fi
}

named() { # path names: whether the certificate has them all
	for name in $(echo "$2" | tr , ' '); do
		case $name in IP:*) check=-checkip ;; *) check=-checkhost ;; esac
		openssl x509 -in "$PKI/$1.crt" -noout "$check" "${name#*:}" | grep -q 'does match' || return 1
	done
}

good() { # path authority names: whether a certificate can stay
	[ -z "${RENEW:-}" ] && [ -s "$PKI/$1.key" ] && [ -s "$PKI/$1.crt" ] &&
		openssl x509 -in "$PKI/$1.crt" -noout -checkend 2592000 >/dev/null 2>&1 &&
		openssl verify -partial_chain -CAfile "$PKI/$2.crt" "$PKI/$1.crt" >/dev/null 2>&1 &&
		pair "$1" 2>/dev/null && named "$1" "$3"
}

certificate() { # path authority name usages names
	authority "$2"
	if good "$1" "$2" "$5"; then
		echo "$PKI/$1.crt: kept"
		return
	fi
	signer "$2"
	mkdir -p "$(dirname "$PKI/$1")"
	openssl ecparam -name prime256v1 -genkey -noout -out "$PKI/$1.key.new"
	openssl req -new -config "$tmp/request" -key "$PKI/$1.key.new" -subj "/CN=$3" -out "$tmp/signing"
	printf 'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=%%s\n' "$4" >"$tmp/extensions"
	if [ -n "$5" ]; then printf 'subjectAltName=%%s\n' "$5" >>"$tmp/extensions"; fi
	openssl x509 -req -in "$tmp/signing" -CA "$PKI/$2.crt" -CAkey "$PKI/$2.key" -set_serial "0x$(openssl rand -hex 15)" \
		-days "$DAYS" -sha256 -extfile "$tmp/extensions" -out "$PKI/$1.crt.new" 2>"$tmp/errors" || { cat "$tmp/errors" >&2; exit 1; }
	chmod 0644 "$PKI/$1.crt.new"
	mv "$PKI/$1.key.new" "$PKI/$1.key"
	mv "$PKI/$1.crt.new" "$PKI/$1.crt"
	echo "$PKI/$1.crt: made"
}

`

// staticFiles puts the rest into a host's directory of the tier.
const staticFiles = `
cat "$PKI/etcd/ca.crt" "$PKI/aggregated/etcd-ca.crt" >"$tmp/clients"
install -m 0644 "$tmp/clients" "$PKI/%s.crt"
`

// signingKey makes the key for tokens that a second kube-apiserver wants, once.
const signingKey = `
key="$PKI/aggregated/%s/%s"
if [ ! -s "$key" ]; then
	openssl ecparam -name prime256v1 -genkey -noout -out "$key.new"
	mv "$key.new" "$key"
	echo "$key: made"
fi
`

// clusterCAs takes the cluster's authorities from where kube-apiserver shows
// them to servers behind it.
const clusterCAs = `
for name in client-ca requestheader-client-ca; do
	kubectl --namespace=kube-system get configmap extension-apiserver-authentication \
		--output=go-template="{{index .data \"$name-file\"}}" >"$tmp/$name.crt"
	openssl x509 -in "$tmp/$name.crt" -noout
done
`

// secrets puts a workload's keys into the cluster; they stand in no argument.
func secrets(t plan.AggregatedTier) string {
	cas, more := "", ""
	if t.Second() {
		cas = clusterCAs
		more = fmt.Sprintf(` \
	%[1]s="$at/%[2]s/%[1]s" client-ca.crt="$tmp/client-ca.crt" front-proxy-ca.crt="$tmp/requestheader-client-ca.crt"`, controlplane.ServiceAccountKey, t.Name)
	}
	return cas + fmt.Sprintf(`
secret() { # name, then KEY=FILE
	name=$1; shift
	for item in "$@"; do set -- "$@" "--from-file=$item"; shift; done
	kubectl --namespace=%[1]s create secret generic "$name" "$@" --dry-run=client --output=yaml |
		kubectl apply --server-side --force-conflicts --field-manager=seams --filename=-
}
at="$PKI/aggregated"
secret %[2]s server.crt="$at/%[3]s/server.crt" server.key="$at/%[3]s/server.key" \
	etcd-client.crt="$at/%[3]s/etcd-client.crt" etcd-client.key="$at/%[3]s/etcd-client.key" etcd-ca.crt="$at/etcd-ca.crt"%[5]s
secret %[4]s server.crt="$at/%[3]s/etcd-server.crt" server.key="$at/%[3]s/etcd-server.key" \
	peer.crt="$at/%[3]s/etcd-peer.crt" peer.key="$at/%[3]s/etcd-peer.key" ca.crt="$at/etcd-ca.crt"
`, t.Namespace, serverSecret(t), t.Name, etcdSecret(t), more)
}

func usages(of []string) string {
	var list []string
	for _, u := range of {
		list = append(list, map[string]string{"server": "serverAuth", "client": "clientAuth"}[u])
	}
	return strings.Join(list, ",")
}

// names are a certificate's other names as openssl wants them.
func names(sans []string) string {
	var list []string
	for _, san := range sans {
		if net.ParseIP(san) != nil {
			list = append(list, "IP:"+san)
		} else {
			list = append(list, "DNS:"+san)
		}
	}
	return strings.Join(list, ",")
}

// shellWord quotes a word, empty or not; names hold no quotes.
func shellWord(s string) string { return "'" + s + "'" }
