import { afterAll, expect, test } from 'vitest'
import { catchUpTransactionIds } from '../../src/db/start.ts'
import { statementCsv } from '../../src/dev/sandbox/control.ts'
import { sendingRails } from '../../src/lib/rail-names.ts'
import { markWaitingUnknown } from '../../src/modules/exceptions/losses-service.ts'
import { resumeRail } from '../../src/modules/exceptions/pauses-service.ts'
import { reconcileStatement } from '../../src/modules/exceptions/reconciliation/service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { startAdministered } from '../admin/administrators.ts'
import { credit } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { copyDatabase, createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { movementsTo, ordersTo, pass, pay, paymentOf } from '../rails-flows/scene.ts'

const databases: TestDatabase[] = []
let provider: TestService | undefined
afterAll(async () => {
  await provider?.sandbox.close()
  for (const database of databases) await database.drop()
})

const operator = shellOperator('a rehearsal')
const payee = (phone: string) => ({ payment_rail: 'MPESA_B2C', destination: phone })

test('restored to an earlier moment: what was paid since is found at the provider, nothing is paid twice, and the books agree again', async () => {
  const original = await createTestDatabase()
  databases.push(original)
  const before = await startAdministered({ database: original })
  provider = before.service
  const person = await signIn(before.service.api)
  await credit(before.service, person.accountId, 10_000_000n)
  await pay(person, payee('254722000101'))
  await before.service.settle()
  // A payment that waits to be sent during the backup.
  const waiting = await pay(person, payee('254722000102'))
  await before.service.stop()
  const backup = await copyDatabase(original)
  databases.push(backup)

  const { clock } = before.service
  const later = await startService({ database: original, clock, provider })
  const self = { api: later.api.as({ cookie: person.cookie }) }
  await later.settle()
  await pay(self, payee('254722000103'))
  await later.settle()
  expect(movementsTo(later, '254722000102')).toHaveLength(1)
  await later.stop()

  const names = before.wallets.map(({ address }) => address).join(',')
  const restored = await startService({ database: backup, clock, provider, env: { ADMIN_ACCOUNTS: names } })
  await catchUpTransactionIds(backup.url)
  expect(await markWaitingUnknown(restored.deps.db, operator)).toEqual({ unknown: 1 })
  await pass(restored, 3_600)
  expect(ordersTo(restored, '254722000102')).toHaveLength(1)
  const api = restored.api.as({ cookie: person.cookie })
  expect((await paymentOf({ api }, waiting)).status).toBe('unknown')

  const text = statementCsv(restored.sandbox.movements(), 'MPESA')
  const run = await reconcileStatement(restored.deps, operator, { source: 'since the backup', text })
  expect(run).toMatchObject({ lines: 3, matched: 1, differences: 2 })

  // The person at the console finds the waiting payment among the books' differences, and ends it with its receipt.
  const admin = (await signIn(restored.api, before.admin.wallet)).api
  const items: { id: string; provider_receipt: string }[] = (await admin.get('/v1/admin/suspense?status=open')).body.data
  const receipt = movementsTo(restored, '254722000102')[0]?.receipt
  const match = items.find((item) => item.provider_receipt === receipt)
  const ended = await admin.post(`/v1/admin/payments/${waiting}/resolve`, {
    outcome: 'succeeded',
    provider_receipt: receipt,
    evidence: 'the statement since the backup lists it',
  })
  expect([ended.status, ended.body.status]).toEqual([200, 'succeeded'])
  // The payment's receipt has one owner, so the item ended with the payment.
  const open: { id: string }[] = (await admin.get('/v1/admin/suspense?status=open')).body.data
  expect([match !== undefined, open.some(({ id }) => id === match?.id)]).toEqual([true, false])

  for (const rail of sendingRails) await restored.deps.db.transaction((tx) => resumeRail(tx, operator, rail))
  await pass(restored, 60)
  expect(restored.sandbox.movements()).toHaveLength(3)
  expect(await findBreaches(restored)).toEqual([])
  await restored.stop()
})
