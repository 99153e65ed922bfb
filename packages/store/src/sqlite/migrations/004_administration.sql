-- Keys of the administrative service.

create table admin_keys (
  id text primary key check (length(id) between 1 and 128),
  name text not null
    check (length(name) between 1 and 1024)
    check (name not glob '*[' || char(1) || '-' || char(31) || char(127) || ']*'
      and instr(name, char(0)) = 0),
  role text not null check (role in ('VIEWER', 'INGEST', 'SUPPORT', 'ADMIN')),
  digest blob not null unique check (length(digest) = 32),
  last_four text not null check (length(last_four) = 4),
  created_at text not null check (created_at is strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+0 seconds')),
  created_by text not null,
  expires_at text check (expires_at is strftime('%Y-%m-%dT%H:%M:%fZ', expires_at, '+0 seconds')),
  revoked_at text check (revoked_at is strftime('%Y-%m-%dT%H:%M:%fZ', revoked_at, '+0 seconds'))
) strict, without rowid;

create trigger admin_keys_only_shrink before update on admin_keys
when new.id <> old.id or new.digest <> old.digest or new.last_four <> old.last_four or new.role <> old.role
  or new.created_at <> old.created_at or new.created_by <> old.created_by
  or (old.revoked_at is not null and new.revoked_at is not old.revoked_at)
  or (old.expires_at is not null and (new.expires_at is null or new.expires_at > old.expires_at))
begin
  select raise(abort, 'admin_keys: a key keeps its digest and role, and access only shrinks');
end;

create trigger admin_keys_are_kept before delete on admin_keys
begin
  select raise(abort, 'admin_keys: a key is never deleted');
end;
