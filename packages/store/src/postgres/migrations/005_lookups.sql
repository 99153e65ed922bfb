-- A grant by its partner or its id, a receipt by the id of its request, and refused requests by outcome.
-- Almost all receipts are GRANTED, so these are found by time.
create index concurrently if not exists grants_of_partner on grants (partner_id, status);
-- An expression, so that no statement of a request is planned with this index.
create index concurrently if not exists grants_by_id on grants ((id || ''));
create index concurrently if not exists receipts_by_request on receipts (request_id);
create index concurrently if not exists receipts_refused on receipts (outcome, at, request_id)
where outcome <> 'GRANTED';
