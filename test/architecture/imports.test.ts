import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { databaseRules, unneededExceptions } from './database-rules.ts'
import { drawnGraph, listedParts, unusedDoors } from './feature-rules.ts'
import { rules } from './rules.ts'
import { parseSource, readSources } from './source.ts'
import { formerWriters } from './writer-rules.ts'

const sources = readSources()

/** One violating file per rule: this proves that the rule finds violations. */
const violations: Record<keyof typeof rules, [path: string, text: string, ...helpers: [path: string, text: string][]][]> = {
  direction: [
    ['lib/planted.ts', `import { connect } from '../db/client.ts'`],
    ['policy/planted.ts', `import type { Db } from '../db/client.ts'`],
    ['rails/planted.ts', `export const lazily = () => import('../db/client.ts')`],
    ['rails/planted/adapter.ts', `import { emulator } from '../../dev/sandbox/planted/emulator.ts'`],
    ['dev/sandbox/planted/emulator.ts', `import type { Db } from '../../../db/client.ts'`],
    ['http/planted.ts', `import { createPayment } from '../modules/payments/service.ts'`],
    ['modules/planted/service.ts', `import { createService } from '../../app.ts'`],
  ],
  knownParts: [['helpers/planted.ts', 'export const help = 1']],
  features: [
    ['modules/planted/service.ts', `import { decide } from '../payments/approvals/decide.ts'`],
    ['modules/planted/queries.ts', `import { createPayments } from '../payments/create/create.ts'`],
    // A door for mandates and payments, not for beneficiaries.
    ['modules/beneficiaries/planted.ts', `import { linkIdentity } from '../identity/identities/link.ts'`],
  ],
  besideFeatures: [
    ['modules/planted.ts', `import type { SubmitPayment } from './payments/request.ts'`],
    ['modules/beneficiaries/planted.ts', `import type { RoutesDeps } from '../routes.ts'`],
    ['modules/ports.ts', `import { registerPayments } from './payments/routes.ts'`],
  ],
  acyclicFeatures: [
    ['modules/workspaces/planted.ts', `import { createGrant } from '../delegation/grant-service.ts'`],
    ['modules/beneficiaries/planted.ts', `import type { PaymentRecord } from '../payments/queries.ts'`],
  ],
  acyclicParts: [
    ['modules/payments/evaluation/planted.ts', `import { submitPayment } from '../create/submit.ts'`],
    ['modules/identity/accounts/planted.ts', `import { linkIdentity } from '../identities/link.ts'`],
  ],
  transitivePurity: [
    ['modules/planted/rules.ts', `import { postTransfer } from '../../ledger/ledger.ts'`],
    ['modules/planted/grant-rules.ts', `import { revokeGrant } from '../delegation/revoke-service.ts'`],
    ['modules/planted/rules.ts', `import type { Tx } from '../../db/client.ts'`],
    ['policy/planted.ts', `import { request } from 'node:https'`],
    ['rails/planted.ts', `import { findPayment } from '../modules/payments/queries.ts'`],
    ['lib/planted.ts', `import { lookup } from 'node:dns/promises'`],
    [
      'modules/planted/rules.ts',
      `import { tidy } from './tidy.ts'`,
      ['modules/planted/tidy.ts', `import { forget } from './forget.ts'`],
      [
        'modules/planted/forget.ts',
        `import type { Tx } from '../../db/client.ts'
export const forget = (tx: Tx) => tx.query('delete from grants')`,
      ],
    ],
  ],
  oneWriter: [
    ['modules/planted/service.ts', "prepareWrite('planted.end', {}, (orm) => orm.update(accounts).set({ email }))"],
    ['modules/planted/service.ts', 'updateRow(tx, accounts, account, { email })'],
    ['modules/planted/service.ts', 'insertOnce(deps.db, grants, grant, grants.id)'],
    ['modules/planted/service.ts', 'const end = statement(`planted.end`)`update grants set revoked_at = $2 where id = $1`'],
    ['modules/planted/service.ts', `const forget = (table: string) => \`delete from \${table}\``],
    ['modules/planted/service.ts', 'const forget = ({ orm }: Tx) => orm.delete(grants)'],
    ['modules/planted/service.ts', 'const forget = (write: Writer) => write.delete(grants)'],
    ['modules/planted/service.ts', 'const forget = (db: Db, table: Table) => db.orm.delete(table)'],
    ['modules/planted/service.ts', 'const end = statement(`planted.end`)`update only public.grants set revoked_at = $2`'],
  ],
  interpolatedSql: [
    ['modules/planted/service.ts', `const remove = (name: string) => statement('planted.end')\`delete from \${name}\``],
    [
      'modules/planted/service.ts',
      `const remove = async (tx: Tx, id: Uuid) => await tx.query(\`delete from grants where id = \${id}\`)`,
    ],
    ['modules/planted/service.ts', "const find = (db: Db, id: Uuid) => db.query('select from grants where id = ' + id)"],
    [
      'modules/planted/service.ts',
      `const find = (db: Db, name: string) => { const text = \`select \${name} from grants\`; return db.query(text) }`,
    ],
    ['modules/planted/service.ts', 'const find = (name: string) => sql.raw(name)'],
  ],
  databaseAlone: [
    ['modules/planted/service.ts', 'const pay = (db: Database) => inTx(db, async (tx) => { await fetch(url) })'],
    ['modules/planted/service.ts', 'const pay = async (tx: Tx) => { await Promise.all([tx.query(text), rail.send(order)]) }'],
    ['modules/planted/service.ts', 'const pay = async (tx: Tx, deps: Deps) => { await deps.db.query(text, [tx.at]) }'],
    ['modules/planted/service.ts', 'const pay = async (tx: Tx) => { await new Promise((done) => setTimeout(done, 100, tx)) }'],
  ],
  awaitedStatements: [
    ['modules/planted/service.ts', 'const remove = async (tx: Tx) => { tx.query(text) }'],
    ['modules/planted/service.ts', 'const read = async (tx: Tx) => { tx.run(byId, { id }) }'],
  ],
  ownPreparation: [
    ['modules/planted/queries.ts', "const find = db.orm.select().from(payments).prepare('payments.all')"],
    ['modules/planted/queries.ts', 'const find = (db: Database) => drizzle(db.pool).select().from(payments)'],
    ['modules/planted/queries.ts', 'const find = () => new QueryBuilder().select().from(payments)'],
  ],
  drizzleFirst: [
    ['modules/planted/queries.ts', "const find = statement('planted.find')`select id from payments where id = any($1::uuid[])`"],
    ['modules/planted/service.ts', 'const end = statement(`planted.end`)`update topups set status = $2 where id = $1`'],
  ],
  oneInstant: [
    ['modules/planted/service.ts', 'const pay = async (tx: Tx, deps: Deps) => { await tx.query(text, [deps.clock.now()]) }'],
    ['modules/planted/service.ts', 'const pay = (db, clock) => inTx(db, async (tx) => { await tx.query(text, [clock.now()]) })'],
  ],
  noDetours: [
    [
      'modules/planted/service.ts',
      'const call = async (url: string) => { await fetch(url) }; const pay = async (tx: Tx) => { await call(urlOf(tx.at)) }',
    ],
    [
      'modules/planted/service.ts',
      `import { exchange } from '../../rails/exchange.ts'
const ask = (text: string) => exchange(text)
const pay = (db: Database) => inTx(db, async (tx) => { await ask(String(tx.at)) })`,
    ],
  ],
  queriesRead: [
    ['modules/planted/queries.ts', 'const change = (orm: Writer) => orm.update(accounts).set({ email })'],
    ['modules/planted/queries.ts', 'updateRow(tx, accounts, account, { email })'],
    ['modules/planted/member-queries.ts', 'const text = `delete from members where id = $1`'],
  ],
  pureFiles: [
    ['modules/planted/schema.ts', `import type { Db } from '../../db/client.ts'`],
    ['modules/planted/rules.ts', 'const row = await findPayment(id)'],
  ],
  concreteRails: [
    ['modules/payments/planted.ts', `import { createDaraja } from '../../rails/daraja/adapter.ts'`],
    ['modules/payments/planted.ts', `import { adapters } from '../../rails/all/adapters.ts'`],
  ],
  namedRails: [
    ['modules/planted/rules.ts', `const isBank = rail === 'PESALINK'`],
    ['modules/planted/service.ts', `const provider = rail.startsWith('MPESA_') ? 'MPESA' : other`],
    ['modules/planted/service.ts', 'const grace = deps.config.DARAJA_SHORTCODE'],
    ['dev/sandbox/planted.ts', `const isBank = rail === 'PESALINK'`],
    ['rails/planted.ts', `const isBank = rail === 'PESALINK'`],
  ],
  fastify: [['modules/payments/planted.ts', `import type { FastifyRequest } from 'fastify'`]],
  routesWithoutSql: [
    ['modules/planted/routes.ts', `import { eq } from 'drizzle-orm'`],
    ['modules/planted/routes.ts', `const rows = await deps.db.query('select 1')`],
  ],
  ledgerTables: [
    ['modules/planted/queries.ts', 'const text = `select * from ledger_transfers`'],
    ['modules/planted/queries.ts', `import { ledgerAccounts } from '../../db/tables/ledger.ts'`],
  ],
  privateRoutes: [['modules/planted/service.ts', `import { registerAccounts } from '../identity/accounts/routes.ts'`]],
  environment: [['modules/planted/service.ts', 'const level = process.env.LOG_LEVEL']],
  time: [
    ['modules/planted/service.ts', 'const now = new Date()'],
    ['modules/planted/service.ts', 'const now = Date.now()'],
  ],
  internalCalls: [['modules/planted/service.ts', 'await callRoute(app, who, call)']],
  ownNeeds: [
    ['modules/planted/service.ts', 'export const pay = async (tx: Tx, deps: Deps, id: Uuid) => deps.vault.seal(id)'],
    ['modules/planted/service.ts', 'export const pay = async ({ db, clock }: Parts) => db.query(text, [clock.now()])'],
  ],
  boundCursors: [
    ['modules/planted/routes.ts', "const before = deps.cursors.read('all payments', request.query.cursor)"],
    ['modules/planted/routes.ts', 'return reply.send({ data, next_cursor: last.id })'],
    ['modules/planted/routes.ts', 'const { cursors } = deps'],
    ['modules/planted/routes.ts', 'return reply.send({ data, next_cursor })'],
  ],
  barrels: [['lib/planted.ts', `export * from './ids.ts'`]],
  cycles: [['lib/money.ts', `import '../planted.ts'`]],
}

describe('the architecture', () => {
  it('is read completely by these tests', () => {
    expect(sources.length).toBeGreaterThan(150)
    expect(sources.find(({ path }) => path === 'app.ts')?.imports.length).toBeGreaterThan(20)
  })

  it('keeps no unused door and no unused exception', () => {
    expect([...unusedDoors(sources), ...unneededExceptions(sources), ...formerWriters(sources)]).toEqual([])
  })

  it('is drawn in docs/features.md exactly as the imports are', () => {
    const page = readFileSync(new URL('../../docs/features.md', import.meta.url), 'utf8')
    expect(/flowchart TD\n([\s\S]*?)\n```/.exec(page)?.[1]).toBe(drawnGraph(sources))
    expect(/\| --- \| --- \|\n([\s\S]*?)\n\n/.exec(page)?.[1]).toBe(listedParts(sources))
  })

  it.each(Object.entries(rules))('%s holds', (_name, rule) => {
    expect(rule.check(sources)).toEqual([])
  })

  it.each(
    Object.entries(violations).flatMap(([name, planted]) =>
      planted.map(([path, text, ...helpers]) => ({ name, path, text, helpers })),
    ),
  )('$name notices: $text', ({ name, path, text, helpers }) => {
    const rule = rules[name as keyof typeof rules]
    const planted = [
      parseSource(path, text),
      parseSource('planted.ts', `import { Money } from './lib/money.ts'`),
      ...helpers.map(([at, code]) => parseSource(at, code)),
    ]
    // The database rules look at each file alone, so the others need not be read again.
    const others = name in databaseRules ? [] : sources.filter((source) => source.path !== path)
    expect(rule.check([...others, ...planted]).join('\n')).toContain(path)
  })
})
