-- A partner's own rate limits, in requests per second. Null: the default of the instance that answers.
alter table partners add column brands_rate integer check (brands_rate between 1 and 10000);
alter table partners add column balances_rate integer check (balances_rate between 1 and 10000);
