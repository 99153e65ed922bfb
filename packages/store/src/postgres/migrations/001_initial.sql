-- Times have whole milliseconds, in the years 0001 to 9999, which RFC 3339 can express. Lengths are in code
-- points. Texts are compared by their bytes, whatever the database's own collation is.
--
-- Primary keys begin with the column that distributes a table over nodes: the partner of a brand, the
-- customer of a balance or grant. Every statement of a request has a value for it. Partners, keys and
-- settings are small and are on every node. There are no triggers and no sequences: a distributed engine
-- rejects them.

create function is_text(value text, longest integer) returns boolean
  language sql immutable parallel safe
  return char_length(value) between 1 and longest and value !~ '[\u0001-\u001f\u007f]';

create function is_time(value timestamptz) returns boolean
  language sql immutable parallel safe
  return value >= '0001-01-01 00:00:00+00'::timestamptz and value < '10000-01-01 00:00:00+00'::timestamptz;

-- A function, because a check cannot have a subquery.
create function is_metadata(value json) returns boolean
  language sql immutable parallel safe
  return json_typeof(value) = 'object' and (
    select
      count(*) <= 50
      and coalesce(bool_and(json_typeof(pair.value) = 'string'
        and pair.key || (pair.value #>> '{}') !~ '[\u0001-\u001f\u007f]'), true)
    from json_each(value) as pair
  );

create table settings (
  name text collate "C" primary key,
  value text collate "C" not null
);

create table cursor_keys (
  id smallint primary key check (id between 0 and 255),
  secret bytea not null check (length(secret) = 32),
  created_at timestamptz(3) not null check (is_time(created_at))
);

create table partners (
  id text collate "C" primary key check (is_text(id, 128)),
  name text collate "C" not null check (is_text(name, 1024)),
  created_at timestamptz(3) not null check (is_time(created_at)),
  disabled_at timestamptz(3) check (is_time(disabled_at))
);

create table api_keys (
  id text collate "C" primary key check (is_text(id, 128)),
  partner_id text collate "C" not null references partners (id),
  name text collate "C" check (is_text(name, 1024)),
  digest bytea not null unique check (length(digest) = 32),
  last_four text collate "C" not null check (char_length(last_four) = 4),
  scopes text collate "C" not null
    check (scopes in ('BALANCES_READ', 'BRANDS_READ', 'BALANCES_READ BRANDS_READ')),
  created_at timestamptz(3) not null check (is_time(created_at)),
  expires_at timestamptz(3) check (is_time(expires_at)),
  revoked_at timestamptz(3) check (is_time(revoked_at))
);

create index api_keys_of_partner on api_keys (partner_id, id);

create table grants (
  customer_id text collate "C" not null check (is_text(customer_id, 128)),
  id text collate "C" not null check (is_text(id, 256)),
  partner_id text collate "C" not null references partners (id),
  action text collate "C" not null check (action = 'CHECKING_BALANCE'),
  status text collate "C" not null check (status in ('ACTIVE', 'CONSUMED', 'REVOKED', 'EXPIRED')),
  expires_at timestamptz(3) check (is_time(expires_at)),
  created_at timestamptz(3) not null check (is_time(created_at)),
  updated_at timestamptz(3) not null check (is_time(updated_at)),
  primary key (customer_id, id)
);

create index grants_of_customer on grants (customer_id, partner_id, status, expires_at);

-- The JSON of a record is rendered once, when its row is written. Postgres marks its own rendering of times
-- and JSON as stable, because some formats depend on settings. The formats used here do not.
create function wire_time(value timestamptz) returns text
  language sql immutable parallel safe
  return to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

create function balance_record(
  id text,
  customer_id text,
  type text,
  currency text,
  amount bigint,
  created_at timestamptz,
  updated_at timestamptz
) returns text
  language sql immutable parallel safe
  return '{"id":' || to_json(id)::text
    || ',"customer_id":' || to_json(customer_id)::text
    || ',"type":"' || type
    || '","currency":"' || currency
    || '","amount":' || amount::text
    || ',"created_at":"' || wire_time(created_at)
    || '","updated_at":"' || wire_time(updated_at) || '"}';

create table balances (
  customer_id text collate "C" not null check (is_text(customer_id, 128)),
  id text collate "C" not null check (is_text(id, 256)),
  type text collate "C" not null check (type = 'CHECKING'),
  currency text collate "C" not null check (currency = 'USD'),
  amount bigint not null check (amount between -9007199254740991 and 9007199254740991),
  created_at timestamptz(3) not null check (is_time(created_at)),
  updated_at timestamptz(3) not null check (is_time(updated_at)),
  record text collate "C" not null generated always as (
    balance_record(id, customer_id, type, currency, amount, created_at, updated_at)
  ) stored,
  primary key (customer_id, id)
);

-- chr(1) is a placeholder for the public address of the instance that answers. No other text contains it.
create function brand_record(
  id text,
  name text,
  created_at timestamptz,
  updated_at timestamptz,
  reference_id text,
  color text,
  profile_image_url text,
  metadata json
) returns text
  language sql immutable parallel safe
  return '{"id":' || to_json(id)::text
    || ',"name":' || to_json(name)::text
    || ',"created_at":"' || wire_time(created_at)
    || '","updated_at":"' || wire_time(updated_at)
    || '","reference_id":' || to_json(reference_id)::text
    || case when color is null then '' else ',"color":"' || color || '"' end
    || ',"profile_image_url":'
    || coalesce(to_json(profile_image_url)::text, '"' || chr(1) || '/assets/brand-placeholder.png"')
    || case when metadata is null then '' else ',"metadata":' || metadata::text end
    || '}';

create table brands (
  partner_id text collate "C" not null references partners (id),
  id text collate "C" not null check (is_text(id, 128)),
  name text collate "C" not null check (is_text(name, 1024)),
  created_at timestamptz(3) not null check (is_time(created_at)),
  updated_at timestamptz(3) not null check (is_time(updated_at)),
  reference_id text collate "C" not null check (is_text(reference_id, 1024)),
  color text collate "C" check (color ~ '^#[0-9A-Fa-f]{6}$'),
  profile_image_url text collate "C"
    check (char_length(profile_image_url) between 8 and 8000)
    check (profile_image_url ~* '^https?://[^\u0001-\u0020\u007f]+$'),
  metadata json check (is_metadata(metadata)),
  record text collate "C" not null generated always as (
    brand_record(id, name, created_at, updated_at, reference_id, color, profile_image_url, metadata)
  ) stored,
  primary key (partner_id, id)
);

-- A hash, because a reference_id may take 4,096 bytes, and an index row has room for 2,704.
create index brands_by_reference on brands (partner_id, hashtextextended(reference_id, 0), id);
