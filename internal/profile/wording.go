package profile

import (
	"fmt"
	"strconv"
	"strings"
)

// wording says what each pattern and validator of the schema asks for.
var wording = map[string]string{
	`=~"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"`:                                            `a name of lower-case letters, digits, "-" and ".", at most 63 characters`,
	`=~"^v?1\\.[0-9]{1,3}(\\.[0-9]{1,3})?$"`:                                          `a version, "1.MINOR" or "1.MINOR.PATCH" in quotes`,
	`=~"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$"`:       `an API group without a version, such as "apps" ("" is the core group)`,
	`=~"^[a-z][-a-z0-9]*$"`:                                                           `a resource's lower-case plural, such as "pods"`,
	`=~"^(\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?):[0-9]{1,5}$"`: `host:port`,
	`=~"^[a-z0-9]+([._-]+[a-z0-9]+)*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}(@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})$"`: `an image with a tag or a digest, such as "registry.example.com/apiextensions-apiserver:v1"`,
	`=~"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$"`:                             `the name of a StorageClass`,
	`=~"^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$"`: `a custom API group, a DNS name such as "example.dev"`,
	`=~"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"`:                                  `a version of an API group, such as "v1"`,
	`net.IP()`:                                                               `an IPv4 or IPv6 address`,
	`net.IPCIDR()`:                                                           `a CIDR range, such as "10.128.0.0/9"`,
}

// want says in words what the schema asks for.
func (s *shape) want() string {
	switch {
	case s.kind == kindObject:
		return "an object"
	case s.kind == kindList:
		if s.maxItems > 0 {
			return fmt.Sprintf("a list of at most %d entries", s.maxItems)
		}
		return "a list"
	case s.kind == kindBool:
		return "true or false"
	case len(s.leaf().enum) > 0:
		return "one of: " + strings.Join(s.leaf().enum, ", ")
	case s.leaf().check != "":
		return wording[s.leaf().check]
	}
	text := map[kind]string{kindInt: "an integer", kindNumber: "a number", kindString: "a string"}[s.kind]
	var bounds []string
	for _, b := range []string{s.leaf().lower, s.leaf().upper} {
		if b != "" {
			op := strings.TrimRight(b, "0123456789.")
			bounds = append(bounds, op+" "+b[len(op):])
		}
	}
	if len(bounds) > 0 {
		text += " " + strings.Join(bounds, " and ")
	}
	return text
}

// value says what is wrong with one value, and what the schema wants.
func (c *checker) value(n *node, s *shape, p fieldPath) {
	if why, ok := refusals[p.String()+"="+n.text]; ok {
		c.addAt(n, why.code, p, why.message, why.fix)
		c.findings[len(c.findings)-1].Ref = why.ref
		return
	}
	code, fix := CodeBadFormat, ""
	mismatch := !n.kind.fits(s.kind)
	switch {
	case mismatch:
		code, fix = CodeWrongType, typeFix(n, s)
		if n.kind == kindNull && !c.required(p) {
			fix = "leave the field out"
		}
	case s.kind == kindList:
		code = CodeTooMany
		c.addAt(n, code, p, fmt.Sprintf("want %s; got %d", s.want(), len(n.items)), "")
		return
	case len(s.leaf().enum) > 0:
		code = CodeNotOneOf
		if near := nearest(n.text, s.leaf().enum); near != "" {
			fix = fmt.Sprintf("did you mean %q?", near)
		}
	case s.kind == kindInt || s.kind == kindNumber:
		code = CodeOutOfBounds
	}
	if fix == "" && s.leaf().fallback != "" && len(s.leaf().enum) == 0 {
		fix = "leave it out for the default, " + s.leaf().fallback
	}
	c.addAt(n, code, p, fmt.Sprintf("want %s; got %s", s.want(), n.got(mismatch)), fix)
}

// refusal is why the schema refuses one value in particular.
type refusal struct{ code, message, fix, ref string }

var eventTTLZero = refusal{
	CodeEventTTLZero, "an event TTL of 0 means no expiry at all upstream: events pile up until etcd is full",
	"leave it out for the default, 3600, or write a number of seconds", "kubernetes/kubernetes#124836",
}

// refusals are the values, by path and text, whose reason is worth telling.
var refusals = map[string]refusal{"churn.events.ttlSeconds=0": eventTTLZero}

// fits reports whether a value of kind k may stand where the schema wants one
// of kind want.
func (k kind) fits(want kind) bool {
	return k == want || k == kindInt && want == kindNumber
}

func typeFix(n *node, s *shape) string {
	switch {
	case s.kind == kindString && (n.kind == kindInt || n.kind == kindNumber):
		return fmt.Sprintf("put it in quotes: %q", n.raw)
	case (s.kind == kindInt || s.kind == kindNumber) && n.kind == kindString:
		if k, _, err := numberText(n.text); err == nil && k.fits(s.kind) {
			return "write it without quotes: " + n.text
		}
	case s.kind == kindBool && n.kind == kindString:
		// YAML 1.1 read these as booleans; 1.2 does not.
		if b, ok := map[string]string{"yes": "true", "on": "true", "no": "false", "off": "false", "true": "true", "false": "false"}[strings.ToLower(n.text)]; ok {
			return "write " + b
		}
	case s.kind == kindList && n.kind == kindObject:
		return "write a list of one entry"
	}
	return ""
}

// got describes a value in a message, with its type when that is what is wrong.
func (n *node) got(withType bool) string {
	raw := n.raw
	if raw == "" {
		raw = n.text
	}
	if r := []rune(raw); len(r) > 60 {
		raw = string(r[:57]) + "…"
	}
	switch n.kind {
	case kindString:
		if withType {
			return "the string " + strconv.Quote(raw)
		}
		return strconv.Quote(raw)
	case kindInt, kindNumber:
		if withType {
			return "the number " + raw
		}
		return raw
	case kindBool:
		return raw
	}
	return n.kind.String()
}
