-- Times are text, RFC 3339 in UTC with milliseconds, so they are sorted and sent as they are stored.
-- strftime returns null for an invalid time, and a check that is null passes: times are compared with "is".
-- '+0 seconds' makes strftime normalize the time, so that 24:00 becomes the next day and fails the check.
-- Lengths are in code points, as length() counts them. No text may contain control characters.
-- Primary keys begin with the column that every query has a value for: the partner of a brand, the customer
-- of a balance or grant.

create table settings (
  name text primary key,
  value text not null
) strict, without rowid;

create table cursor_keys (
  id integer primary key check (id between 0 and 255),
  secret blob not null check (length(secret) = 32),
  created_at text not null check (created_at is strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+0 seconds'))
) strict;

create table partners (
  id text primary key
    check (length(id) between 1 and 128)
    check (id not glob '*[' || char(1) || '-' || char(31) || char(127) || ']*' and instr(id, char(0)) = 0),
  name text not null
    check (length(name) between 1 and 1024)
    check (name not glob '*[' || char(1) || '-' || char(31) || char(127) || ']*'
      and instr(name, char(0)) = 0),
  created_at text not null check (created_at is strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+0 seconds')),
  disabled_at text check (disabled_at is strftime('%Y-%m-%dT%H:%M:%fZ', disabled_at, '+0 seconds'))
) strict, without rowid;

create table api_keys (
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
) strict, without rowid;

create index api_keys_of_partner on api_keys (partner_id, id);

create table grants (
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

create index grants_of_customer on grants (customer_id, partner_id, status, expires_at);

-- The JSON of a record is rendered once, when its row is written.
--
-- Imports write millions of balances, and checking a row took as long as writing it. So both ids are checked
-- in one expression, and updated_at only if it differs from created_at. Older databases check each column
-- separately, with the same outcome.
create table balances (
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

-- char(1) is a placeholder for the public address of the instance that answers. No other text contains it.
create table brands (
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

create index brands_by_reference on brands (partner_id, reference_id, id);

-- Triggers check the metadata, because a check cannot have a subquery.
create trigger brands_metadata_on_insert before insert on brands when new.metadata is not null
begin
  select raise(abort, 'metadata: at most 50 keys, strings only, no control characters')
  where (select count(*) > 50
      or sum(type <> 'text')
      or sum(key || value glob '*[' || char(1) || '-' || char(31) || char(127) || ']*')
      or sum(instr(key || value, char(0)))
    from json_each(new.metadata));
end;

create trigger brands_metadata_on_update before update of metadata on brands when new.metadata is not null
begin
  select raise(abort, 'metadata: at most 50 keys, strings only, no control characters')
  where (select count(*) > 50
      or sum(type <> 'text')
      or sum(key || value glob '*[' || char(1) || '-' || char(31) || char(127) || ']*')
      or sum(instr(key || value, char(0)))
    from json_each(new.metadata));
end;
