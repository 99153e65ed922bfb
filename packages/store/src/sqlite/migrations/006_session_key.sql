-- The key that seals sessions of the console. `cursor-key rotate --discard-old` replaces its row.
create table session_keys (
  id integer primary key check (id between 0 and 255),
  secret blob not null default (randomblob(32)) check (length(secret) = 32),
  created_at text not null check (created_at is strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+0 seconds'))
) strict;

insert into session_keys (id, created_at) values (0, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
