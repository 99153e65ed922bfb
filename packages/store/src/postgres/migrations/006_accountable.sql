-- Rules that hold for every client of the database: a key only ever loses access, and an audit entry says
-- which role of the database wrote it, and from where.

create function api_keys_refuse() returns trigger language plpgsql as $$
begin
  raise exception
    'api_keys: a key keeps its digest, partner, scopes and revocation, and never expires later or is deleted';
end
$$;

create trigger api_keys_only_shrink before update on api_keys
for each row when (
  new.id <> old.id or new.partner_id <> old.partner_id or new.digest <> old.digest
  or new.last_four <> old.last_four or new.scopes <> old.scopes or new.created_at <> old.created_at
  or (old.created_by is not null and new.created_by is distinct from old.created_by)
  or (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
  or (old.expires_at is not null and (new.expires_at is null or new.expires_at > old.expires_at))
) execute function api_keys_refuse();

create trigger api_keys_are_kept before delete on api_keys
for each row execute function api_keys_refuse();

-- No rule about truncate, which needs the owner: Citus truncates the empty table on the coordinator.

-- A role that may not create partners may disable them, but not enable them.
create function partners_refuse() returns trigger language plpgsql as $$
begin
  if not pg_catalog.has_table_privilege(tg_relid, 'insert') then
    raise exception 'partners: this role may disable a partner, but not enable it'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

-- The trigger reads and changes only its own row, so it may run on the nodes of a distributed database.
set local citus.enable_unsafe_triggers = on;

create trigger partners_enabled_by_right before update on partners
for each row when (old.disabled_at is not null and new.disabled_at is distinct from old.disabled_at)
execute function partners_refuse();

-- Null in entries of older versions. The address is null on a socket of the machine.
alter table audit_log add column db_user text collate "C", add column client_address text collate "C";

-- An entry that a reader cannot show would make the whole log unreadable, and cannot be deleted.
alter table audit_log add constraint audit_log_at_check check (is_time(at)) not valid;
alter table audit_log add constraint audit_log_size_check
  check (octet_length(details::text) <= 65536) not valid;
alter table audit_log add constraint audit_log_depth_check
  check (not jsonb_path_exists(details::jsonb, '$.**{8}')) not valid;

-- A time that no program can show, such as infinity, would make lists and imports fail.
alter table key_uses add constraint key_uses_used_at_check check (is_time(used_at)) not valid;
alter table receipts add constraint receipts_at_check check (is_time(at)) not valid;
alter table deleted_brands add constraint deleted_brands_times_check
  check (is_time(deleted_at) and is_time(recorded_at)) not valid;
alter table deleted_balances add constraint deleted_balances_times_check
  check (is_time(deleted_at) and is_time(recorded_at)) not valid;
alter table erased_customers add constraint erased_customers_erased_at_check
  check (is_time(erased_at) and is_text(customer_id, 128)) not valid;

-- A huge text would make lists and pages fail. Lengths only: the service writes what it has checked.
alter table api_keys add constraint api_keys_created_by_check
  check (char_length(created_by) <= 256) not valid;
alter table key_uses add constraint key_uses_size_check check (char_length(key_id) <= 128) not valid;
alter table receipts add constraint receipts_size_check check (
  char_length(customer_id) <= 128 and char_length(partner_id) <= 128 and char_length(key_id) <= 128
  and char_length(grant_id) <= 256 and char_length(outcome) <= 64
) not valid;
alter table deleted_brands add constraint deleted_brands_size_check
  check (char_length(partner_id) <= 128 and char_length(id) <= 128) not valid;
alter table deleted_balances add constraint deleted_balances_size_check
  check (char_length(customer_id) <= 128 and char_length(id) <= 256) not valid;
-- As much as a line of an older version could bring.
alter table brands add constraint brands_metadata_size_check
  check (octet_length(metadata::text) <= 1048576) not valid;

-- With the schema of each type and function: a role could make its own type "text" in its temporary schema,
-- which is searched first, and so write another record than its columns say.
create or replace function balance_record(
  id text, customer_id text, type text, currency text, amount bigint,
  created_at timestamptz, updated_at timestamptz
) returns text language plpgsql immutable parallel safe as $$
declare
  created pg_catalog.text := pg_catalog.left(
    pg_catalog.to_json(created_at at time zone 'UTC' + interval '1 microsecond')::pg_catalog.text, 24);
  updated pg_catalog.text := created;
begin
  if updated_at <> created_at then
    updated := pg_catalog.left(
      pg_catalog.to_json(updated_at at time zone 'UTC' + interval '1 microsecond')::pg_catalog.text, 24);
  end if;
  return pg_catalog.concat(
    '{"id":', pg_catalog.to_json(id),
    ',"customer_id":', pg_catalog.to_json(customer_id),
    ',"type":"', type,
    '","currency":"', currency,
    '","amount":', amount,
    ',"created_at":', created,
    'Z","updated_at":', updated,
    'Z"}'
  );
end
$$;

create or replace function brand_record(
  id text, name text, created_at timestamptz, updated_at timestamptz, reference_id text, color text,
  profile_image_url text, metadata json
) returns text language plpgsql immutable parallel safe as $$
declare
  created pg_catalog.text := pg_catalog.left(
    pg_catalog.to_json(created_at at time zone 'UTC' + interval '1 microsecond')::pg_catalog.text, 24);
  updated pg_catalog.text := created;
begin
  if updated_at <> created_at then
    updated := pg_catalog.left(
      pg_catalog.to_json(updated_at at time zone 'UTC' + interval '1 microsecond')::pg_catalog.text, 24);
  end if;
  return pg_catalog.concat(
    '{"id":', pg_catalog.to_json(id),
    ',"name":', pg_catalog.to_json(name),
    ',"created_at":', created,
    'Z","updated_at":', updated,
    'Z","reference_id":', pg_catalog.to_json(reference_id),
    -- What is joined with null is null, and concat leaves that out.
    ',"color":"' || color || '"',
    ',"profile_image_url":',
    coalesce(
      pg_catalog.to_json(profile_image_url)::pg_catalog.text,
      '"' || pg_catalog.chr(1) || '/assets/brand-placeholder.png"'
    ),
    ',"metadata":' || metadata::pg_catalog.text,
    '}'
  );
end
$$;

-- The time, too: an entry of another time would hide among old ones, or hide others.
create function audit_log_signs() returns trigger language plpgsql as $$
begin
  new.at := pg_catalog.clock_timestamp();
  new.db_user := session_user;
  new.client_address := pg_catalog.host(pg_catalog.inet_client_addr());
  return new;
end
$$;

create trigger audit_log_is_signed before insert on audit_log
for each row execute function audit_log_signs();

-- Gives the transaction its id before the entry gets its number, so that a reader who sees a number missing
-- knows when no transaction can still bring it.
create function audit_log_begins() returns trigger language plpgsql as $$
begin
  perform pg_catalog.pg_current_xact_id();
  return null;
end
$$;

create trigger audit_log_is_begun before insert on audit_log
for each statement execute function audit_log_begins();
