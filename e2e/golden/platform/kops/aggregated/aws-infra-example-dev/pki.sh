#!/bin/sh
# Rendered by seams 0.1.0 for Kubernetes 1.36.3 on kops 1.36.2, aws.
# Profile platform sha256:62f58aa081c195b08d9e88e59c603df6e11cd64390b1616bde031944770ef16e
# Recipe node/stock + churn/stock + state/partitioned sha256:e5e2d8dbfb72010358da5043072dde5a58dc0d49158eadfb1766395948923035
# Makes the keys and certificates of the aggregated tier aws-infra-example-dev and of its etcd
# aws-infra-example-dev, and renews those that end within 30 days, are of another authority or
# lack a name (all of them with RENEW=1).
# Run "pki.sh init" once, where kubectl is set up for the cluster; what it makes
# below ./pki is to be kept, for it signs the next certificates.
# Servers take up renewed files by themselves within a minute; in pods they arrive
# within two. DAYS is how long a certificate lives, PKI where all of it is.
set -eu
umask 077
PKI=${PKI:-./pki}
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
	openssl req -x509 -new -config "$tmp/authority" -key "$PKI/$1.key.new" -sha256 -days 3650 -subj "/CN=$(printf %s "$1" | tr / -)" -out "$PKI/$1.crt.new"
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
	printf 'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=%s\n' "$4" >"$tmp/extensions"
	if [ -n "$5" ]; then printf 'subjectAltName=%s\n' "$5" >>"$tmp/extensions"; fi
	openssl x509 -req -in "$tmp/signing" -CA "$PKI/$2.crt" -CAkey "$PKI/$2.key" -set_serial "0x$(openssl rand -hex 15)" \
		-days "$DAYS" -sha256 -extfile "$tmp/extensions" -out "$PKI/$1.crt.new" 2>"$tmp/errors" || { cat "$tmp/errors" >&2; exit 1; }
	chmod 0644 "$PKI/$1.crt.new"
	mv "$PKI/$1.key.new" "$PKI/$1.key"
	mv "$PKI/$1.crt.new" "$PKI/$1.crt"
	echo "$PKI/$1.crt: made"
}

certificate aggregated/aws-infra-example-dev/server aggregated/ca 'aws-infra-example-dev.seams-system.svc' serverAuth 'DNS:aws-infra-example-dev.seams-system.svc,DNS:aws-infra-example-dev.seams-system.svc.cluster.local,DNS:localhost,IP:127.0.0.1'
certificate aggregated/aws-infra-example-dev/etcd-client aggregated/etcd-ca 'aws-infra-example-dev' clientAuth ''
certificate aggregated/aws-infra-example-dev/etcd-server aggregated/etcd-ca 'aws-infra-example-dev-etcd' serverAuth,clientAuth 'DNS:localhost,IP:127.0.0.1,DNS:aws-infra-example-dev-etcd-0.aws-infra-example-dev-etcd.seams-system.svc,DNS:aws-infra-example-dev-etcd-1.aws-infra-example-dev-etcd.seams-system.svc,DNS:aws-infra-example-dev-etcd-2.aws-infra-example-dev-etcd.seams-system.svc'
certificate aggregated/aws-infra-example-dev/etcd-peer aggregated/etcd-ca 'aws-infra-example-dev-etcd' serverAuth,clientAuth 'DNS:localhost,IP:127.0.0.1,DNS:aws-infra-example-dev-etcd-0.aws-infra-example-dev-etcd.seams-system.svc,DNS:aws-infra-example-dev-etcd-1.aws-infra-example-dev-etcd.seams-system.svc,DNS:aws-infra-example-dev-etcd-2.aws-infra-example-dev-etcd.seams-system.svc'

secret() { # name, then KEY=FILE
	name=$1; shift
	for item in "$@"; do set -- "$@" "--from-file=$item"; shift; done
	kubectl --namespace=seams-system create secret generic "$name" "$@" --dry-run=client --output=yaml |
		kubectl apply --server-side --force-conflicts --field-manager=seams --filename=-
}
at="$PKI/aggregated"
secret aws-infra-example-dev-server server.crt="$at/aws-infra-example-dev/server.crt" server.key="$at/aws-infra-example-dev/server.key" \
	etcd-client.crt="$at/aws-infra-example-dev/etcd-client.crt" etcd-client.key="$at/aws-infra-example-dev/etcd-client.key" etcd-ca.crt="$at/etcd-ca.crt"
secret aws-infra-example-dev-etcd server.crt="$at/aws-infra-example-dev/etcd-server.crt" server.key="$at/aws-infra-example-dev/etcd-server.key" \
	peer.crt="$at/aws-infra-example-dev/etcd-peer.crt" peer.key="$at/aws-infra-example-dev/etcd-peer.key" ca.crt="$at/etcd-ca.crt"
