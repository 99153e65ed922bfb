-- Refused listings of brands leave receipts, too. Older receipts are of balances.
alter table receipts add column operation text not null default 'listBalances';

create index receipts_of_refusals on receipts (operation, at, request_id) where operation <> 'listBalances';

-- When a partner was refused first and last.
create index receipts_refused_of_partner on receipts (partner_id, key_id, outcome, operation, at)
where outcome <> 'GRANTED';

-- Of answers with the code OK: the highest number of requests of the partner that were admitted in any span
-- of one second, and the longest answer in milliseconds.
alter table usage add column peak integer check (peak > 0);
alter table usage add column slowest_ms integer check (slowest_ms >= 0);
