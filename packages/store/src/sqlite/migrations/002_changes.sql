-- Deletions, erased customers, the audit log, and rules that no write can get around.

-- updated_at is never before created_at.
update brands set created_at = updated_at where updated_at < created_at;
update balances set created_at = updated_at where updated_at < created_at;
update grants set created_at = updated_at where updated_at < created_at;

-- When a record was deleted, so that a late update does not bring it back. recorded_at is the time of the
-- import: a deletion is remembered for 90 days from then.
create table deleted_brands (
  partner_id text not null,
  id text not null,
  deleted_at text not null check (deleted_at is strftime('%Y-%m-%dT%H:%M:%fZ', deleted_at, '+0 seconds')),
  recorded_at text not null check (recorded_at is strftime('%Y-%m-%dT%H:%M:%fZ', recorded_at, '+0 seconds')),
  primary key (partner_id, id)
) strict, without rowid;

create index deleted_brands_by_age on deleted_brands (recorded_at);

create table deleted_balances (
  customer_id text not null,
  id text not null,
  deleted_at text not null check (deleted_at is strftime('%Y-%m-%dT%H:%M:%fZ', deleted_at, '+0 seconds')),
  recorded_at text not null check (recorded_at is strftime('%Y-%m-%dT%H:%M:%fZ', recorded_at, '+0 seconds')),
  primary key (customer_id, id)
) strict, without rowid;

create index deleted_balances_by_age on deleted_balances (recorded_at);

-- Kept for good: no record of the customer that is not newer than the erasure is written again.
create table erased_customers (
  customer_id text primary key,
  erased_at text not null check (erased_at is strftime('%Y-%m-%dT%H:%M:%fZ', erased_at, '+0 seconds'))
) strict, without rowid;

-- Who changed what. Entries are only added.
create table audit_log (
  seq integer primary key autoincrement,
  at text not null check (at is strftime('%Y-%m-%dT%H:%M:%fZ', at, '+0 seconds')),
  actor text not null check (length(actor) between 1 and 256),
  action text not null check (length(action) between 1 and 64),
  target text not null check (length(target) between 1 and 256),
  details text not null check (json_valid(details) and json_type(details) = 'object')
) strict;

create index audit_log_by_time on audit_log (at, seq);
create index audit_log_of_target on audit_log (target, at, seq);
create index audit_log_of_actor on audit_log (actor, at, seq);
create index audit_log_of_action on audit_log (action, at, seq);

create trigger audit_log_keeps_entries before update on audit_log
begin
  select raise(abort, 'audit_log: entries cannot be changed');
end;

create trigger audit_log_deletes_nothing before delete on audit_log
begin
  select raise(abort, 'audit_log: entries cannot be deleted');
end;

-- "insert or replace" deletes the old row without a delete trigger.
create trigger audit_log_replaces_nothing before insert on audit_log
when exists (select 1 from audit_log where seq = new.seq)
begin
  select raise(abort, 'audit_log: entries cannot be replaced');
end;

-- Consent only shrinks.
create trigger grants_only_shrink before update on grants
when new.customer_id <> old.customer_id or new.id <> old.id or new.partner_id <> old.partner_id
  or (old.status <> 'ACTIVE' and new.status = 'ACTIVE')
  or (old.expires_at is not null and (new.expires_at is null or new.expires_at > old.expires_at))
begin
  select raise(abort, 'grants: a grant keeps its partner and a final status, and its expiry is never later');
end;

create index grants_of_partner on grants (partner_id, status);
-- An expression, so that no statement of a request is planned with this index.
create index grants_by_id on grants (id || '');

alter table api_keys add column created_by text;
