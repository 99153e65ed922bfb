-- Who asked for whose balances, and what came of it. Spread by the customer, as balances are; where a request
-- named no customer, that is the empty text. There are no references and no checks: what comes here was read
-- from the other tables or checked before, and one row that was refused would keep all after it waiting.

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

-- When each key was last used, to the minute; small, and on every node. Not in api_keys, which serving reads
-- only.
create table key_uses (
  key_id text collate "C" primary key,
  used_at timestamptz(3) not null
);
