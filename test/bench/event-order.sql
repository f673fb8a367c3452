-- The transaction of a payment in the two shapes that keep an account's events in the order of their effects, and in the one that does
-- not. Each shape has tables of its own, so that none grows for another.
create schema if not exists ordered;
create or replace function ordered.make_shape(shape text, event_columns text, event_indexes text[]) returns void language plpgsql as $$
declare event_index text;
begin
  execute format('create table ordered.%1$s_accounts (id int primary key, available bigint not null check (available >= 0), event_sequence bigint not null default 0) with (fillfactor = 50)', shape);
  execute format('create table ordered.%1$s_keys (key uuid primary key)', shape);
  execute format('create table ordered.%1$s_payments (id uuid primary key, account int not null, amount bigint not null)', shape);
  execute format('create table ordered.%1$s_events (id uuid primary key, account int not null, data jsonb not null, %2$s)', shape, event_columns);
  foreach event_index in array event_indexes loop
    execute format('create index on ordered.%1$s_events (%2$s)', shape, event_index);
  end loop;
  execute format('insert into ordered.%1$s_accounts select n, 900000000000000 from generate_series(0, 1000) n', shape);
end $$;

-- By the transaction id alone: who waits for the account's row has its id already.
select ordered.make_shape('unordered', 'transaction xid8 not null default pg_current_xact_id()', array['transaction, id', 'account, transaction, id']);
create function ordered.pay_unordered(who int, size int) returns void language plpgsql as $$
begin
  insert into ordered.unordered_keys select gen_random_uuid() from generate_series(1, size);
  update ordered.unordered_accounts set available = available - size where id = who;
  insert into ordered.unordered_payments select gen_random_uuid(), who, 1 from generate_series(1, size);
  insert into ordered.unordered_events select gen_random_uuid(), who, '{"type": "payment.created"}' from generate_series(1, 3 * size);
end $$;

-- An advisory lock before the first write: an account's transactions get their ids one after the other.
select ordered.make_shape('advisory', 'transaction xid8 not null default pg_current_xact_id()', array['transaction, id', 'account, transaction, id']);
create function ordered.pay_advisory(who int, size int) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(who);
  insert into ordered.advisory_keys select gen_random_uuid() from generate_series(1, size);
  update ordered.advisory_accounts set available = available - size where id = who;
  insert into ordered.advisory_payments select gen_random_uuid(), who, 1 from generate_series(1, size);
  insert into ordered.advisory_events select gen_random_uuid(), who, '{"type": "payment.created"}' from generate_series(1, 3 * size);
end $$;

-- A payment that numbers the events of its account, in the tables of one shape.
create function ordered.make_numbered_pay(shape text) returns void language plpgsql as $make$
begin
  execute format($pay$
    create function ordered.pay_%1$s(who int, size int) returns void language plpgsql as $body$
    declare last bigint;
    begin
      insert into ordered.%1$s_keys select gen_random_uuid() from generate_series(1, size);
      update ordered.%1$s_accounts set available = available - size, event_sequence = event_sequence + 3 * size where id = who returning event_sequence into last;
      insert into ordered.%1$s_payments select gen_random_uuid(), who, 1 from generate_series(1, size);
      insert into ordered.%1$s_events select gen_random_uuid(), who, '{"type": "payment.created"}', last - 3 * size + n from generate_series(1, 3 * size) n;
    end $body$ $pay$, shape);
end $make$;

-- A position for each account, from the update that holds its row already. Read by account alone: no order over accounts.
select ordered.make_shape('sequence', 'sequence bigint not null', array['account, sequence']);
select ordered.make_numbered_pay('sequence');

-- The same, with what one reader for all accounts of a process needs besides.
select ordered.make_shape('feed', 'sequence bigint not null, transaction xid8 not null default pg_current_xact_id()', array['account, sequence', 'transaction, id']);
select ordered.make_numbered_pay('feed');
