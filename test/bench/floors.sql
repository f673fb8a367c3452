create schema if not exists bench;
create table if not exists bench.accounts (id int primary key, available bigint not null check (available >= 0)) with (fillfactor = 50);
create table if not exists bench.keys (key text primary key);
create table if not exists bench.payments (id bigint generated always as identity primary key, account int not null, amount bigint not null);
create table if not exists bench.entries (id bigint generated always as identity primary key, account int not null, amount bigint not null);
create table if not exists bench.counters (account int, day date, used bigint not null, primary key (account, day)) with (fillfactor = 50);
create table if not exists bench.events (id bigint generated always as identity primary key, account int not null, data jsonb not null);
insert into bench.accounts select n, 1000000000000 from generate_series(0, 999) n on conflict do nothing;
create or replace function bench.pay(k text, who int, amt bigint) returns bigint language plpgsql as $$
declare made bigint;
begin
  insert into bench.keys values (k);
  update bench.accounts set available = available - amt where id = who and available >= amt;
  insert into bench.entries (account, amount) values (who, -amt), (-1, amt);
  insert into bench.counters values (who, current_date, amt) on conflict (account, day) do update set used = bench.counters.used + amt;
  insert into bench.payments (account, amount) values (who, amt) returning id into made;
  insert into bench.events (account, data) values (who, jsonb_build_object('type', 'payment.created', 'payment', made));
  return made;
end $$;
