-- Rules that hold for every client of the database: a key only ever loses access.

create trigger api_keys_only_shrink before update on api_keys
when new.id <> old.id or new.partner_id <> old.partner_id or new.digest <> old.digest
  or new.last_four <> old.last_four or new.scopes <> old.scopes or new.created_at <> old.created_at
  or (old.created_by is not null and new.created_by is not old.created_by)
  or (old.revoked_at is not null and new.revoked_at is not old.revoked_at)
  or (old.expires_at is not null and (new.expires_at is null or new.expires_at > old.expires_at))
begin
  select raise(abort, 'api_keys: a key keeps its digest, partner and scopes, and access only shrinks');
end;

create trigger api_keys_are_kept before delete on api_keys
begin
  select raise(abort, 'api_keys: a key is never deleted');
end;

-- Postgres fills them in. A file has no users.
alter table audit_log add column db_user text;
alter table audit_log add column client_address text;
