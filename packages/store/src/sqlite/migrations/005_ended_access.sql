-- Access that has ended stays ended.

-- "replace into" and "insert or replace" delete the old row without a delete trigger. No statement inserts a
-- stored key. Imports upsert grants, and SQLite also runs the triggers of an insert for that. So the trigger
-- on grants compares: the new row may only have less access.

create trigger api_keys_replace_nothing before insert on api_keys
when exists (select 1 from api_keys where id = new.id or digest = new.digest)
begin
  select raise(abort, 'api_keys: a key is never replaced');
end;

create trigger admin_keys_replace_nothing before insert on admin_keys
when exists (select 1 from admin_keys where id = new.id or digest = new.digest)
begin
  select raise(abort, 'admin_keys: a key is never replaced');
end;

create trigger grants_replace_nothing before insert on grants
when exists (
  select 1 from grants as stored
  where stored.customer_id = new.customer_id and stored.id = new.id and (
    new.partner_id <> stored.partner_id or (stored.status <> 'ACTIVE' and new.status = 'ACTIVE')
    or (stored.expires_at is not null and (new.expires_at is null or new.expires_at > stored.expires_at))
  )
)
begin
  select raise(abort, 'grants: a grant is never replaced');
end;

-- Sessions of the console that a person has ended, until they would have ended by themselves.
create table ended_sessions (
  digest blob primary key check (length(digest) = 32),
  ends_at text not null check (ends_at is strftime('%Y-%m-%dT%H:%M:%fZ', ends_at, '+0 seconds'))
) strict, without rowid;

create index ended_sessions_by_end on ended_sessions (ends_at);
