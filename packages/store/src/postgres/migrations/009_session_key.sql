-- The key that seals sessions of the console. It has a table of its own, because the role of `serve` reads
-- the keys of cursors and must not be able to make a session. `cursor-key rotate --discard-old` replaces its
-- row. The database makes the secret, so that nobody else knows it. A random UUID has 122 random bits.
create table session_keys (
  id smallint primary key check (id between 0 and 255),
  secret bytea not null
    default sha256((gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text)::bytea)
    check (length(secret) = 32),
  created_at timestamptz(3) not null check (is_time(created_at))
);

insert into session_keys (id, created_at) values (0, date_trunc('milliseconds', clock_timestamp()));
