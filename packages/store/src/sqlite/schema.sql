-- The schema that the migrations create, written by "npm run docs". Nothing runs it.

CREATE TABLE settings (
  name text primary key,
  value text not null
) strict, without rowid;

CREATE TABLE cursor_keys (
  id integer primary key check (id between 0 and 255),
  secret blob not null check (length(secret) = 32),
  created_at text not null check (created_at is strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+0 seconds'))
) strict;

CREATE TABLE partners (
  id text primary key
    check (length(id) between 1 and 128)
    check (id not glob '*[' || char(1) || '-' || char(31) || char(127) || ']*' and instr(id, char(0)) = 0),
  name text not null
    check (length(name) between 1 and 1024)
    check (name not glob '*[' || char(1) || '-' || char(31) || char(127) || ']*'
      and instr(name, char(0)) = 0),
  created_at text not null check (created_at is strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+0 seconds')),
  disabled_at text check (disabled_at is strftime('%Y-%m-%dT%H:%M:%fZ', disabled_at, '+0 seconds'))
, brands_rate integer check (brands_rate between 1 and 10000), balances_rate integer check (balances_rate between 1 and 10000)) strict, without rowid;

CREATE TABLE api_keys (
  id text primary key check (length(id) between 1 and 128),
  partner_id text not null references partners (id),
  name text
    check (length(name) between 1 and 1024)
    check (name not glob '*[' || char(1) || '-' || char(31) || char(127) || ']*'
      and instr(name, char(0)) = 0),
  digest blob not null unique check (length(digest) = 32),
  last_four text not null check (length(last_four) = 4),
  scopes text not null check (scopes in ('BALANCES_READ', 'BRANDS_READ', 'BALANCES_READ BRANDS_READ')),
  created_at text not null check (created_at is strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+0 seconds')),
  expires_at text check (expires_at is strftime('%Y-%m-%dT%H:%M:%fZ', expires_at, '+0 seconds')),
  revoked_at text check (revoked_at is strftime('%Y-%m-%dT%H:%M:%fZ', revoked_at, '+0 seconds'))
, created_by text) strict, without rowid;

CREATE INDEX api_keys_of_partner on api_keys (partner_id, id);

CREATE TABLE grants (
  customer_id text not null
    check (length(customer_id) between 1 and 128)
    check (customer_id not glob '*[' || char(1) || '-' || char(31) || char(127) || ']*'
      and instr(customer_id, char(0)) = 0),
  id text not null
    check (length(id) between 1 and 256)
    check (id not glob '*[' || char(1) || '-' || char(31) || char(127) || ']*' and instr(id, char(0)) = 0),
  partner_id text not null references partners (id),
  action text not null check (action = 'CHECKING_BALANCE'),
  status text not null check (status in ('ACTIVE', 'CONSUMED', 'REVOKED', 'EXPIRED')),
  expires_at text check (expires_at is strftime('%Y-%m-%dT%H:%M:%fZ', expires_at, '+0 seconds')),
  created_at text not null check (created_at is strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+0 seconds')),
  updated_at text not null check (updated_at is strftime('%Y-%m-%dT%H:%M:%fZ', updated_at, '+0 seconds')),
  primary key (customer_id, id)
) strict, without rowid;

CREATE INDEX grants_of_customer on grants (customer_id, partner_id, status, expires_at);

CREATE TABLE balances (
  customer_id text not null check (length(customer_id) between 1 and 128),
  id text not null check (length(id) between 1 and 256),
  type text not null check (type = 'CHECKING'),
  currency text not null check (currency = 'USD'),
  amount integer not null check (amount between -9007199254740991 and 9007199254740991),
  created_at text not null check (created_at is strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+0 seconds')),
  updated_at text not null check (updated_at = created_at
    or updated_at is strftime('%Y-%m-%dT%H:%M:%fZ', updated_at, '+0 seconds')),
  record text not null generated always as (
    '{"id":' || json_quote(id)
    || ',"customer_id":' || json_quote(customer_id)
    || ',"type":"' || type
    || '","currency":"' || currency
    || '","amount":' || amount
    || ',"created_at":"' || created_at
    || '","updated_at":"' || updated_at || '"}'
  ) stored,
  primary key (customer_id, id),
  check (customer_id || id not glob '*[' || char(1) || '-' || char(31) || char(127) || ']*'
    and instr(customer_id || id, char(0)) = 0)
) strict, without rowid;

CREATE TABLE brands (
  partner_id text not null references partners (id),
  id text not null
    check (length(id) between 1 and 128)
    check (id not glob '*[' || char(1) || '-' || char(31) || char(127) || ']*' and instr(id, char(0)) = 0),
  name text not null
    check (length(name) between 1 and 1024)
    check (name not glob '*[' || char(1) || '-' || char(31) || char(127) || ']*'
      and instr(name, char(0)) = 0),
  created_at text not null check (created_at is strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+0 seconds')),
  updated_at text not null check (updated_at is strftime('%Y-%m-%dT%H:%M:%fZ', updated_at, '+0 seconds')),
  reference_id text not null
    check (length(reference_id) between 1 and 1024)
    check (reference_id not glob '*[' || char(1) || '-' || char(31) || char(127) || ']*'
      and instr(reference_id, char(0)) = 0),
  color text check (color glob '#[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]'),
  profile_image_url text
    check (length(profile_image_url) between 8 and 8000)
    check (profile_image_url like 'http://_%' or profile_image_url like 'https://_%')
    check (profile_image_url not glob '*[' || char(1) || '-' || char(32) || char(127) || ']*'
      and instr(profile_image_url, char(0)) = 0),
  metadata text check (json_valid(metadata) and json_type(metadata) = 'object'),
  record text not null generated always as (
    '{"id":' || json_quote(id)
    || ',"name":' || json_quote(name)
    || ',"created_at":"' || created_at
    || '","updated_at":"' || updated_at
    || '","reference_id":' || json_quote(reference_id)
    || iif(color is null, '', ',"color":"' || color || '"')
    || ',"profile_image_url":' || iif(
      profile_image_url is null,
      '"' || char(1) || '/assets/brand-placeholder.png"',
      json_quote(profile_image_url)
    )
    || iif(metadata is null, '', ',"metadata":' || metadata)
    || '}'
  ) stored,
  primary key (partner_id, id)
) strict, without rowid;

CREATE INDEX brands_by_reference on brands (partner_id, reference_id, id);

CREATE TRIGGER brands_metadata_on_insert before insert on brands when new.metadata is not null
begin
  select raise(abort, 'metadata: at most 50 keys, strings only, no control characters')
  where (select count(*) > 50
      or sum(type <> 'text')
      or sum(key || value glob '*[' || char(1) || '-' || char(31) || char(127) || ']*')
      or sum(instr(key || value, char(0)))
    from json_each(new.metadata));
end;

CREATE TRIGGER brands_metadata_on_update before update of metadata on brands when new.metadata is not null
begin
  select raise(abort, 'metadata: at most 50 keys, strings only, no control characters')
  where (select count(*) > 50
      or sum(type <> 'text')
      or sum(key || value glob '*[' || char(1) || '-' || char(31) || char(127) || ']*')
      or sum(instr(key || value, char(0)))
    from json_each(new.metadata));
end;

CREATE TABLE deleted_brands (
  partner_id text not null,
  id text not null,
  deleted_at text not null check (deleted_at is strftime('%Y-%m-%dT%H:%M:%fZ', deleted_at, '+0 seconds')),
  recorded_at text not null check (recorded_at is strftime('%Y-%m-%dT%H:%M:%fZ', recorded_at, '+0 seconds')),
  primary key (partner_id, id)
) strict, without rowid;

CREATE INDEX deleted_brands_by_age on deleted_brands (recorded_at);

CREATE TABLE deleted_balances (
  customer_id text not null,
  id text not null,
  deleted_at text not null check (deleted_at is strftime('%Y-%m-%dT%H:%M:%fZ', deleted_at, '+0 seconds')),
  recorded_at text not null check (recorded_at is strftime('%Y-%m-%dT%H:%M:%fZ', recorded_at, '+0 seconds')),
  primary key (customer_id, id)
) strict, without rowid;

CREATE INDEX deleted_balances_by_age on deleted_balances (recorded_at);

CREATE TABLE erased_customers (
  customer_id text primary key,
  erased_at text not null check (erased_at is strftime('%Y-%m-%dT%H:%M:%fZ', erased_at, '+0 seconds'))
) strict, without rowid;

CREATE TABLE audit_log (
  seq integer primary key autoincrement,
  at text not null check (at is strftime('%Y-%m-%dT%H:%M:%fZ', at, '+0 seconds')),
  actor text not null check (length(actor) between 1 and 256),
  action text not null check (length(action) between 1 and 64),
  target text not null check (length(target) between 1 and 256),
  details text not null check (json_valid(details) and json_type(details) = 'object')
, db_user text, client_address text) strict;

CREATE TABLE sqlite_sequence(name,seq);

CREATE INDEX audit_log_by_time on audit_log (at, seq);

CREATE INDEX audit_log_of_target on audit_log (target, at, seq);

CREATE INDEX audit_log_of_actor on audit_log (actor, at, seq);

CREATE INDEX audit_log_of_action on audit_log (action, at, seq);

CREATE TRIGGER audit_log_keeps_entries before update on audit_log
begin
  select raise(abort, 'audit_log: entries cannot be changed');
end;

CREATE TRIGGER audit_log_deletes_nothing before delete on audit_log
begin
  select raise(abort, 'audit_log: entries cannot be deleted');
end;

CREATE TRIGGER audit_log_replaces_nothing before insert on audit_log
when exists (select 1 from audit_log where seq = new.seq)
begin
  select raise(abort, 'audit_log: entries cannot be replaced');
end;

CREATE TRIGGER grants_only_shrink before update on grants
when new.customer_id <> old.customer_id or new.id <> old.id or new.partner_id <> old.partner_id
  or (old.status <> 'ACTIVE' and new.status = 'ACTIVE')
  or (old.expires_at is not null and (new.expires_at is null or new.expires_at > old.expires_at))
begin
  select raise(abort, 'grants: a grant keeps its partner and a final status, and its expiry is never later');
end;

CREATE INDEX grants_of_partner on grants (partner_id, status);

CREATE INDEX grants_by_id on grants (id || '');

CREATE TRIGGER api_keys_only_shrink before update on api_keys
when new.id <> old.id or new.partner_id <> old.partner_id or new.digest <> old.digest
  or new.last_four <> old.last_four or new.scopes <> old.scopes or new.created_at <> old.created_at
  or (old.created_by is not null and new.created_by is not old.created_by)
  or (old.revoked_at is not null and new.revoked_at is not old.revoked_at)
  or (old.expires_at is not null and (new.expires_at is null or new.expires_at > old.expires_at))
begin
  select raise(abort, 'api_keys: a key keeps its digest, partner and scopes, and access only shrinks');
end;

CREATE TRIGGER api_keys_are_kept before delete on api_keys
begin
  select raise(abort, 'api_keys: a key is never deleted');
end;

CREATE TABLE admin_keys (
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

CREATE TRIGGER admin_keys_only_shrink before update on admin_keys
when new.id <> old.id or new.digest <> old.digest or new.last_four <> old.last_four or new.role <> old.role
  or new.created_at <> old.created_at or new.created_by <> old.created_by
  or (old.revoked_at is not null and new.revoked_at is not old.revoked_at)
  or (old.expires_at is not null and (new.expires_at is null or new.expires_at > old.expires_at))
begin
  select raise(abort, 'admin_keys: a key keeps its digest and role, and access only shrinks');
end;

CREATE TRIGGER admin_keys_are_kept before delete on admin_keys
begin
  select raise(abort, 'admin_keys: a key is never deleted');
end;

CREATE TRIGGER api_keys_replace_nothing before insert on api_keys
when exists (select 1 from api_keys where id = new.id or digest = new.digest)
begin
  select raise(abort, 'api_keys: a key is never replaced');
end;

CREATE TRIGGER admin_keys_replace_nothing before insert on admin_keys
when exists (select 1 from admin_keys where id = new.id or digest = new.digest)
begin
  select raise(abort, 'admin_keys: a key is never replaced');
end;

CREATE TRIGGER grants_replace_nothing before insert on grants
when exists (
  select 1 from grants as stored
  where stored.customer_id = new.customer_id and stored.id = new.id and (
    new.partner_id <> stored.partner_id or (stored.status <> 'ACTIVE' and new.status = 'ACTIVE')
    or (stored.expires_at is not null and (new.expires_at is null or new.expires_at > stored.expires_at))
  )
)
begin
  select raise(abort, 'grants: a grant is never replaced');
end;

CREATE TABLE ended_sessions (
  digest blob primary key check (length(digest) = 32),
  ends_at text not null check (ends_at is strftime('%Y-%m-%dT%H:%M:%fZ', ends_at, '+0 seconds'))
) strict, without rowid;

CREATE INDEX ended_sessions_by_end on ended_sessions (ends_at);

CREATE TABLE session_keys (
  id integer primary key check (id between 0 and 255),
  secret blob not null default (randomblob(32)) check (length(secret) = 32),
  created_at text not null check (created_at is strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+0 seconds'))
) strict;

CREATE INDEX audit_log_of_partner on audit_log (details ->> 'partner_id', at, seq);

CREATE INDEX audit_log_of_customer on audit_log (details ->> 'customer_id', at, seq);

-- The file of receipts, beside the database.

CREATE TABLE settings (
  name text primary key,
  value text not null
) strict, without rowid;

CREATE TABLE receipts (
  at text not null,
  request_id text not null,
  partner_id text not null,
  key_id text not null,
  customer_id text not null,
  grant_id text,
  outcome text not null, operation text not null default 'listBalances',
  primary key (at, request_id)
) strict, without rowid;

CREATE INDEX receipts_of_customer on receipts (customer_id, at, request_id);

CREATE INDEX receipts_of_partner on receipts (partner_id, at, request_id);

CREATE TABLE key_uses (
  key_id text primary key,
  used_at text not null
) strict, without rowid;

CREATE INDEX receipts_by_request on receipts (request_id);

CREATE INDEX receipts_refused on receipts (outcome, at, request_id) where outcome <> 'GRANTED';

CREATE TABLE usage (
  at text not null,
  partner_id text not null,
  key_id text not null,
  operation text not null,
  code text not null,
  count integer not null check (count > 0), peak integer check (peak > 0), slowest_ms integer check (slowest_ms >= 0),
  primary key (at, partner_id, key_id, operation, code)
) strict, without rowid;

CREATE INDEX usage_of_partner on usage (partner_id, at);

CREATE INDEX receipts_of_refusals on receipts (operation, at, request_id) where operation <> 'listBalances';

CREATE INDEX receipts_refused_of_partner on receipts (partner_id, key_id, outcome, operation, at)
where outcome <> 'GRANTED';
