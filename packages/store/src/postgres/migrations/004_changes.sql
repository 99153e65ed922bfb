-- Deletions, erased customers, the audit log, and rules that no write can get around.

-- updated_at is never before created_at. This comes first, because it reads large tables: the statements
-- after it lock tables until the end.
update brands set created_at = updated_at where updated_at < created_at;
update balances set created_at = updated_at where updated_at < created_at;
update grants set created_at = updated_at where updated_at < created_at;

-- When a record was deleted, so that a late update does not bring it back. recorded_at is the time of the
-- import: a deletion is remembered for 90 days from then.
create table deleted_brands (
  partner_id text collate "C" not null,
  id text collate "C" not null,
  deleted_at timestamptz(3) not null,
  recorded_at timestamptz(3) not null,
  primary key (partner_id, id)
);

create index deleted_brands_by_age on deleted_brands (recorded_at);

create table deleted_balances (
  customer_id text collate "C" not null,
  id text collate "C" not null,
  deleted_at timestamptz(3) not null,
  recorded_at timestamptz(3) not null,
  primary key (customer_id, id)
);

create index deleted_balances_by_age on deleted_balances (recorded_at);

-- Kept for good: no record of the customer that is not newer than the erasure is written again.
create table erased_customers (
  customer_id text collate "C" primary key,
  erased_at timestamptz(3) not null
);

-- Who changed what. Entries are only added.
create table audit_log (
  seq bigint generated always as identity primary key,
  at timestamptz(3) not null,
  actor text collate "C" not null check (char_length(actor) between 1 and 256),
  action text collate "C" not null check (char_length(action) between 1 and 64),
  target text collate "C" not null check (char_length(target) between 1 and 256),
  details json not null check (json_typeof(details) = 'object')
);

create index audit_log_by_time on audit_log (at, seq);
create index audit_log_of_target on audit_log (target, at, seq);
create index audit_log_of_actor on audit_log (actor, at, seq);
create index audit_log_of_action on audit_log (action, at, seq);

create function audit_log_refuses() returns trigger language plpgsql as $$
begin
  raise exception 'audit_log: entries cannot be changed or deleted';
end
$$;

create trigger audit_log_keeps_entries before update or delete on audit_log
for each row execute function audit_log_refuses();

create trigger audit_log_is_not_truncated before truncate on audit_log
for each statement execute function audit_log_refuses();

-- Consent only shrinks.
create function grants_refuse() returns trigger language plpgsql as $$
begin
  raise exception 'grants: a grant keeps its partner and a final status, and its expiry is never later';
end
$$;

create trigger grants_only_shrink before update on grants
for each row when (
  new.customer_id <> old.customer_id or new.id <> old.id or new.partner_id <> old.partner_id
  or (old.status <> 'ACTIVE' and new.status = 'ACTIVE')
  or (old.expires_at is not null and (new.expires_at is null or new.expires_at > old.expires_at))
) execute function grants_refuse();

alter table api_keys add column created_by text collate "C";
