package scrape

// Etcd is what one etcd member says of the time between two looks. Puts are
// keys written; commits are Raft entries, of which a transaction takes one
// however many keys it writes, and a lease grant one without any key.
func Etcd(d *Delta) []Figure {
	var fs figures
	for _, x := range []struct {
		name     string
		families []string // the first that is there
	}{
		{"puts-per-second", []string{"etcd_mvcc_put_total", "etcd_debugging_mvcc_put_total"}},
		{"deletes-per-second", []string{"etcd_mvcc_delete_total", "etcd_debugging_mvcc_delete_total"}},
		{"ranges-per-second", []string{"etcd_mvcc_range_total", "etcd_debugging_mvcc_range_total"}},
		{"txns-per-second", []string{"etcd_mvcc_txn_total", "etcd_debugging_mvcc_txn_total"}},
		{"commits-per-second", []string{"etcd_server_proposals_committed_total"}},
		{"lease-grants-per-second", []string{"etcd_debugging_lease_granted_total"}},
	} {
		v, ok := d.firstRate(x.families)
		fs.put(x.name, PerSecond, v, ok)
	}
	v, ok := d.Rate("etcd_disk_wal_write_bytes_total")
	fs.put("wal-bytes-per-second", BytesPerSecond, v, ok)
	for _, x := range []struct{ name, family string }{
		{"fsync-p99-seconds", "etcd_disk_wal_fsync_duration_seconds"},
		{"backend-commit-p99-seconds", "etcd_disk_backend_commit_duration_seconds"},
	} {
		v, ok := d.Quantile(0.99, x.family)
		fs.put(x.name, Seconds, v, ok)
	}
	for _, x := range []struct{ name, family, unit string }{
		{"database-bytes", "etcd_mvcc_db_total_size_in_bytes", Bytes},
		{"database-in-use-bytes", "etcd_mvcc_db_total_size_in_use_in_bytes", Bytes},
		{"quota-bytes", "etcd_server_quota_backend_bytes", Bytes},
		{"keys", "etcd_debugging_mvcc_keys_total", ""},
		{"proposals-pending", "etcd_server_proposals_pending", ""},
		{"has-leader", "etcd_server_has_leader", ""},
		{"watchers", "etcd_debugging_mvcc_watcher_total", ""},
	} {
		v, ok := d.After.Sum(x.family)
		fs.put(x.name, x.unit, v, ok)
	}
	for _, x := range []struct{ name, family string }{
		{"proposals-failed", "etcd_server_proposals_failed_total"},
		{"store-leader-changes", "etcd_server_leader_changes_seen_total"},
		{"slow-applies", "etcd_server_slow_apply_total"},
	} {
		v, ok := d.Increase(x.family)
		fs.put(x.name, "", v, ok)
	}
	fs = append(fs, Memory(d.After)...)
	v, ok = d.Rate("process_cpu_seconds_total")
	fs.put("cpu-cores", Cores, v, ok)
	SortFigures(fs)
	return fs
}

// firstRate is the rate of the first family that the process exposes: etcd 3.4
// moved its MVCC counters out of etcd_debugging and kept both for a while.
func (d *Delta) firstRate(families []string) (float64, bool) {
	for _, f := range families {
		if v, ok := d.Rate(f); ok {
			return v, true
		}
	}
	return 0, false
}
