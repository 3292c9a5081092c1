// Library for overlays: import 'seams.libsonnet'.
{
  // matches tells whether object o has all of want's fields, at any depth.
  matches(o, want)::
    if std.isObject(want) then
      std.isObject(o) && std.all([
        std.objectHas(o, k) && self.matches(o[k], want[k])
        for k in std.objectFields(want)
      ])
    else o == want,

  // edit applies f to every object that has all of want's fields, in every
  // file, and fails when there is none.
  edit(files, want, f)::
    local hits = std.foldl(
      function(n, path) n + std.count([self.matches(o, want) for o in files[path]], true),
      std.objectFields(files),
      0
    );
    assert hits > 0 : 'no rendered object matches ' + std.manifestJsonMinified(want);
    {
      [path]: [if $.matches(o, want) then f(o) else o for o in files[path]]
      for path in std.objectFields(files)
    },

  // arg sets an argument of a v1beta4 list of {name, value}, in place of one of
  // that name, else at the end.
  arg(args, name, value)::
    if std.member([a.name for a in args], name) then
      [if a.name == name then a { value: value } else a for a in args]
    else args + [{ name: name, value: value }],
}
