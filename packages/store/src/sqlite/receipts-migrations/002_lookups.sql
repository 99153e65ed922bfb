-- A receipt by the id of its request, and refused requests by outcome. Almost all receipts are GRANTED, so
-- these are found by time.
create index receipts_by_request on receipts (request_id);
create index receipts_refused on receipts (outcome, at, request_id) where outcome <> 'GRANTED';
