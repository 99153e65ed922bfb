-- Receipts: which partner requested which customer's balances, and the outcome. They have their own file,
-- because an import may lock the database for longer than a receipt may wait. There are no references and no
-- checks: all values were read from the database or checked before, and a rejected row would block all
-- receipts after it.

create table settings (
  name text primary key,
  value text not null
) strict, without rowid;

-- Ordered by time, as they are written and deleted. A missing customer is stored as ''.
create table receipts (
  at text not null,
  request_id text not null,
  partner_id text not null,
  key_id text not null,
  customer_id text not null,
  grant_id text,
  outcome text not null,
  primary key (at, request_id)
) strict, without rowid;

create index receipts_of_customer on receipts (customer_id, at, request_id);

create index receipts_of_partner on receipts (partner_id, at, request_id);

-- When each key was last used, to the minute.
create table key_uses (
  key_id text primary key,
  used_at text not null
) strict, without rowid;
