-- Refused listings of brands by time, and when a partner was refused first and last.
create index concurrently if not exists receipts_of_refusals on receipts (operation, at, request_id)
where operation <> 'listBalances';
create index concurrently if not exists receipts_refused_of_partner
on receipts (partner_id, key_id, outcome, operation, at) where outcome <> 'GRANTED';
