import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

const features: Readonly<Record<string, RegExp>> = {
  'advisory locks': /pg_(try_)?advisory/,
  '`LISTEN` and `NOTIFY`': /[`'](listen|notify) /,
  snapshots: /pg_current_snapshot|pg_current_xact_id|pg_snapshot_x/,
  'statement triggers': /create trigger [^;]*for each statement/i,
}

const obstaclesIn = (path: string, text: string): string[] =>
  Object.entries(features).flatMap(([feature, pattern]) => (pattern.test(text) ? [`${feature}: ${path}`] : []))

/** Tables whose rows would live with their owner. */
const placedByOwner = ['payments', 'topups', 'approvals', 'ledger'].map((name) => `src/db/tables/${name}.ts`)
const unownedKeysIn = (text: string): string[] =>
  [...text.matchAll(/uniqueIndex\('([a-z_]+)'\)\s*\.on\(([^)]*)\)/g)].flatMap(([, name = '', columns = '']) =>
    /accountId|ownerId|workspaceId|customerAccountId/.test(columns) ? [] : [`unique keys without the owner: ${name}`],
  )

/** Files of the tables of money, of what limits it, and of whom it goes to. */
const ofMoney = [
  ...placedByOwner,
  ...['beneficiaries', 'deposits', 'grants', 'mandates', 'payment-batches', 'payment-refusals', 'policies'].map(
    (name) => `src/db/tables/${name}.ts`,
  ),
]
const rowsWithoutOwnerIn = (text: string): string[] =>
  text.split(/^export const \w+ = pgTable\(/m).flatMap((table, index) => {
    const [, name] = /^\s*'(\w+)'/.exec(table) ?? []
    return index === 0 ||
      name === undefined ||
      /\b(accountId|ownerId|owningAccountId|customerAccountId): (uuid|idOf)\(/.test(table)
      ? []
      : [`rows without the owner: ${name}`]
  })

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(join(root, folder), { recursive: true }))
    .filter((path) => /\.(ts|sql)$/.test(path))
    .map((path) => join(folder, path))

const readObstacles = async (): Promise<string[]> => {
  const files = [...(await filesIn('src')), ...(await filesIn('migrations'))]
  const texts = await Promise.all(files.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })))
  return [
    ...texts.flatMap(({ path, text }) => obstaclesIn(path, text)),
    ...texts.flatMap(({ path, text }) => (placedByOwner.includes(path) ? unownedKeysIn(text) : [])),
    ...texts.flatMap(({ path, text }) => (ofMoney.includes(path) ? rowsWithoutOwnerIn(text) : [])),
  ].sort()
}

const listed = async (): Promise<string[]> => {
  const text = await readFile(join(root, 'docs/placing-by-owner.md'), 'utf8')
  return [...text.matchAll(/^\| (.+?) \| `([^`]+)` \|/gm)].map(([, feature, place]) => `${feature}: ${place}`).sort()
}

describe('the obstacles to placing rows by owner', () => {
  test('are exactly those that docs/placing-by-owner.md lists', async () => {
    expect(await listed()).toEqual(await readObstacles())
  })

  test('are found when a change adds one', () => {
    expect(obstaclesIn('src/new.ts', "await tx.query('select pg_advisory_lock(1)')")).toEqual(['advisory locks: src/new.ts'])
    expect(obstaclesIn('src/new.ts', "await client.query('listen events')")).toEqual(['`LISTEN` and `NOTIFY`: src/new.ts'])
    expect(obstaclesIn('migrations/new.sql', 'create trigger t before update on payments for each statement')).toHaveLength(1)
    expect(unownedKeysIn("uniqueIndex('payments_new_key').on(t.reference)")).toEqual([
      'unique keys without the owner: payments_new_key',
    ])
    expect(unownedKeysIn("uniqueIndex('payments_new_key').on(t.accountId, t.reference)")).toEqual([])
    expect(rowsWithoutOwnerIn("export const fees = pgTable('fees', { paymentId: uuid() })")).toEqual([
      'rows without the owner: fees',
    ])
    expect(rowsWithoutOwnerIn("export const fees = pgTable('fees', { accountId: uuid() })")).toEqual([])
    expect(rowsWithoutOwnerIn("export const fees = pgTable('fees', { accountId: idOf(() => accounts.id).notNull() })")).toEqual(
      [],
    )
  })
})
