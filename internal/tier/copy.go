package tier

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/kubeseams/seams/internal/etcdclient"
)

// Digest is what a group has in an etcd: two are equal when every object is, to
// the byte.
type Digest struct {
	Objects int    `json:"objects"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// side is a group in one etcd.
type side struct {
	*etcdclient.Client
	// prefix is what all its keys begin with, with a slash at the end.
	prefix string
}

// compared is what came of comparing two sides.
type compared struct {
	Digest
	// Differ counts the keys that were not alike.
	Differ int
	// uids are those of the objects by resource; nil for a resource that is not
	// stored as JSON.
	uids map[string]*uidSum
}

// uidSum is a set of uids, whatever their order.
type uidSum struct {
	objects int
	words   [4]uint64
}

func (u *uidSum) add(uid string) {
	h := sha256.Sum256([]byte(uid))
	for i := range u.words {
		u.words[i] += binary.BigEndian.Uint64(h[8*i:])
	}
	u.objects++
}

const (
	firstPage = 100
	maxPage   = 1000
	pageBytes = 8 << 20
)

// compare goes through both sides page by page, as they were at one revision
// each; with write it makes to equal to from.
func compare(ctx context.Context, from, to side, write bool) (compared, error) {
	out := compared{uids: map[string]*uidSum{}}
	sum, limit := sha256.New(), int64(firstPage)
	start, revision := []byte(from.prefix), int64(0)
	for {
		page, err := from.Get(ctx, etcdclient.Range{Key: start, End: etcdclient.PrefixEnd(from.prefix), Limit: limit, Revision: revision})
		if err != nil {
			return out, err
		}
		revision = page.Header.Revision
		end := etcdclient.PrefixEnd(from.prefix)
		if page.More {
			end = append(bytes.Clone(page.KVs[len(page.KVs)-1].Key), 0)
		}
		size, err := out.take(sum, from, page.KVs)
		if err != nil {
			return out, err
		}
		n, err := settle(ctx, from, to, page.KVs, start, end, write)
		if err != nil {
			return out, err
		}
		out.Differ += n
		if !page.More {
			out.SHA256 = hex.EncodeToString(sum.Sum(nil))
			return out, nil
		}
		start, limit = end, nextPage(len(page.KVs), size)
	}
}

// nextPage is how many objects of the size of those of the last page to ask for.
func nextPage(objects int, size int64) int64 {
	return min(maxPage, max(1, int64(objects)*pageBytes/max(1, size)))
}

// take adds a page to the sums.
func (c *compared) take(sum hash.Hash, from side, page []etcdclient.KeyValue) (size int64, err error) {
	for _, kv := range page {
		name := bytes.TrimPrefix(kv.Key, []byte(from.prefix))
		if err := movable(kv); err != nil {
			return 0, fmt.Errorf("%s etcd: %s: %w", from.Name, kv.Key, err)
		}
		fmt.Fprintf(sum, "%d %s %d ", len(name), name, len(kv.Value))
		sum.Write(kv.Value)
		c.Objects++
		size += int64(len(name) + len(kv.Value))
		c.takeUID(name, kv.Value)
	}
	c.Bytes += size
	return size, nil
}

func (c *compared) takeUID(name, value []byte) {
	resource, _, _ := bytes.Cut(name, []byte("/"))
	sum, seen := c.uids[string(resource)]
	if !seen {
		sum = &uidSum{}
	}
	var object struct{ Metadata struct{ UID string } }
	if sum == nil || json.Unmarshal(value, &object) != nil {
		c.uids[string(resource)] = nil
		return
	}
	sum.add(object.Metadata.UID)
	c.uids[string(resource)] = sum
}

// cbor begins an object that is stored as CBOR.
var cbor = []byte{0xd9, 0xd9, 0xf7}

// movable is an error for a value that does not mean the same in another etcd.
func movable(kv etcdclient.KeyValue) error {
	switch {
	case bytes.HasPrefix(kv.Value, []byte("k8s:enc:")):
		return fmt.Errorf("it is encrypted, and the other server may not have the key; have kube-apiserver store the group with the provider identity and write every object once")
	case kv.Lease != 0:
		return fmt.Errorf("it belongs to an etcd lease, which no custom resource does")
	case !bytes.HasPrefix(kv.Value, []byte("{")) && !bytes.HasPrefix(kv.Value, cbor):
		return fmt.Errorf("it is neither JSON nor CBOR, as custom resources are stored")
	}
	return nil
}

// settle makes one stretch of keys alike, or counts what differs.
func settle(ctx context.Context, from, to side, page []etcdclient.KeyValue, start, end []byte, write bool) (int, error) {
	rename := func(key []byte, a, b string) []byte {
		if bytes.Equal(key, etcdclient.PrefixEnd(a)) {
			return etcdclient.PrefixEnd(b)
		}
		return append([]byte(b), bytes.TrimPrefix(key, []byte(a))...)
	}
	have := map[string][]byte{}
	at, last := rename(start, from.prefix, to.prefix), rename(end, from.prefix, to.prefix)
	for limit, revision := int64(len(page)+1), int64(0); ; {
		there, err := to.Get(ctx, etcdclient.Range{Key: at, End: last, Limit: limit, Revision: revision})
		if err != nil {
			return 0, err
		}
		for _, kv := range there.KVs {
			have[string(kv.Key)] = kv.Value
		}
		if !there.More {
			break
		}
		at, revision = append(bytes.Clone(there.KVs[len(there.KVs)-1].Key), 0), there.Header.Revision
	}
	var puts []etcdclient.KeyValue
	for _, kv := range page {
		key := rename(kv.Key, from.prefix, to.prefix)
		if value, ok := have[string(key)]; !ok || !bytes.Equal(value, kv.Value) {
			puts = append(puts, etcdclient.KeyValue{Key: key, Value: kv.Value})
		}
		delete(have, string(key))
	}
	extra := slices.Sorted(maps.Keys(have))
	differ := len(puts) + len(extra)
	if !write || differ == 0 {
		return differ, nil
	}
	err := parallel(ctx, len(puts), func(ctx context.Context, i int) error {
		_, err := to.Put(ctx, puts[i].Key, puts[i].Value)
		return err
	})
	if err != nil {
		return differ, err
	}
	return differ, parallel(ctx, len(extra), func(ctx context.Context, i int) error { return to.Remove(ctx, []byte(extra[i])) })
}

// clear deletes all keys of a side, a page at a time so that the etcd serves
// others in between.
func clear(ctx context.Context, s side) (int, error) {
	var n atomic.Int64
	for {
		page, err := s.Get(ctx, etcdclient.Range{Key: []byte(s.prefix), End: etcdclient.PrefixEnd(s.prefix), Limit: maxPage, KeysOnly: true})
		if err != nil || len(page.KVs) == 0 {
			return int(n.Load()), err
		}
		err = parallel(ctx, len(page.KVs), func(ctx context.Context, i int) error {
			n.Add(1)
			return s.Remove(ctx, page.KVs[i].Key)
		})
		if err != nil {
			return int(n.Load()), err
		}
	}
}
