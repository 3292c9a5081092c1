package measure

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// worthSampling is how many bytes of a kind there must be before the make-up of
// its objects matters.
const worthSampling = 1 << 20

// onlyMetadata asks for what all objects have, which is small.
const onlyMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// counts asks how many objects of each kind there are: apiservers count for
// their metrics once a minute, and of kinds that nobody asks for not at all. What
// cannot be asked keeps the metrics' count.
func (c *cluster) counts(ctx context.Context) {
	for _, gr := range c.seen.sorted() {
		path, ok := c.path(gr)
		if !ok || ctx.Err() != nil {
			continue
		}
		data, err := c.read(ctx, path, map[string]string{"limit": "1"}, onlyMetadata)
		if err != nil {
			continue
		}
		var list struct {
			Metadata struct {
				Remaining *float64 `json:"remainingItemCount"`
				Continue  string   `json:"continue"`
			} `json:"metadata"`
			Items []struct{} `json:"items"`
		}
		if json.Unmarshal(data, &list) != nil {
			continue
		}
		switch m := list.Metadata; {
		case m.Remaining != nil:
			c.seen.Kinds[gr].Objects = float64(len(list.Items)) + *m.Remaining
		case m.Continue == "":
			c.seen.Kinds[gr].Objects = float64(len(list.Items))
		}
	}
}

// path is where a kind is listed, in the version that its group prefers.
func (c *cluster) path(gr profile.GroupResource) (path string, ok bool) {
	version, ok := c.versions[gr.Group]
	if gr.Group == "" {
		return "/api/v1/" + gr.Resource, ok
	}
	return "/apis/" + gr.Group + "/" + version + "/" + gr.Resource, ok
}

// sizes reads some objects of each kind whose size no metric tells, and of the
// large ones, whose make-up decides what they cost in memory.
func (c *cluster) sizes(ctx context.Context) {
	if c.o.Sample <= 0 {
		return
	}
	version, _ := target.ParseVersion(c.seen.Kubernetes)
	for _, gr := range c.seen.sorted() {
		k := c.seen.Kinds[gr]
		custom := !target.BuiltIn(version, gr.Group, gr.Resource)
		if k.Objects == 0 || k.Bytes > 0 && (!custom || k.Bytes*k.Objects < worthSampling) || ctx.Err() != nil {
			continue
		}
		if err := c.sample(ctx, gr, k, custom); err != nil {
			c.seen.refuse("the size of "+gr.String(), err)
		}
	}
}

// sample reads a page of a kind as etcd keeps it: built-in kinds as protobuf,
// custom ones as JSON.
func (c *cluster) sample(ctx context.Context, gr profile.GroupResource, k *Kind, custom bool) error {
	path, ok := c.path(gr)
	if !ok {
		return errors.New("no version of the group is served")
	}
	accept := "application/vnd.kubernetes.protobuf"
	if custom {
		accept = "application/json"
	}
	data, err := c.read(ctx, path, map[string]string{"limit": strconv.Itoa(c.o.Sample)}, accept)
	if err != nil {
		return err
	}
	var sizes []int
	if custom {
		sizes, k.Opaque, err = jsonItems(data)
	} else {
		sizes, err = protobufItems(data)
	}
	if err != nil || len(sizes) == 0 {
		return err
	}
	total := 0
	for _, n := range sizes {
		total += n
	}
	if k.Bytes == 0 {
		k.Bytes, k.BytesFrom = float64(total)/float64(len(sizes)), fmt.Sprintf("mean of %d read", len(sizes))
	}
	return nil
}

// longText is from where a string is one value and no field among others.
const longText = 256

// jsonItems measures the objects of a list, and which share of their bytes is
// in long strings.
func jsonItems(data []byte) (sizes []int, opaque float64, err error) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, -1, err
	}
	total, long := 0, 0
	for _, item := range list.Items {
		sizes = append(sizes, len(item))
		total += len(item)
		var v any
		if err := json.Unmarshal(item, &v); err != nil {
			return nil, -1, err
		}
		long += longBytes(v)
	}
	if total == 0 {
		return sizes, -1, nil
	}
	return sizes, float64(long) / float64(total), nil
}

func longBytes(v any) (n int) {
	switch v := v.(type) {
	case string:
		if len(v) >= longText {
			return len(v)
		}
	case map[string]any:
		for _, x := range v {
			n += longBytes(x)
		}
	case []any:
		for _, x := range v {
			n += longBytes(x)
		}
	}
	return n
}

// protobufItems measures the objects of a list in Kubernetes' envelope: four
// bytes of magic, a runtime.Unknown whose field 2 is the list, whose field 2 is
// each object. In etcd each has an envelope of its own.
func protobufItems(data []byte) (sizes []int, err error) {
	const magic = "k8s\x00"
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return nil, errors.New("the answer is no protobuf of Kubernetes")
	}
	var list []byte
	if err := fields(data[len(magic):], func(value []byte) { list = value }); err != nil {
		return nil, err
	}
	err = fields(list, func(value []byte) { sizes = append(sizes, len(value)+envelope) })
	return sizes, err
}

// envelope is the magic and the names of version and kind.
const envelope = 30

var errProtobuf = errors.New("the answer is no whole protobuf message")

// fields calls on for each field 2 of a message that is of bytes. The rest is
// skipped by its wire type: 0 is a varint, 1 and 5 are of 8 and 4 bytes, 2 has its
// length before it.
func fields(message []byte, on func([]byte)) error {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			return errProtobuf
		}
		message = message[n:]
		length, skip := uint64(0), 0
		switch tag & 7 {
		case 0:
			_, skip = binary.Uvarint(message)
		case 1:
			skip = 8
		case 2:
			length, skip = binary.Uvarint(message)
		case 5:
			skip = 4
		}
		if skip <= 0 || skip > len(message) || length > uint64(len(message)-skip) {
			return errProtobuf
		}
		message = message[skip:]
		if tag == 2<<3|2 {
			on(message[:length])
		}
		message = message[length:]
	}
	return nil
}
