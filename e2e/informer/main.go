// Command informer is an operator as operators are made, with
// controller-runtime: it tells every change that its informer sees of a kind,
// one JSON object a line, gives each object a ConfigMap that it owns, and writes
// its status. The tests of e2e/rig run it against groups in aggregated tiers.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func main() {
	// controller-runtime has put a flag of its own among those of the process.
	flags := flag.NewFlagSet("informer", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "the file of a kubeconfig")
	kind := flags.String("kind", "", "GROUP/VERSION/KIND")
	namespace := flags.String("namespace", "default", "the namespace that is looked at")
	_ = flags.Parse(os.Args[1:])
	ctrl.SetLogger(klog.Background())
	if err := run(*kubeconfig, *kind, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, kind, namespace string) error {
	parts := strings.Split(kind, "/")
	if len(parts) != 3 {
		return fmt.Errorf("kind %q is not GROUP/VERSION/KIND", kind)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		// An object is read as the informer has it, of any kind.
		Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	if err != nil {
		return err
	}
	o := &operator{Client: mgr.GetClient(), gvk: schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]}}
	ctx := ctrl.SetupSignalHandler()
	informer, err := mgr.GetCache().GetInformer(ctx, o.object())
	if err != nil {
		return err
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { o.tell("add", obj) },
		UpdateFunc: func(_, obj any) { o.tell("update", obj) },
		DeleteFunc: func(obj any) { o.tell("delete", obj) },
	}); err != nil {
		return err
	}
	if err := ctrl.NewControllerManagedBy(mgr).Named("informer").For(o.object()).Owns(&corev1.ConfigMap{}).Complete(o); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

type operator struct {
	client.Client
	gvk schema.GroupVersionKind
	out sync.Mutex
}

func (o *operator) object() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(o.gvk)
	return u
}

// tell writes a line for a change.
func (o *operator) tell(what string, obj any) {
	if d, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		what, obj = what+"-unseen", d.Obj
	}
	u, ok := obj.(client.Object)
	if !ok {
		return
	}
	o.out.Lock()
	defer o.out.Unlock()
	// A reader that has gone ends the process by SIGPIPE.
	_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"event": what, "name": u.GetName(), "uid": string(u.GetUID())})
}

// Reconcile gives the object its ConfigMap and its status.
func (o *operator) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	u := o.object()
	if err := o.Get(ctx, request.NamespacedName, u); err != nil || u.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name}}
	if _, err := controllerutil.CreateOrUpdate(ctx, o.Client, owned, func() error {
		owned.Data = map[string]string{"of": string(u.GetUID())}
		return controllerutil.SetControllerReference(u, owned, o.Scheme())
	}); err != nil {
		return reconcile.Result{}, err
	}
	if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); phase == "Ready" {
		return reconcile.Result{}, nil
	}
	before := u.DeepCopy()
	if err := unstructured.SetNestedField(u.Object, "Ready", "status", "phase"); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, o.Status().Patch(ctx, u, client.MergeFrom(before))
}
