-- One day of this cell, a line each for what was asked for on it: kind, rail or method, status, currency, how many, minor units.
-- Reads a standby as well. Run it in every cell and add up the lines that agree in their first four columns (docs/cells.md).
-- psql --csv --tuples-only --set day=2026-11-28 --set zone=Africa/Nairobi --file report.sql "$DATABASE_READ_URL"
with asked as (
  select :'day'::date::timestamp at time zone :'zone' as since, (:'day'::date + 1)::timestamp at time zone :'zone' as until
),
-- Ids begin with their time, so the primary key finds the day. A transaction may be an hour behind the id that it uses at most.
near as (select since, until, first_id_at(since - interval '1 hour') as lowest, first_id_at(until + interval '1 hour') as highest from asked)
select 'payment' as kind, rail as by, status, currency, count(*) as entries, sum(amount_minor) as minor
from near join payments p on p.id >= lowest and p.id < highest and p.created_at >= since and p.created_at < until
group by rail, status, currency
union all
select 'topup', method, status, currency, count(*), coalesce(sum(received_minor), 0)
from near join topups t on t.id >= lowest and t.id < highest and t.created_at >= since and t.created_at < until
group by method, status, currency
order by 1, 2, 3, 4;
