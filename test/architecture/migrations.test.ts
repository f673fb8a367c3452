import { describe, expect, test } from 'vitest'
import { changedMigrations } from '../../scripts/releases.ts'
import { parseMigration, readMigrations, readReleases } from '../../src/db/migrations.ts'
import { version } from '../../src/lib/version.ts'
import { complaintsAboutOurs, declaredAt, migrationComplaints, type Releases } from './migration-rules.ts'

const first = [
  parseMigration('0000_create_schema', 0, 'create table payments (id uuid)'),
  parseMigration(
    '0001_add_guards',
    1,
    'alter table payments rename to other; create function usual_amount() returns int as $$ select 1 $$; create statistics payments_shape on a, b from payments',
  ),
]
const complaintsAbout = (texts: readonly string[], releases: Releases = []) =>
  migrationComplaints(
    [...first, ...texts.map((text, index) => parseMigration(`000${index + 2}_change`, index + 2, text))],
    releases,
    (tag) =>
      tag.startsWith('0000')
        ? new Set(['payments', 'payments.narrative', 'payments.id', 'index payments_old'])
        : tag.startsWith('0002')
          ? new Set(['payments', 'payments.id', 'index payments_new'])
          : undefined,
  )

const concurrently = '-- no transaction\n'

describe('released migrations', () => {
  test('are as they were released', () => {
    expect(changedMigrations(readReleases())).toEqual([])
    const [newest] = readReleases().slice(-1)
    if (newest) expect([newest.version, Object.keys(newest.migrations)]).toEqual([version, expect.arrayContaining([newest.last])])
  })

  test('a changed one and a missing one are found', () => {
    const [one] = readMigrations()
    const migrations = { [one?.tag ?? '']: one?.hash ?? '', '0009_gone': 'a hash' }
    const release = { version: '0.2.0', last: '0009_gone', migrations }
    expect(changedMigrations([release])).toEqual(['0009_gone is missing since 0.2.0'])
    const edited = { ...release, migrations: { [one?.tag ?? '']: 'another hash' } }
    expect(changedMigrations([edited])).toEqual([`${one?.tag} was changed after 0.2.0`])
  })
})

describe('a migration after the first two', () => {
  test('none of ours stops the service, or breaks the version that runs beside it', () => {
    expect(complaintsAboutOurs()).toEqual([])
    expect(declaredAt('0000_create_schema')).toContain('payments.amount_minor')
  })

  test.each([
    ['alter table payments add column note text not null', 'NOT NULL without a default'],
    ['ALTER TABLE "payments" ADD COLUMN "note" text NOT NULL, ADD COLUMN b int', 'NOT NULL without a default'],
    ['alter table payments add note uuid default gen_random_uuid()', 'rewrites the table'],
    ['alter table payments add column n bigserial', 'rewrites the table'],
    ['alter table payments add column n int generated always as (1) stored', 'rewrites the table'],
    ['alter table payments alter column amount type numeric', 'rewrites the table'],
    ['alter table payments alter amount set data type numeric', 'rewrites the table'],
    ['alter table payments set unlogged', 'rewrites the table'],
    ['alter table payments alter column note set not null', 'no validated CHECK proves'],
    ['alter table payments add constraint c check (amount > 0)', 'NOT VALID'],
    ['alter table payments add constraint c foreign key (a) references b (id)', 'NOT VALID'],
    ['alter table payments add constraint c unique (reference)', 'USING INDEX'],
    ['alter table payments add primary key (id)', 'USING INDEX'],
    ['alter table payments validate constraint c', 'a migration of its own'],
    ['create index payments_new on payments (reference)', 'CONCURRENTLY'],
    ['create unique index if not exists "payments_new" on "payments" using btree ("reference")', 'CONCURRENTLY'],
    ['create index concurrently if not exists payments_new on payments (reference)', '-- no transaction'],
    [`${concurrently}create index concurrently if not exists events_new on events (type)`, 'on a partitioned table'],
    ['drop index payments_gone', 'without CONCURRENTLY'],
    [`${concurrently}drop index concurrently if exists payments_old`, 'rest: leave it to a migration'],
    ['drop function usual_amount', 'rest: leave it to a migration'],
    ['drop statistics if exists payments_shape', 'rest: leave it to a migration'],
    ['reindex table payments', 'without CONCURRENTLY'],
    ['lock table payments', 'locks a table'],
    ['truncate payments', 'locks a table'],
    ["update payments set note = ''", 'changes rows'],
    ['with old as (select 1) delete from payments', 'changes rows'],
    ['insert into payments select * from other', 'changes rows'],
    ['alter table payments rename column narrative to words', 'renames'],
    ['alter table payments rename to orders', 'renames'],
    ['alter table payments drop column narrative', 'still reads'],
    ['alter table payments drop if exists narrative', 'still reads'],
    ['drop table if exists payments cascade', 'still reads'],
    [`${concurrently}create index concurrently payments_new on payments (reference)`, 'cannot be repeated'],
    [`${concurrently}alter table payments add column note text`, 'cannot be repeated'],
  ])('is refused: %s', (text, complaint) => {
    expect(complaintsAbout([text])).toEqual([expect.stringContaining(complaint)])
  })

  test.each([
    ['a column without NOT NULL', ['alter table payments add column note text']],
    ['a column with one default for all rows', ["alter table payments add column note text default '' not null"]],
    [
      'indexes and keys of its own table',
      ['create table t (id uuid primary key, n int not null)', 'create table u (id uuid);create index u_id on u (id)'],
    ],
    [
      'an index that is built beside the service',
      [`${concurrently}create index concurrently if not exists n on payments (reference)`],
    ],
    [
      'an index of a partitioned table, on the table alone and on each part',
      [
        `${concurrently}create index if not exists events_new on only events (type)`,
        `${concurrently}-- each part of events without events_new\ncreate index concurrently if not exists "{part}_new" on "{part}" (type)`,
        `${concurrently}-- each part of events without events_new\nalter index events_new attach partition "{part}_new"`,
      ],
    ],
    [
      'NOT NULL in three steps',
      [
        'alter table payments add constraint note_given check (note is not null) not valid',
        `${concurrently}alter table payments validate constraint note_given`,
        'alter table payments alter column note set not null; alter table payments drop constraint note_given',
      ],
    ],
    ['a constraint that does not look at what is there', ['alter table payments add constraint c check (amount > 0) not valid']],
    ['a function whose body changes rows', ['create function f() returns void language sql as $$ update payments set a = 1; $$']],
  ])('may have %s', (_, texts) => {
    expect(complaintsAbout(texts)).toEqual([])
  })

  test('that comes after the upgrade drops what the newest version does not declare, and nothing that it does', () => {
    const after = '-- no transaction\n-- after the upgrade\n'
    expect(complaintsAbout([`${after}drop index concurrently if exists payments_old`])).toEqual([])
    expect(complaintsAbout([`${after}drop index concurrently if exists payments_new`])).toHaveLength(1)
  })

  test('drops a column when a released version has run without it', () => {
    const undeclared = 'alter table payments alter column narrative drop not null'
    const drop = 'alter table payments drop column narrative'
    expect(complaintsAbout([undeclared, drop])).toHaveLength(1)
    expect(complaintsAbout([undeclared, drop], [{ version: '0.3.0', last: '0002_change' }])).toEqual([])
    expect(complaintsAbout([undeclared, drop], [{ version: '0.3.0', last: '0003_change' }])).toHaveLength(1)
  })
})
