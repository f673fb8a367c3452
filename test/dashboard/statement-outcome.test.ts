import { expect, test } from 'vitest'
import { reconcileStatement } from '../../src/modules/exceptions/reconciliation/service.ts'
import { subjects } from '../../src/modules/jobs.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { findBreaches } from '../harness/verify.ts'
import { pass, pay, paymentOf } from '../rails-flows/scene.ts'
import { createInspector } from './axe.ts'
import { desk, phone, visitAs } from './visit.ts'
import { createWorld } from './world.ts'

const world = createWorld()

test('a payment whose outcome is unknown ends as the statement shows it, by one button', async () => {
  const { service } = world
  const payer = await signIn(service.api)
  await credit(service, payer.accountId, 10_000_000n)
  const lost = async (destination: string, amount_minor: string): Promise<string> => {
    const beneficiary_id = await newBeneficiary(payer.api, { payment_rail: 'MPESA_B2B', destination })
    service.sandbox.failNext({ kind: 'reset', takesEffect: false })
    const { id } = (await payer.api.post('/v1/payments', { beneficiary_id, amount_minor })).body
    await service.settle()
    return id
  }
  const nairobi = (at: Date) => new Date(at.getTime() + 3 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
  /** Another payment by the same rail, which succeeds: the line of it in a statement. */
  const neighbour = async (): Promise<string> => {
    await pay(payer, { payment_rail: 'MPESA_B2B', destination: '400299' })
    await service.settle()
    const { receipt = '', at = new Date() } = service.sandbox.movements().at(-1) ?? {}
    service.clock.advance(60)
    return `${receipt},${nairobi(at)},Business Pay Bill to 400***299,Completed,,-1500.00,400***299,`
  }
  const before = await neighbour()
  const sentAt = service.clock.now()
  const [listed, missing] = [await lost('400202', '130000'), await lost('400201', '150000')]
  service.clock.advance(60)
  const after = await neighbour()
  await pass(service, 5 * 3_600)
  service.clock.advance(901)
  for (const id of [listed, missing]) expect((await paymentOf(payer, id)).status).toBe('unknown')
  const columns = 'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Other Party Info,A/C No.'
  const text = [
    columns,
    before,
    `ALONE00001,${nairobi(sentAt)},Business Pay Bill to 400***202,Completed,,-1300.00,400***202,`,
    after,
    `EDGE00001B,${nairobi(service.clock.now())},Pay Bill from 254***111,Completed,1.00,,254***111,`,
  ].join('\n')
  const reconcile = (whole: string) =>
    reconcileStatement(service.deps, subjects, shellOperator('a test'), { source: 'whole.csv', text: whole })
  await reconcile(text)
  await reconcile(`Short Code:,174379\n${text}`)
  await reconcile(`Short Code:,600997\n${text}`)

  const administrator = await signIn(service.api, world.administrator)
  const { page, complaints, close } = await visitAs(world, administrator)
  await page.goto('/reconciliation')
  const dialog = page.getByRole('dialog')
  const inspector = createInspector()
  const succeed = page.getByRole('button', { name: /^Record as succeeded: The statement lists one payment of this sum/ })
  await succeed.waitFor()
  // Files that prove nothing about them say why.
  await page.getByText(/about 2 payments of unknown outcome: it does not name the account that it is of/).waitFor()
  await page.getByText(/2 payments left by another account than 174379: import the statement of 600997/).waitFor()
  await page.setViewportSize(phone)
  expect(await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')).toBe(false)
  await page.setViewportSize(desk)
  await succeed.click()
  expect(await inspector.inBothThemes(page, 'dialog')).toEqual([])
  await dialog.getByRole('button', { name: 'Record as succeeded' }).click()
  await page.getByText('Payment recorded as succeeded').waitFor()
  expect(await paymentOf(payer, listed)).toMatchObject({ status: 'succeeded', provider_receipt: 'ALONE00001' })
  expect((await paymentOf(payer, missing)).status).toBe('unknown')

  await page.getByRole('button', { name: /^Record as failed: The statement is of the account that pays this/ }).click()
  await dialog.getByText('its money returns to the account that paid').waitFor()
  await dialog.getByRole('button', { name: 'Record as failed' }).click()
  await page.getByText('Payment recorded as failed').waitFor()
  expect((await paymentOf(payer, missing)).status).toBe('failed')
  await page.getByRole('button', { name: /^Record as/ }).waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
  await close()
  // What has passed is sealed here, as the regular job does elsewhere.
  await pass(service, 1)
  expect(await findBreaches(service)).toEqual([])
})
