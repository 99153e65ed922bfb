-- The schema that the migrations create, written by "npm run schema". Nothing runs it.

CREATE OR REPLACE FUNCTION public.balance_record(id text, customer_id text, type text, currency text, amount bigint, created_at timestamp with time zone, updated_at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  created text := left(to_json(created_at at time zone 'UTC' + interval '1 microsecond')::text, 24);
  updated text := created;
begin
  if updated_at <> created_at then
    updated := left(to_json(updated_at at time zone 'UTC' + interval '1 microsecond')::text, 24);
  end if;
  return concat(
    '{"id":', to_json(id),
    ',"customer_id":', to_json(customer_id),
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
  created text := left(to_json(created_at at time zone 'UTC' + interval '1 microsecond')::text, 24);
  updated text := created;
begin
  if updated_at <> created_at then
    updated := left(to_json(updated_at at time zone 'UTC' + interval '1 microsecond')::text, 24);
  end if;
  return concat(
    '{"id":', to_json(id),
    ',"name":', to_json(name),
    ',"created_at":', created,
    'Z","updated_at":', updated,
    'Z","reference_id":', to_json(reference_id),
    -- What is joined with null is null, and concat leaves that out.
    ',"color":"' || color || '"',
    ',"profile_image_url":',
    coalesce(to_json(profile_image_url)::text, '"' || chr(1) || '/assets/brand-placeholder.png"'),
    ',"metadata":' || metadata::text,
    '}'
  );
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
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_created_at_check CHECK (is_time(created_at)),
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

CREATE INDEX grants_of_customer ON public.grants USING btree (customer_id, partner_id, status, expires_at);

CREATE TABLE key_uses (
  key_id text collate "C" not null,
  used_at timestamp(3) with time zone not null,
  constraint key_uses_pkey PRIMARY KEY (key_id)
);

CREATE TABLE partners (
  id text collate "C" not null,
  name text collate "C" not null,
  created_at timestamp(3) with time zone not null,
  disabled_at timestamp(3) with time zone,
  constraint partners_pkey PRIMARY KEY (id),
  constraint partners_created_at_check CHECK (is_time(created_at)),
  constraint partners_disabled_at_check CHECK (is_time(disabled_at)),
  constraint partners_id_check CHECK (is_text(id, 128)),
  constraint partners_name_check CHECK (is_text(name, 1024))
);

CREATE TABLE receipts (
  customer_id text collate "C" not null,
  at timestamp(3) with time zone not null,
  request_id uuid not null,
  partner_id text collate "C" not null,
  key_id text collate "C" not null,
  grant_id text collate "C",
  outcome text collate "C" not null,
  constraint receipts_pkey PRIMARY KEY (customer_id, at, request_id)
);

CREATE INDEX receipts_by_time ON public.receipts USING btree (at, request_id);

CREATE INDEX receipts_of_partner ON public.receipts USING btree (partner_id, at, request_id);

CREATE TABLE settings (
  name text collate "C" not null,
  value text collate "C" not null,
  constraint settings_pkey PRIMARY KEY (name)
);
