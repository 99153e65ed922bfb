-- A partner's own rate limits, in requests per second. Null: the default of the instance that answers.

alter table partners add column brands_rate integer, add column balances_rate integer;

alter table partners add constraint partners_brands_rate_check
  check (brands_rate between 1 and 10000) not valid;
alter table partners add constraint partners_balances_rate_check
  check (balances_rate between 1 and 10000) not valid;

-- A role that may not create partners may only lower a limit: the default for brands is 50, and balances
-- have none.
create function partners_refuse_limits() returns trigger language plpgsql as $$
begin
  if not pg_catalog.has_table_privilege(tg_relid, 'insert') then
    raise exception 'partners: this role may lower a limit of a partner, but not raise or remove it'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

-- The trigger reads and changes only its own row, so it may run on the nodes of a distributed database.
set local citus.enable_unsafe_triggers = on;

create trigger partners_limited_by_right before update on partners
for each row when (
  (old.brands_rate is not null and new.brands_rate is null) or new.brands_rate > coalesce(old.brands_rate, 50)
  or (old.balances_rate is not null and new.balances_rate is null) or new.balances_rate > old.balances_rate
) execute function partners_refuse_limits();
