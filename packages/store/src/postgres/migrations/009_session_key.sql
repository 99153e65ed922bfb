-- The key that seals sessions of the console. It has a table of its own, because the role of `serve` reads the
-- keys of cursors and must not be able to make a session. The administrative service writes the only row.
create table session_keys (
  id smallint primary key check (id = 0),
  secret bytea not null check (length(secret) = 32),
  created_at timestamptz(3) not null check (is_time(created_at))
);
