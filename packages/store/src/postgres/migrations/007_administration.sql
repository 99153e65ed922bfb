-- Keys of the administrative service, and counts of answers.

create table admin_keys (
  id text collate "C" primary key check (is_text(id, 128)),
  name text collate "C" not null check (is_text(name, 1024)),
  role text collate "C" not null check (role in ('VIEWER', 'INGEST', 'SUPPORT', 'ADMIN')),
  digest bytea not null unique check (length(digest) = 32),
  last_four text collate "C" not null check (char_length(last_four) = 4),
  created_at timestamptz(3) not null check (is_time(created_at)),
  created_by text collate "C" not null check (is_text(created_by, 256)),
  expires_at timestamptz(3) check (is_time(expires_at)),
  revoked_at timestamptz(3) check (is_time(revoked_at))
);

create function admin_keys_refuse() returns trigger language plpgsql as $$
begin
  raise exception
    'admin_keys: a key keeps its digest, role and revocation, and never expires later or is deleted';
end
$$;

create trigger admin_keys_only_shrink before update on admin_keys
for each row when (
  new.id <> old.id or new.digest <> old.digest or new.last_four <> old.last_four or new.role <> old.role
  or new.created_at <> old.created_at or new.created_by <> old.created_by
  or (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
  or (old.expires_at is not null and (new.expires_at is null or new.expires_at > old.expires_at))
) execute function admin_keys_refuse();

create trigger admin_keys_are_kept before delete on admin_keys
for each row execute function admin_keys_refuse();

-- The answers of an hour, which begins at "at". A code is OK, or that of the first error.
create table usage (
  at timestamptz(3) not null check (is_time(at)),
  partner_id text collate "C" not null check (char_length(partner_id) <= 128),
  key_id text collate "C" not null check (char_length(key_id) <= 128),
  operation text collate "C" not null check (char_length(operation) <= 64),
  code text collate "C" not null check (char_length(code) <= 64),
  count bigint not null check (count between 1 and 9007199254740991),
  primary key (at, partner_id, key_id, operation, code)
);

create index usage_of_partner on usage (partner_id, at);
