package check

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// parseValue reads a flag's value by the name pflag gives its type, as pflag
// does; a test compares the two. A type that is not listed takes any text,
// which the program may still refuse.
func parseValue(kind, value string) error {
	switch kind {
	case "bool":
		return reason(strconv.ParseBool(value))
	case "int", "int64", "Level":
		return reason(strconv.ParseInt(value, 0, 64))
	case "int32":
		return reason(strconv.ParseInt(value, 0, 32))
	case "uint", "uint64":
		return reason(strconv.ParseUint(value, 0, 64))
	case "uint32":
		return reason(strconv.ParseUint(value, 0, 32))
	case "float32":
		return reason(strconv.ParseFloat(value, 32))
	case "float64":
		return reason(strconv.ParseFloat(value, 64))
	case "duration":
		return reason(time.ParseDuration(value))
	case "ip":
		if value != "" && net.ParseIP(strings.TrimSpace(value)) == nil {
			return errors.New("not an IP address")
		}
		return nil
	}
	return parseSpecial(kind, value)
}

// reason is the error of a reader without what the finding says already.
func reason[T any](_ T, err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		return cause
	}
	return err
}

// parseSpecial reads the types that Kubernetes and etcd add to pflag's.
func parseSpecial(kind, value string) error {
	switch kind {
	case "stringSlice":
		if !strings.ContainsAny(value, "\"\r\n") {
			return nil // any text is a line of CSV, but for these
		}
		return setOf(func(fs *pflag.FlagSet, name string) { fs.StringSlice(name, nil, "") }, value)
	case "stringToString":
		return setOf(func(fs *pflag.FlagSet, name string) { fs.StringToString(name, nil, "") }, value)
	case "int32Slice":
		for item := range strings.SplitSeq(value, ",") {
			if err := reason(strconv.ParseInt(item, 0, 32)); err != nil {
				return err
			}
		}
		return nil
	case "mapStringBool":
		return eachPair(value, func(_, v string) error { _, err := strconv.ParseBool(v); return err })
	case "mapStringString":
		return eachPair(value, func(_, _ string) error { return nil })
	case "colonSeparatedMultimapStringString":
		return nil // judged as feature gates, or free text
	case "quantity":
		_, err := resource.ParseQuantity(value)
		return err
	case "portRange":
		_, err := utilnet.ParsePortRange(value)
		return err
	case "ipport":
		return parseIPPort(value)
	case "version":
		if value == "raw" {
			return nil
		}
		_, err := strconv.ParseBool(value)
		return err
	case "UniqueURLs":
		return parseURLs(value)
	}
	return nil
}

// setOf has pflag itself read a value.
func setOf(declare func(*pflag.FlagSet, string), value string) error {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	declare(fs, "value")
	err := fs.Set("value", value)
	// pflag's own text repeats the flag and the value; the innermost cause is what is wrong.
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err
}

// eachPair reads name=value pairs separated by commas.
func eachPair(text string, check func(name, value string) error) error {
	for pair := range strings.SplitSeq(text, ",") {
		if pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%q is not NAME=VALUE", pair)
		}
		if err := check(strings.TrimSpace(name), strings.TrimSpace(value)); err != nil {
			return fmt.Errorf("%q: %w", pair, err)
		}
	}
	return nil
}

func parseIPPort(value string) error {
	if net.ParseIP(value) != nil {
		return nil
	}
	host, port, err := net.SplitHostPort(value)
	if err != nil {
		return err
	}
	if host != "" && net.ParseIP(host) == nil {
		return fmt.Errorf("%q is not an IP address", host)
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err
}

// parseURLs reads etcd's lists of URLs (go.etcd.io/etcd client/pkg/types,
// NewURLs): a scheme of http, https, unix or unixs, and host:port without a path.
func parseURLs(value string) error {
	for text := range strings.SplitSeq(value, ",") {
		text = strings.TrimSpace(text)
		if text == "" || text == "*" { // --cors=*
			continue
		}
		u, err := url.Parse(text)
		switch {
		case err != nil:
			return err
		case u.Scheme == "unix" || u.Scheme == "unixs":
			continue
		case u.Scheme != "http" && u.Scheme != "https":
			return fmt.Errorf("%q has no scheme http:// or https://", text)
		case u.Path != "":
			return fmt.Errorf("%q has a path", text)
		}
		if _, _, err := net.SplitHostPort(u.Host); err != nil {
			return fmt.Errorf("%q is not host:port", u.Host)
		}
	}
	return nil
}
