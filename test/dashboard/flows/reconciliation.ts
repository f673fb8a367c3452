import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { declareLoss, resumeAfterLoss } from '../../../src/modules/exceptions/losses-service.ts'
import { reconcileStatement } from '../../../src/modules/exceptions/reconciliation/service.ts'
import { shellOperator } from '../../../src/modules/operators.ts'
import { credit } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { newPerson } from '../../identity/sign-in/providers.ts'
import { deliver, lastOrder, pay, paymentOf, transferCallback } from '../../rails-flows/scene.ts'
import { desk, follow, phone, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const statement = `Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,A/C No.
QXX0000001,2026-01-05 10:00:00,Business Payment,Completed,,-250.00,
QXX0000002,2026-01-05 11:00:00,Business Payment,Completed,,-300.00,
QXX0000003,2026-01-05 12:00:00,Business Payment,Completed,,-400.00,
`

export const reconciliationFlows = (world: World): void => {
  test('only an administrator finds what a statement lists and the books do not, each once, and resolves one or several with one reason', async () => {
    const { deps } = world.service
    await reconcileStatement(deps, shellOperator('a test'), { source: 'a test', text: statement })
    const admin = await visitAs(world, await signIn(world.service.api, world.administrator))
    const { page } = admin
    await page.goto('/')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    // In a browser new to this administrator: how many, how much, and since when.
    const waiting = page.getByRole('region', { name: 'Needs a decision' })
    await waiting.getByText('3 items in suspense').waitFor()
    await waiting.getByText(/^KES\s950, the oldest /).waitFor()
    expect(await page.locator('main .card').first().getAttribute('aria-label')).toBe('Needs a decision')
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'Reconciliation' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Reconciliation' }).click()
    const items = page.getByRole('button', { name: /^Resolve: The statement lists it, and the books do not/ })
    await items.nth(2).waitFor()
    // The same line's difference is part of the item, not an item of its own.
    await expect.poll(() => page.getByRole('button', { name: /^Resolve:/ }).count()).toBe(3)
    await page.getByText('No statement differs from the books').waitFor()
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    await page.setViewportSize(phone)
    await expect
      .poll(() => page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'))
      .toBe(false)
    await page.setViewportSize(desk)
    await items.last().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('What was found').fill('a payment made in the portal')
    // The sign-in's proof has become old: the page asks for another one, and then carries out the request.
    await deps.db.query(`update sessions set proven_at = proven_at - interval '11 minutes'`)
    await dialog.getByRole('button', { name: 'Resolve' }).click()
    await page
      .getByRole('dialog', { name: 'Confirm your identity' })
      .getByRole('button', { name: /Test Wallet/ })
      .click()
    await page.getByText('Resolved', { exact: true }).waitFor()
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Resolve 2' }).click()
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    await dialog.getByLabel('What was found').fill('both made in the portal')
    await dialog.getByRole('button', { name: 'Resolve 2' }).click()
    await page.getByText('2 items resolved').waitFor()
    await page.getByText('Nothing is in suspense').waitFor()
    await page.getByText('No statement differs from the books').waitFor()
    await page.getByText('M-PESA, a test').waitFor()
    await page.getByText('0 of 3 matched, 3 differences, books KES\u00a00.00, provider KES\u00a0\u2212950.00').waitFor()
    await page.getByText('Left at the providers').waitFor()
    await page.getByText('Nothing needs a decision').waitFor()
    const unknown = '**/v1/admin/payments?status=unknown*'
    await page.route(unknown, (route) =>
      route.fulfill({ status: 403, json: { error: 'permission_denied', message: 'Not now.' } }),
    )
    await page.reload()
    await page.getByRole('alert').getByText('Not now').first().waitFor()
    expect(await page.getByText('Nothing needs a decision').count()).toBe(0)
    await page.unroute(unknown)
    await page.getByRole('button', { name: 'Try again' }).first().click()
    await page.getByText('Nothing needs a decision').waitFor()
    await page.getByLabel('Receipt').fill('QXX0000001')
    await page.getByText('No payment has this receipt.').waitFor()
    const notes = ['a payment made in the portal', 'both made in the portal', 'both made in the portal']
    for (const table of ['suspense_items', 'reconciliation_differences']) {
      const resolved = await deps.db.query<{ note: string }>(`select note from ${table} where resolved_at is not null`)
      expect(resolved.map(({ note }) => note).sort()).toEqual(notes)
    }
    const acts = await deps.db.query(
      "select 1 from audit_log where action in ('admin.resolve_suspense', 'admin.resolve_difference')",
    )
    expect(acts).toHaveLength(6)
    expect(admin.complaints).toEqual([])
    await admin.close()

    const other = await visitAs(world, await signIn(world.service.api))
    await other.page.goto('/reconciliation')
    await other.page.getByText('Only administrators can see this').waitFor()
    await expect.poll(() => other.page.getByRole('link', { name: 'Reconciliation' }).count()).toBe(0)
    await expect.poll(() => other.page.getByRole('button', { name: /^Resolve/ }).count()).toBe(0)
    await other.close()
  })

  test('of several items all are resolved or none: the one that is refused is named, left out, and the others go through in one request each', async () => {
    const { deps } = world.service
    const again = statement.replaceAll('QXX', 'QYY')
    await reconcileStatement(deps, shellOperator('a test'), { source: 'another test', text: again })
    const { page, close } = await visitAs(world, await signIn(world.service.api, world.administrator))
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().includes('/resolve')) sent.push(new URL(request.url()).pathname)
    })
    await page.goto('/reconciliation')
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Resolve 3' }).click()
    // Meanwhile another administrator has resolved one of them.
    await deps.db.query(
      "update suspense_items set resolved_at = now(), resolved_by = 'another', outcome = 'explained', note = 'seen' where provider_receipt = 'QYY0000002'",
    )
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('What was found').fill('made in the portal')
    await dialog.getByRole('button', { name: 'Resolve 3' }).click()
    await dialog.getByText('No item was resolved').waitFor()
    await dialog.getByText(/QYY0000002: This item is already resolved\.$/).waitFor()
    const openOf = (table: string) => deps.db.query(`select 1 from ${table} where resolved_at is null`)
    expect([(await openOf('suspense_items')).length, (await openOf('reconciliation_differences')).length]).toEqual([2, 3])
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    await dialog.getByRole('button', { name: 'Leave it out' }).click()
    await expect.poll(() => dialog.getByLabel('What was found').inputValue()).toBe('made in the portal')
    await dialog.getByRole('button', { name: 'Resolve 2' }).click()
    await page.getByText('2 items resolved').waitFor()
    expect(sent).toEqual([
      '/v1/admin/suspense/resolve',
      '/v1/admin/suspense/resolve',
      '/v1/admin/reconciliation-differences/resolve',
    ])
    // The excluded line's difference is now an item of its own.
    expect([(await openOf('suspense_items')).length, (await openOf('reconciliation_differences')).length]).toEqual([0, 1])
    // The page has reread the list once one is left.
    const single = page.getByRole('button', { name: /^Resolve: / })
    await expect.poll(() => single.count()).toBe(1)
    await single.click()
    await dialog.getByLabel('What was found').fill('as the suspense')
    await dialog.getByRole('button', { name: 'Resolve' }).click()
    await page.getByText('Resolved', { exact: true }).waitFor()
    await expect.poll(() => openOf('reconciliation_differences')).toEqual([])
    await close()
  })

  test('the difference of money that waits for a second administrator stays open with it', async () => {
    const { deps } = world.service
    const { ADJUSTMENT_CONFIRM_MINOR: limit } = deps.config
    const text = `${statement.split('\n')[0]}\nQTT0000001,2026-01-05 10:00:00,Business Payment,Completed,,-${limit / 100n + 1n}.00,\n`
    await reconcileStatement(deps, shellOperator('a test'), { source: 'a large one', text })
    const { page, complaints, close } = await visitAs(world, await signIn(world.service.api, world.administrator))
    await page.goto('/reconciliation')
    await page.getByRole('button', { name: /^Resolve: .*QTT0000001$/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('What was found').fill('made in the portal')
    await dialog.getByRole('button', { name: 'Resolve' }).click()
    await page.getByText('1 item is waiting for a second administrator').waitFor()
    const waiting = "select 1 from reconciliation_differences where receipt = 'QTT0000001' and resolved_at is null"
    expect(await deps.db.query(waiting)).toHaveLength(1)
    for (const change of [
      "update suspense_items set outcome = 'explained', resolved_at = now(), resolved_by = 'another', note = 'seen' where provider_receipt = 'QTT0000001'",
      "update reconciliation_differences set resolved_at = now(), resolved_by = 'another', note = 'seen' where receipt = 'QTT0000001'",
    ])
      await deps.db.query(change)
    expect(complaints).toEqual([])
    await close()
  })

  test('an administrator who signs in with Google confirms in a window of its own: the page keeps what was typed and goes on', async () => {
    const { deps } = world.service
    const person = await signIn(world.service.api, world.administrator)
    const email = newPerson().email
    const linked = await person.api.post('/v1/accounts/me/identities', { provider: 'google', return_to: '/account' })
    const { page, context, complaints, close } = await visitAs(world, person)
    const beSomeone = async (at: Page) => {
      await at.getByLabel('Another email').fill(email)
      await at.getByRole('button', { name: 'Sign in as this person' }).click()
    }
    await page.goto(linked.body.authorization_url)
    await page.getByRole('link', { name: 'Continue with Google' }).click()
    await beSomeone(page)
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    await follow(page, '/reconciliation')
    await page.getByRole('button', { name: 'Compare a statement' }).click()
    const dialog = page.getByRole('dialog', { name: 'Compare a statement' })
    const file = { name: 'april.csv', mimeType: 'text/csv', buffer: Buffer.from(statement.replaceAll('QXX', 'QWW')) }
    await dialog.getByLabel('Statement', { exact: true }).setInputFiles(file)
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    // Google was linked before this session began: a method linked in a session does not prove it.
    await deps.db.query(
      `update identities set created_at = created_at - interval '1 day', origin_session_id = null where provider = 'google'`,
    )
    await deps.db.query(`update sessions set proven_at = proven_at - interval '11 minutes'`)
    await dialog.getByRole('button', { name: 'Compare' }).click()
    const asked = page.getByRole('dialog', { name: 'Confirm your identity' })
    await asked.waitFor()
    expect(await world.inspector.inBothThemes(page, 'dialog:last-of-type')).toEqual([])
    const [opened] = await Promise.all([
      context.waitForEvent('page'),
      asked.getByRole('button', { name: /Confirm with .*Google/ }).click(),
    ])
    await asked.getByText('Continue in the window that has opened').waitFor()
    await opened.getByRole('link', { name: 'Continue with Google' }).click()
    await beSomeone(opened)
    await asked.waitFor({ state: 'detached' })
    await dialog.getByText('0 of 3 matched').waitFor()
    expect(new URL(page.url()).pathname).toBe('/reconciliation')
    expect(complaints).toEqual([])
    await close()
  })

  test('a statement is compared by upload, and what differs is listed', async () => {
    const { page, complaints, close } = await visitAs(world, await signIn(world.service.api, world.administrator))
    await page.goto('/reconciliation')
    await page.getByRole('button', { name: 'Compare a statement' }).click()
    const dialog = page.getByRole('dialog')
    const choose = (name: string, text: string) =>
      dialog
        .getByLabel('Statement', { exact: true })
        .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(`\ufeff${text}`, 'utf16le') })
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    const workbook = { name: 'march.xlsx', mimeType: 'application/octet-stream', buffer: Buffer.from('504b030414000600', 'hex') }
    await dialog.getByLabel('Statement', { exact: true }).setInputFiles(workbook)
    await dialog.getByText(/This file is a workbook .*save it as "CSV UTF-8"/).waitFor()
    await choose('people.csv', 'name,phone\nJane,0722000000\n')
    await dialog.getByRole('button', { name: 'Compare' }).click()
    await dialog.getByRole('alert').first().waitFor()
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    await choose('march.csv', statement.replaceAll('QXX', 'QZZ'))
    await dialog.getByRole('button', { name: 'Compare' }).click()
    await dialog.getByText('0 of 3 matched').waitFor()
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByText('QZZ0000003').waitFor()
    await page.getByText('M-PESA, march.csv').waitFor()
    expect(await world.service.deps.db.query("select 1 from suspense_items where provider_receipt like 'QZZ%'")).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  test('sums of the books that could not be read again are not shown: only why, until they are read', async () => {
    const { deps } = world.service
    const text = statement.replaceAll('QXX', 'QVV')
    await reconcileStatement(deps, shellOperator('a test'), { source: 'a third test', text })
    const { page, complaints, close } = await visitAs(world, await signIn(world.service.api, world.administrator))
    await page.goto('/reconciliation')
    const sum = page.getByText('Left at the providers')
    await sum.waitFor()
    const sums = '**/v1/admin/ledger/trial-balance'
    await page.route(sums, (route) => route.fulfill({ status: 403, json: { error: 'permission_denied', message: 'Not now.' } }))
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: /^Resolve \d+$/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('What was found').fill('all made in the portal')
    await dialog.getByRole('button', { name: /^Resolve \d+$/ }).click()
    await page.getByText(/items resolved$/).waitFor()
    await page.getByRole('alert').getByText('Not now').waitFor()
    await expect.poll(() => sum.count()).toBe(0)
    await page.unroute(sums)
    await page.getByRole('button', { name: 'Try again' }).click()
    await sum.waitFor()
    await expect.poll(() => page.getByRole('alert').count()).toBe(0)
    expect(complaints).toEqual([])
    await close()
  })

  test('a deposit in suspense is named with its amount and receipt where it is resolved, and can be given to its account', async () => {
    const { deps } = world.service
    const text = `${statement.split('\n')[0]}\nQUU0000001,2026-01-05 10:00:00,Pay Bill,Completed,123.45,,RENT\n`
    await reconcileStatement(deps, shellOperator('a test'), { source: 'a fourth test', text })
    const payer = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, await signIn(world.service.api, world.administrator))
    await page.goto('/reconciliation')
    await page.getByRole('button', { name: /^Resolve: .*QUU0000001$/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/paid in, KES\u00a0123\.45, QUU0000001/).waitFor()
    await dialog.getByLabel('What happened to the money').selectOption('Assigned: it belongs to an account')
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    await dialog.getByLabel('What was found').fill('the payer called')
    await dialog.getByLabel('Account, workspace or top-up ID').fill('not an account')
    await dialog.getByRole('button', { name: 'Resolve', exact: true }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Account, workspace or top-up ID').fill(payer.accountId)
    await dialog.getByRole('button', { name: 'Resolve', exact: true }).click()
    await page.getByText('Resolved', { exact: true }).waitFor()
    expect((await payer.api.get('/v1/accounts/me')).body.balance).toMatchObject({ available_minor: '12345' })
    expect(complaints).toEqual([])
    await close()
  })

  test('an amount that the provider wrote unreadably is entered by an administrator, and all of it returns the payment; a movement that was named stays listed', async () => {
    const { service } = world
    const payer = await signIn(service.api)
    await credit(service, payer.accountId, 1_000_000n)
    const id = await pay(payer, { payment_rail: 'PESALINK', destination: '99994999', bank_code: '01' })
    await service.settle()
    const order = lastOrder(service)
    const reversed = transferCallback(order, { state: 'reversed' })
    for (const body of [transferCallback(order), { ...reversed, data: { ...reversed.data, amount: 'all of it' } }]) {
      await deliver(order.resultUrl, body)
      await service.settle()
    }
    const { page, complaints, close } = await visitAs(world, await signIn(service.api, world.administrator))
    await page.goto('/reconciliation')
    await page.getByText(`PesaLink, paid in, amount not known, ${order.receipt}`).waitFor()
    await page.getByText('The provider later said “reversed”').waitFor()
    await page.getByRole('button', { name: /^Enter the amount: Money came back/ }).click()
    const dialog = page.getByRole('dialog')
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    await dialog.getByLabel('Amount').fill('1500')
    await dialog.getByLabel('What was found').fill('the bank called')
    await dialog.getByRole('button', { name: 'Enter the amount' }).click()
    await page.getByText('Entered: the payment is returned').waitFor()
    expect((await paymentOf(payer, id)).status).toBe('returned')
    await page.getByText(`PesaLink, paid in, amount not known, ${order.receipt}`).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Record a movement' }).click()
    await dialog.getByLabel('Amount').fill('500')
    await dialog.getByLabel('Note').fill('the sweep of Monday')
    await dialog.getByRole('button', { name: 'Record movement' }).click()
    await page.getByText('Recorded. The next comparison expects it.').waitFor()
    await page.getByText(/^M-PESA, the sweep of Monday, .*the next comparison expects it$/).waitFor()
    await page.getByText('A transfer to our bank, KES\u00a0500.00').waitFor()
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  test('an administrator reads on the overview which payment methods a process on a copy of the database holds, and what ends it; nobody else does', async () => {
    const { service } = world
    const { db, lossDetection } = service.deps
    await declareLoss(service.deps, 'unknown_sender', service.clock.now())
    await lossDetection.check()
    const held = 'Paused payment methods'
    const admin = await visitAs(world, await signIn(service.api, world.administrator))
    await admin.page.goto('/')
    await admin.page
      .getByRole('region', { name: held })
      .getByText(/may be a copy of the database; .*after-restore/)
      .waitFor()
    expect(admin.complaints).toEqual([])
    await admin.close()
    const other = await visitAs(world, await signIn(service.api))
    await other.page.goto('/')
    await other.page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await other.page.getByRole('region', { name: held }).count()).toBe(0)
    await other.close()
    await resumeAfterLoss(db, shellOperator('a test'), [], 'a test')
    await lossDetection.check()
  })
}
