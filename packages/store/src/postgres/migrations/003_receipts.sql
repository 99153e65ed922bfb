-- Receipts: which partner requested which customer's balances, and the outcome. Sharded by customer, like
-- balances; a missing customer is stored as ''. There are no references and no checks: all values were read
-- from other tables or checked before, and a rejected row would block all receipts after it.

create table receipts (
  customer_id text collate "C" not null,
  at timestamptz(3) not null,
  request_id uuid not null,
  partner_id text collate "C" not null,
  key_id text collate "C" not null,
  grant_id text collate "C",
  outcome text collate "C" not null,
  primary key (customer_id, at, request_id)
);

create index receipts_of_partner on receipts (partner_id, at, request_id);

create index receipts_by_time on receipts (at, request_id);

-- When each key was last used, to the minute. Small, and on every node. Not a column of api_keys, because
-- serving may only read that table.
create table key_uses (
  key_id text collate "C" primary key,
  used_at timestamptz(3) not null
);
