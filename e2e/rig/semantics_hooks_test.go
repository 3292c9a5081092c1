//go:build rig

package rig_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubeseams/seams/internal/pki"
	"github.com/kubeseams/seams/internal/prove/rig"
)

// call is a call of a webhook.
type call struct {
	path, group, name, operation, user string
}

// hooks are webhooks in this process: /mutate sets a label, /validate refuses a
// note of "refuse me", /convert converts gauges.
type hooks struct {
	url string
	ca  []byte

	mu    sync.Mutex
	calls []call
	// broken makes /convert answer with an error.
	broken bool
}

func startHooks(t *testing.T, r *rig.Rig) *hooks {
	t.Helper()
	authority, err := r.PKI().Authority(pki.CA)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue(pki.Leaf{CN: "hooks", SANs: []string{r.Spare()}, Server: true})
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(r.Spare(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	h := &hooks{url: "https://" + listener.Addr().String(), ca: authority.Cert}
	mux := http.NewServeMux()
	mux.HandleFunc("/mutate", h.admit)
	mux.HandleFunc("/validate", h.admit)
	mux.HandleFunc("/convert", h.convert)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.ServeTLS(listener, "", "")
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return h
}

// seen are the calls for an object so far.
func (h *hooks) seen(path, group, name string) []call {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.calls), func(c call) bool { return c.path != path || c.group != group || c.name != name })
}

// breaks has /convert fail, or work again.
func (h *hooks) breaks(broken bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken = broken
}

func (h *hooks) admit(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
		return
	}
	q := review.Request
	h.mu.Lock()
	h.calls = append(h.calls, call{r.URL.Path, q.Resource.Group, q.Name, string(q.Operation), q.UserInfo.Username})
	h.mu.Unlock()
	answer := &admissionv1.AdmissionResponse{UID: q.UID, Allowed: true}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(q.Object.Raw, &u.Object); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch {
	case r.URL.Path == "/mutate":
		kind := admissionv1.PatchTypeJSONPatch
		answer.PatchType, answer.Patch = &kind, []byte(`[{"op":"add","path":"/metadata/annotations","value":{"hook":"was here"}}]`)
	case field(u, "spec", "note") == "refuse me":
		answer.Allowed, answer.Result = false, &metav1.Status{Message: "the webhook refuses"}
	}
	review.Request, review.Response = nil, answer
	_ = json.NewEncoder(w).Encode(review)
}

// convert converts gauges: v1 has a number as width, v1beta1 text as size.
func (h *hooks) convert(w http.ResponseWriter, r *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	broken := h.broken
	h.mu.Unlock()
	answer := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	if broken {
		answer.Result = metav1.Status{Status: metav1.StatusFailure, Message: "the converter is broken"}
	}
	for _, raw := range review.Request.Objects {
		if broken {
			break
		}
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(raw.Raw, &u.Object); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if width, ok := u.Object["width"]; ok {
			delete(u.Object, "width")
			u.Object["size"] = fmt.Sprint(width)
		} else if size, ok := u.Object["size"].(string); ok {
			delete(u.Object, "size")
			n, _ := strconv.Atoi(size)
			u.Object["width"] = int64(n)
		}
		u.SetAPIVersion(review.Request.DesiredAPIVersion)
		data, err := u.MarshalJSON()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer.ConvertedObjects = append(answer.ConvertedObjects, runtime.RawExtension{Raw: data})
	}
	review.Request, review.Response = nil, answer
	_ = json.NewEncoder(w).Encode(review)
}
