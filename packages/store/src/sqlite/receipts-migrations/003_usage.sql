-- The answers of an hour, which begins at "at". A code is OK, or that of the first error.
create table usage (
  at text not null,
  partner_id text not null,
  key_id text not null,
  operation text not null,
  code text not null,
  count integer not null check (count > 0),
  primary key (at, partner_id, key_id, operation, code)
) strict, without rowid;

create index usage_of_partner on usage (partner_id, at);
