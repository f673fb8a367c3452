import { expect, test } from 'vitest'
import { reconcileStatement } from '../../../src/modules/exceptions/reconciliation/service.ts'
import { shellOperator } from '../../../src/modules/operators.ts'
import { credit, newBeneficiary } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { findBreaches } from '../../harness/verify.ts'
import { pass, pay, paymentOf } from '../../rails-flows/scene.ts'
import { takeScreenshots } from '../screenshots.ts'
import { countSteps, desk, phone, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const statementOutcomeFlows = (world: World): void => {
  test('unknown payments end from their page: by a statement that is compared there, in five presses, and by hand only with evidence', async () => {
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
    /** Another payment by the same rail that succeeds, with its line in a statement. */
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
      reconcileStatement(service.deps, shellOperator('a test'), { source: 'whole.csv', text: whole })
    await reconcile(text)
    await reconcile(`Short Code:,174379\n${text}`)
    // Sent after all of the statement's lines, which prove nothing about it.
    const late = await lost('400203', '170000')
    await pass(service, 1_000)

    const administrator = await signIn(service.api, world.administrator)
    const { page, complaints, close } = await visitAs(world, administrator)
    const dialog = page.getByRole('dialog')
    const { inspector } = world
    const walk = countSteps()
    // Evidence is complete however many pages it has: here each line is a page.
    const lists = /\/v1\/admin\/(payments|reconciliations|reconciliation-differences)\?/
    await page.route(lists, (route) =>
      route.continue({
        url: route
          .request()
          .url()
          .replace(/limit=\d+/, 'limit=1'),
      }),
    )
    await page.goto('/reconciliation/unknown')
    await page.getByText(/^KES\s1,300 to/).waitFor()
    await expect.poll(() => page.getByText(/^The provider was last asked /).count()).toBe(3)
    // Files without proof about them say why.
    await page
      .getByText(/about 2 payments of unknown outcome: it does not name the account that it is of/)
      .first()
      .waitFor()
    await page
      .getByText(/2 payments left by another account than 174379: import the statement of 600997/)
      .first()
      .waitFor()

    await walk.press(page.getByRole('button', { name: 'Compare a statement' }))
    const file = { name: 'march.csv', mimeType: 'text/csv', buffer: Buffer.from(`Short Code:,600997\n${text}`) }
    await dialog.getByLabel('Statement', { exact: true }).setInputFiles(file)
    await walk.press(dialog.getByRole('button', { name: 'Compare' }))
    await dialog.getByText('It lists 1 of 3 unknown payments').waitFor()
    const settled = async () =>
      (await dialog.locator('li').allTextContents()).map((line) => line.replaceAll('\u00a0', ' ').replace(/Supplier \d+/, 'X'))
    await expect
      .poll(settled)
      .toEqual([
        expect.stringMatching(/^KES 1,700 to XNot named in it\. It says nothing about one payment of unknown outcome: /),
        expect.stringMatching(/^KES 1,500 to XNot listed in it\. The statement is of the account that pays this/),
        expect.stringMatching(/^KES 1,300 to XListed in it\. The statement lists one payment of this amount/),
      ])
    expect(await inspector.inBothThemes(page, 'dialog')).toEqual([])
    await takeScreenshots(page, 'statement-settles')
    await walk.press(dialog.getByRole('button', { name: 'Close' }).last())
    await takeScreenshots(page, 'unknown-payments')
    expect(await inspector.inBothThemes(page)).toEqual([])
    await page.setViewportSize(phone)
    await expect
      .poll(() => page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'))
      .toBe(false)
    await page.setViewportSize(desk)
    await walk.press(page.getByRole('button', { name: /^Paid: KES\s1,300/ }))
    expect(await inspector.inBothThemes(page, 'dialog')).toEqual([])
    await walk.press(dialog.getByRole('button', { name: 'Record as succeeded' }))
    await page.getByText('Payment recorded as succeeded').waitFor()
    expect(walk.steps).toBe(5)
    expect(await paymentOf(payer, listed)).toMatchObject({ status: 'succeeded', provider_receipt: 'ALONE00001' })
    await expect.poll(async () => (await paymentOf(payer, missing)).status).toBe('unknown')

    await page.unroute(lists)
    // An uploader may have written the file. A reconciliation on the server offers how a payment ended.
    await reconcile(`Short Code:,600997\n${text}`)
    await page.goto('/reconciliation')
    await page.getByRole('button', { name: /^Record as failed: The statement is of the account that pays this/ }).waitFor()
    await page.getByRole('link', { name: 'Unknown payments' }).click()
    await page.getByRole('button', { name: /^Not paid: KES\s1,500/ }).click()
    await dialog.getByText('its money returns to the account that paid').waitFor()
    await dialog.getByRole('button', { name: 'Record as failed' }).click()
    await page.getByText('Payment recorded as failed').waitFor()
    await expect.poll(async () => (await paymentOf(payer, missing)).status).toBe('failed')
    await page.getByText(/^KES\s1,500 to/).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Not paid: KES\s1,700/ }).click()
    await expect.poll(() => dialog.getByRole('button', { name: 'Record as failed' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Evidence').fill('The portal does not know the order; ticket 4711')
    await takeScreenshots(page, 'unknown-by-hand')
    expect(await inspector.inBothThemes(page, 'dialog')).toEqual([])
    await dialog.getByRole('button', { name: 'Record as failed' }).click()
    await dialog.getByText(/may still answer: decide from/).waitFor()
    await pass(service, 1_200)
    await dialog.getByRole('button', { name: 'Record as failed' }).click()
    // The sign-in's proof has become old meanwhile.
    const again = page.getByRole('dialog', { name: 'Confirm your identity' })
    await again.getByRole('button', { name: /Test Wallet/ }).click()
    await page.getByText('Every payment has a known outcome').waitFor()
    await expect.poll(async () => (await paymentOf(payer, late)).status).toBe('failed')
    const [act] = await service.deps.db.query<{ after: { evidence: string } }>(
      "select after from audit_log where action = 'admin.payment_resolve' order by id desc limit 1",
    )
    expect(act?.after.evidence).toContain('ticket 4711')
    expect(complaints).toEqual([])
    await close()

    const other = await visitAs(world, payer)
    await other.page.goto('/reconciliation/unknown')
    await other.page.getByText('Only administrators can see this').waitFor()
    await expect.poll(() => other.page.getByRole('button', { name: /paid/i }).count()).toBe(0)
    await other.close()
    // Seals the past here, as the regular job does elsewhere.
    await pass(service, 1)
    expect(await findBreaches(service)).toEqual([])
  })
}
