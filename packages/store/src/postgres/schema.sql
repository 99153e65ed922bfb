-- The schema that the migrations create, written by "npm run docs". Nothing runs it.

CREATE OR REPLACE FUNCTION public.admin_keys_refuse()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception
    'admin_keys: a key keeps its digest, role and revocation, and never expires later or is deleted';
end
$function$;

CREATE OR REPLACE FUNCTION public.api_keys_refuse()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception
    'api_keys: a key keeps its digest, partner, scopes and revocation, and never expires later or is deleted';
end
$function$;

CREATE OR REPLACE FUNCTION public.audit_log_begins()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_catalog.pg_current_xact_id();
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.audit_log_refuses()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'audit_log: entries cannot be changed or deleted';
end
$function$;

CREATE OR REPLACE FUNCTION public.audit_log_signs()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.at := pg_catalog.clock_timestamp();
  new.db_user := session_user;
  new.client_address := pg_catalog.host(pg_catalog.inet_client_addr());
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.balance_record(id text, customer_id text, type text, currency text, amount bigint, created_at timestamp with time zone, updated_at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.brand_record(id text, name text, created_at timestamp with time zone, updated_at timestamp with time zone, reference_id text, color text, profile_image_url text, metadata json)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.grants_refuse()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'grants: a grant keeps its partner and a final status, and its expiry is never later';
end
$function$;

CREATE OR REPLACE FUNCTION public.is_metadata(value json)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((json_typeof(value) = 'object'::text) AND (SELECT ((count(*) <= 50) AND COALESCE(bool_and(((json_typeof(pair.value) = 'string'::text) AND ((pair.key || (pair.value #>> '{}'::text[])) !~ '[\u0001-\u001f\u007f]'::text))), true)) FROM json_each(is_metadata.value) pair(key, value)));

CREATE OR REPLACE FUNCTION public.is_text(value text, longest integer)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (((char_length(value) >= 1) AND (char_length(value) <= longest)) AND (value !~ '[\u0001-\u001f\u007f]'::text));

CREATE OR REPLACE FUNCTION public.is_time(value timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((value >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (value < '10000-01-01 00:00:00+00'::timestamp with time zone));

CREATE OR REPLACE FUNCTION public.partners_refuse()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if not pg_catalog.has_table_privilege(tg_relid, 'insert') then
    raise exception 'partners: this role may disable a partner, but not enable it'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.partners_refuse_limits()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if not pg_catalog.has_table_privilege(tg_relid, 'insert') then
    raise exception 'partners: this role may lower a limit of a partner, but not raise or remove it'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$function$;

CREATE TABLE admin_keys (
  id text collate "C" not null,
  name text collate "C" not null,
  role text collate "C" not null,
  digest bytea not null,
  last_four text collate "C" not null,
  created_at timestamp(3) with time zone not null,
  created_by text collate "C" not null,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  constraint admin_keys_pkey PRIMARY KEY (id),
  constraint admin_keys_created_at_check CHECK (is_time(created_at)),
  constraint admin_keys_created_by_check CHECK (is_text(created_by, 256)),
  constraint admin_keys_digest_check CHECK ((length(digest) = 32)),
  constraint admin_keys_digest_key UNIQUE (digest),
  constraint admin_keys_expires_at_check CHECK (is_time(expires_at)),
  constraint admin_keys_id_check CHECK (is_text(id, 128)),
  constraint admin_keys_last_four_check CHECK ((char_length(last_four) = 4)),
  constraint admin_keys_name_check CHECK (is_text(name, 1024)),
  constraint admin_keys_revoked_at_check CHECK (is_time(revoked_at)),
  constraint admin_keys_role_check CHECK ((role = ANY (ARRAY['VIEWER'::text, 'INGEST'::text, 'SUPPORT'::text, 'ADMIN'::text])))
);

CREATE TRIGGER admin_keys_are_kept BEFORE DELETE ON public.admin_keys FOR EACH ROW EXECUTE FUNCTION admin_keys_refuse();

CREATE TRIGGER admin_keys_only_shrink BEFORE UPDATE ON public.admin_keys FOR EACH ROW WHEN (((new.id <> old.id) OR (new.digest <> old.digest) OR (new.last_four <> old.last_four) OR (new.role <> old.role) OR (new.created_at <> old.created_at) OR (new.created_by <> old.created_by) OR ((old.revoked_at IS NOT NULL) AND (new.revoked_at IS DISTINCT FROM old.revoked_at)) OR ((old.expires_at IS NOT NULL) AND ((new.expires_at IS NULL) OR (new.expires_at > old.expires_at))))) EXECUTE FUNCTION admin_keys_refuse();

CREATE TABLE api_keys (
  id text collate "C" not null,
  partner_id text collate "C" not null,
  name text collate "C",
  digest bytea not null,
  last_four text collate "C" not null,
  scopes text collate "C" not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  created_by text collate "C",
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_created_at_check CHECK (is_time(created_at)),
  constraint api_keys_created_by_check CHECK ((char_length(created_by) <= 256)) NOT VALID,
  constraint api_keys_digest_check CHECK ((length(digest) = 32)),
  constraint api_keys_digest_key UNIQUE (digest),
  constraint api_keys_expires_at_check CHECK (is_time(expires_at)),
  constraint api_keys_id_check CHECK (is_text(id, 128)),
  constraint api_keys_last_four_check CHECK ((char_length(last_four) = 4)),
  constraint api_keys_name_check CHECK (is_text(name, 1024)),
  constraint api_keys_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint api_keys_revoked_at_check CHECK (is_time(revoked_at)),
  constraint api_keys_scopes_check CHECK ((scopes = ANY (ARRAY['BALANCES_READ'::text, 'BRANDS_READ'::text, 'BALANCES_READ BRANDS_READ'::text])))
);

CREATE INDEX api_keys_of_partner ON public.api_keys USING btree (partner_id, id);

CREATE TRIGGER api_keys_are_kept BEFORE DELETE ON public.api_keys FOR EACH ROW EXECUTE FUNCTION api_keys_refuse();

CREATE TRIGGER api_keys_only_shrink BEFORE UPDATE ON public.api_keys FOR EACH ROW WHEN (((new.id <> old.id) OR (new.partner_id <> old.partner_id) OR (new.digest <> old.digest) OR (new.last_four <> old.last_four) OR (new.scopes <> old.scopes) OR (new.created_at <> old.created_at) OR ((old.created_by IS NOT NULL) AND (new.created_by IS DISTINCT FROM old.created_by)) OR ((old.revoked_at IS NOT NULL) AND (new.revoked_at IS DISTINCT FROM old.revoked_at)) OR ((old.expires_at IS NOT NULL) AND ((new.expires_at IS NULL) OR (new.expires_at > old.expires_at))))) EXECUTE FUNCTION api_keys_refuse();

CREATE TABLE audit_log (
  seq bigint not null generated as identity,
  at timestamp(3) with time zone not null,
  actor text collate "C" not null,
  action text collate "C" not null,
  target text collate "C" not null,
  details json not null,
  db_user text collate "C",
  client_address text collate "C",
  constraint audit_log_pkey PRIMARY KEY (seq),
  constraint audit_log_action_check CHECK (((char_length(action) >= 1) AND (char_length(action) <= 64))),
  constraint audit_log_actor_check CHECK (((char_length(actor) >= 1) AND (char_length(actor) <= 256))),
  constraint audit_log_at_check CHECK (is_time(at)) NOT VALID,
  constraint audit_log_depth_check CHECK ((NOT jsonb_path_exists((details)::jsonb, '$.**{8}'::jsonpath))) NOT VALID,
  constraint audit_log_details_check CHECK ((json_typeof(details) = 'object'::text)),
  constraint audit_log_size_check CHECK ((octet_length((details)::text) <= 65536)) NOT VALID,
  constraint audit_log_target_check CHECK (((char_length(target) >= 1) AND (char_length(target) <= 256)))
);

CREATE INDEX audit_log_by_time ON public.audit_log USING btree (at, seq);

CREATE INDEX audit_log_of_action ON public.audit_log USING btree (action, at, seq);

CREATE INDEX audit_log_of_actor ON public.audit_log USING btree (actor, at, seq);

CREATE INDEX audit_log_of_customer ON public.audit_log USING btree (((details ->> 'customer_id'::text)), at, seq);

CREATE INDEX audit_log_of_partner ON public.audit_log USING btree (((details ->> 'partner_id'::text)), at, seq);

CREATE INDEX audit_log_of_target ON public.audit_log USING btree (target, at, seq);

CREATE TRIGGER audit_log_is_begun BEFORE INSERT ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION audit_log_begins();

CREATE TRIGGER audit_log_is_not_truncated BEFORE TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuses();

CREATE TRIGGER audit_log_is_signed BEFORE INSERT ON public.audit_log FOR EACH ROW EXECUTE FUNCTION audit_log_signs();

CREATE TRIGGER audit_log_keeps_entries BEFORE DELETE OR UPDATE ON public.audit_log FOR EACH ROW EXECUTE FUNCTION audit_log_refuses();

CREATE TABLE balances (
  customer_id text collate "C" not null,
  id text collate "C" not null,
  type text collate "C" not null,
  currency text collate "C" not null,
  amount bigint not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  record text collate "C" not null generated always as (balance_record(id, customer_id, type, currency, amount, created_at, updated_at)) stored,
  constraint balances_pkey PRIMARY KEY (customer_id, id),
  constraint balances_amount_check CHECK (((amount >= '-9007199254740991'::bigint) AND (amount <= '9007199254740991'::bigint))),
  constraint balances_created_at_check CHECK (is_time(created_at)),
  constraint balances_currency_check CHECK ((currency = 'USD'::text)),
  constraint balances_customer_id_check CHECK (is_text(customer_id, 128)),
  constraint balances_id_check CHECK (is_text(id, 256)),
  constraint balances_type_check CHECK ((type = 'CHECKING'::text)),
  constraint balances_updated_at_check CHECK (is_time(updated_at))
);

CREATE TABLE brands (
  partner_id text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  reference_id text collate "C" not null,
  color text collate "C",
  profile_image_url text collate "C",
  metadata json,
  record text collate "C" not null generated always as (brand_record(id, name, created_at, updated_at, reference_id, color, profile_image_url, metadata)) stored,
  constraint brands_pkey PRIMARY KEY (partner_id, id),
  constraint brands_color_check CHECK ((color ~ '^#[0-9A-Fa-f]{6}$'::text)),
  constraint brands_created_at_check CHECK (is_time(created_at)),
  constraint brands_id_check CHECK (is_text(id, 128)),
  constraint brands_metadata_check CHECK (is_metadata(metadata)),
  constraint brands_metadata_size_check CHECK ((octet_length((metadata)::text) <= 1048576)) NOT VALID,
  constraint brands_name_check CHECK (is_text(name, 1024)),
  constraint brands_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint brands_profile_image_url_check CHECK (((char_length(profile_image_url) >= 8) AND (char_length(profile_image_url) <= 8000))),
  constraint brands_profile_image_url_check1 CHECK ((profile_image_url ~* '^https?://[^\u0001-\u0020\u007f]+$'::text)),
  constraint brands_reference_id_check CHECK (is_text(reference_id, 1024)),
  constraint brands_updated_at_check CHECK (is_time(updated_at))
);

CREATE INDEX brands_by_reference ON public.brands USING btree (partner_id, hashtextextended(reference_id, (0)::bigint), id);

CREATE TABLE cursor_keys (
  id smallint not null,
  secret bytea not null,
  created_at timestamp(3) with time zone not null,
  constraint cursor_keys_pkey PRIMARY KEY (id),
  constraint cursor_keys_created_at_check CHECK (is_time(created_at)),
  constraint cursor_keys_id_check CHECK (((id >= 0) AND (id <= 255))),
  constraint cursor_keys_secret_check CHECK ((length(secret) = 32))
);

CREATE TABLE deleted_balances (
  customer_id text collate "C" not null,
  id text collate "C" not null,
  deleted_at timestamp(3) with time zone not null,
  recorded_at timestamp(3) with time zone not null,
  constraint deleted_balances_pkey PRIMARY KEY (customer_id, id),
  constraint deleted_balances_size_check CHECK (((char_length(customer_id) <= 128) AND (char_length(id) <= 256))) NOT VALID,
  constraint deleted_balances_times_check CHECK ((is_time(deleted_at) AND is_time(recorded_at))) NOT VALID
);

CREATE INDEX deleted_balances_by_age ON public.deleted_balances USING btree (recorded_at);

CREATE TABLE deleted_brands (
  partner_id text collate "C" not null,
  id text collate "C" not null,
  deleted_at timestamp(3) with time zone not null,
  recorded_at timestamp(3) with time zone not null,
  constraint deleted_brands_pkey PRIMARY KEY (partner_id, id),
  constraint deleted_brands_size_check CHECK (((char_length(partner_id) <= 128) AND (char_length(id) <= 128))) NOT VALID,
  constraint deleted_brands_times_check CHECK ((is_time(deleted_at) AND is_time(recorded_at))) NOT VALID
);

CREATE INDEX deleted_brands_by_age ON public.deleted_brands USING btree (recorded_at);

CREATE TABLE ended_sessions (
  digest bytea not null,
  ends_at timestamp(3) with time zone not null,
  constraint ended_sessions_pkey PRIMARY KEY (digest),
  constraint ended_sessions_digest_check CHECK ((length(digest) = 32)),
  constraint ended_sessions_ends_at_check CHECK (is_time(ends_at))
);

CREATE INDEX ended_sessions_by_end ON public.ended_sessions USING btree (ends_at);

CREATE TABLE erased_customers (
  customer_id text collate "C" not null,
  erased_at timestamp(3) with time zone not null,
  constraint erased_customers_pkey PRIMARY KEY (customer_id),
  constraint erased_customers_erased_at_check CHECK ((is_time(erased_at) AND is_text(customer_id, 128))) NOT VALID
);

CREATE TABLE grants (
  customer_id text collate "C" not null,
  id text collate "C" not null,
  partner_id text collate "C" not null,
  action text collate "C" not null,
  status text collate "C" not null,
  expires_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint grants_pkey PRIMARY KEY (customer_id, id),
  constraint grants_action_check CHECK ((action = 'CHECKING_BALANCE'::text)),
  constraint grants_created_at_check CHECK (is_time(created_at)),
  constraint grants_customer_id_check CHECK (is_text(customer_id, 128)),
  constraint grants_expires_at_check CHECK (is_time(expires_at)),
  constraint grants_id_check CHECK (is_text(id, 256)),
  constraint grants_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint grants_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'CONSUMED'::text, 'REVOKED'::text, 'EXPIRED'::text]))),
  constraint grants_updated_at_check CHECK (is_time(updated_at))
);

CREATE INDEX grants_by_id ON public.grants USING btree (((id || ''::text)));

CREATE INDEX grants_of_customer ON public.grants USING btree (customer_id, partner_id, status, expires_at);

CREATE INDEX grants_of_partner ON public.grants USING btree (partner_id, status);

CREATE TRIGGER grants_only_shrink BEFORE UPDATE ON public.grants FOR EACH ROW WHEN (((new.customer_id <> old.customer_id) OR (new.id <> old.id) OR (new.partner_id <> old.partner_id) OR ((old.status <> 'ACTIVE'::text) AND (new.status = 'ACTIVE'::text)) OR ((old.expires_at IS NOT NULL) AND ((new.expires_at IS NULL) OR (new.expires_at > old.expires_at))))) EXECUTE FUNCTION grants_refuse();

CREATE TABLE key_uses (
  key_id text collate "C" not null,
  used_at timestamp(3) with time zone not null,
  constraint key_uses_pkey PRIMARY KEY (key_id),
  constraint key_uses_size_check CHECK ((char_length(key_id) <= 128)) NOT VALID,
  constraint key_uses_used_at_check CHECK (is_time(used_at)) NOT VALID
);

CREATE TABLE partners (
  id text collate "C" not null,
  name text collate "C" not null,
  created_at timestamp(3) with time zone not null,
  disabled_at timestamp(3) with time zone,
  brands_rate integer,
  balances_rate integer,
  constraint partners_pkey PRIMARY KEY (id),
  constraint partners_balances_rate_check CHECK (((balances_rate >= 1) AND (balances_rate <= 10000))) NOT VALID,
  constraint partners_brands_rate_check CHECK (((brands_rate >= 1) AND (brands_rate <= 10000))) NOT VALID,
  constraint partners_created_at_check CHECK (is_time(created_at)),
  constraint partners_disabled_at_check CHECK (is_time(disabled_at)),
  constraint partners_id_check CHECK (is_text(id, 128)),
  constraint partners_name_check CHECK (is_text(name, 1024))
);

CREATE TRIGGER partners_enabled_by_right BEFORE UPDATE ON public.partners FOR EACH ROW WHEN (((old.disabled_at IS NOT NULL) AND (new.disabled_at IS DISTINCT FROM old.disabled_at))) EXECUTE FUNCTION partners_refuse();

CREATE TRIGGER partners_limited_by_right BEFORE UPDATE ON public.partners FOR EACH ROW WHEN ((((old.brands_rate IS NOT NULL) AND (new.brands_rate IS NULL)) OR (new.brands_rate > COALESCE(old.brands_rate, 50)) OR ((old.balances_rate IS NOT NULL) AND (new.balances_rate IS NULL)) OR (new.balances_rate > old.balances_rate))) EXECUTE FUNCTION partners_refuse_limits();

CREATE TABLE receipts (
  customer_id text collate "C" not null,
  at timestamp(3) with time zone not null,
  request_id uuid not null,
  partner_id text collate "C" not null,
  key_id text collate "C" not null,
  grant_id text collate "C",
  outcome text collate "C" not null,
  operation text collate "C" not null default 'listBalances'::text,
  constraint receipts_pkey PRIMARY KEY (customer_id, at, request_id),
  constraint receipts_at_check CHECK (is_time(at)) NOT VALID,
  constraint receipts_operation_check CHECK ((char_length(operation) <= 64)) NOT VALID,
  constraint receipts_size_check CHECK (((char_length(customer_id) <= 128) AND (char_length(partner_id) <= 128) AND (char_length(key_id) <= 128) AND (char_length(grant_id) <= 256) AND (char_length(outcome) <= 64))) NOT VALID
);

CREATE INDEX receipts_by_request ON public.receipts USING btree (request_id);

CREATE INDEX receipts_by_time ON public.receipts USING btree (at, request_id);

CREATE INDEX receipts_of_partner ON public.receipts USING btree (partner_id, at, request_id);

CREATE INDEX receipts_of_refusals ON public.receipts USING btree (operation, at, request_id) WHERE (operation <> 'listBalances'::text);

CREATE INDEX receipts_refused ON public.receipts USING btree (outcome, at, request_id) WHERE (outcome <> 'GRANTED'::text);

CREATE INDEX receipts_refused_of_partner ON public.receipts USING btree (partner_id, key_id, outcome, operation, at) WHERE (outcome <> 'GRANTED'::text);

CREATE TABLE session_keys (
  id smallint not null,
  secret bytea not null default sha256(((((gen_random_uuid())::text || (gen_random_uuid())::text) || (gen_random_uuid())::text))::bytea),
  created_at timestamp(3) with time zone not null,
  constraint session_keys_pkey PRIMARY KEY (id),
  constraint session_keys_created_at_check CHECK (is_time(created_at)),
  constraint session_keys_id_check CHECK (((id >= 0) AND (id <= 255))),
  constraint session_keys_secret_check CHECK ((length(secret) = 32))
);

CREATE TABLE settings (
  name text collate "C" not null,
  value text collate "C" not null,
  constraint settings_pkey PRIMARY KEY (name)
);

CREATE TABLE usage (
  at timestamp(3) with time zone not null,
  partner_id text collate "C" not null,
  key_id text collate "C" not null,
  operation text collate "C" not null,
  code text collate "C" not null,
  count bigint not null,
  peak integer,
  slowest_ms integer,
  constraint usage_pkey PRIMARY KEY (at, partner_id, key_id, operation, code),
  constraint usage_at_check CHECK (is_time(at)),
  constraint usage_code_check CHECK ((char_length(code) <= 64)),
  constraint usage_count_check CHECK (((count >= 1) AND (count <= '9007199254740991'::bigint))),
  constraint usage_key_id_check CHECK ((char_length(key_id) <= 128)),
  constraint usage_operation_check CHECK ((char_length(operation) <= 64)),
  constraint usage_partner_id_check CHECK ((char_length(partner_id) <= 128)),
  constraint usage_peak_check CHECK (((peak > 0) AND (slowest_ms >= 0))) NOT VALID
);

CREATE INDEX usage_of_partner ON public.usage USING btree (partner_id, at);
