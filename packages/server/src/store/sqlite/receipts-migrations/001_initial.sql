-- Who asked for whose balances, and what came of it, in a file of its own: an import may keep the other one
-- locked for longer than a receipt may wait. There are no references and no checks: what comes here was read
-- from the other file or checked before, and one row that was refused would keep all after it waiting.

create table settings (
  name text primary key,
  value text not null
) strict, without rowid;

-- In the order of time, in which they are written and removed. No customer is the empty text.
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
