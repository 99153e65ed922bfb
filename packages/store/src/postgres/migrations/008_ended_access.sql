-- Sessions of the console that a person has ended, until they would have ended by themselves.
create table ended_sessions (
  digest bytea primary key check (length(digest) = 32),
  ends_at timestamptz(3) not null check (is_time(ends_at))
);

create index ended_sessions_by_end on ended_sessions (ends_at);
