local seams = import 'seams.libsonnet';
function(files)
  seams.edit(files, { kind: 'Cluster' }, function(o) o {
    spec+: { etcdClusters: [e { etcdMembers: [m { volumeSize: 100 } for m in e.etcdMembers] } for e in super.etcdClusters] },
  })
