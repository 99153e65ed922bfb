-- Refused listings of brands by time, and why a partner was refused.
create index concurrently if not exists receipts_of_refusals on receipts (operation, at, request_id)
where operation <> 'listBalances';
create index concurrently if not exists receipts_refused_of_partner on receipts (partner_id, at)
where outcome <> 'GRANTED';
