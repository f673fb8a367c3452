import { expect, test } from 'vitest'
import type { Json } from '../../harness/client.ts'
import { fund, newBeneficiary } from '../../harness/money.ts'
import { authorizeAgent } from '../../harness/oauth.ts'
import { createKey, signIn } from '../../harness/people.ts'
import { follow, shareVisit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const developerFlows = (world: World): void => {
  const shared = shareVisit(world)

  test('a key is shown once, works within its limits, and its request is shown as a curl command', async () => {
    const { page, person, complaints } = await shared.at('/developers')
    await page.getByRole('link', { name: 'New API key' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('Night job')
    await page.getByLabel('Daily limit').fill('2500')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    const key = (await dialog.locator('[data-secret]').textContent()) ?? ''
    expect(key).toMatch(/^service_live_[0-9a-f]{64}$/)
    const account = await world.service.api.as({ bearer: key }).get('/v1/accounts/me')
    expect(account.body.id).toBe(person.accountId)
    await dialog.getByRole('button', { name: 'I’ve saved it' }).click()
    await page.getByRole('heading', { name: 'Night job' }).waitFor()
    await page
      .getByText(/of KES\s2,500.00/)
      .first()
      .waitFor()
    expect(await page.content()).not.toContain(key)
    await page.getByRole('link', { name: 'Developers', exact: true }).click()
    await page.getByRole('link', { name: 'Requests' }).click()
    await page.getByRole('button', { name: /api-keys/ }).click()
    const curl = (await page.getByRole('dialog').getByLabel('curl command').textContent()) ?? ''
    expect(curl).toContain(`curl -X POST ${world.service.api.url}/v1/accounts/me/api-keys`)
    expect(curl).toContain('"daily_limit_minor": "250000"')
    expect(curl).not.toContain(key)
    expect(complaints).toEqual([])
  })

  test('a new key has limits by default, and none only if that is chosen', async () => {
    const { page, person } = await shared.at('/developers/keys/new')
    const keys = async (): Promise<Json[]> => (await person.api.get('/v1/accounts/me/api-keys')).body.data
    const before = await keys()
    await page.getByLabel('Name', { exact: true }).fill('Till')
    await page.getByLabel('Per-payment limit').fill('')
    await page.getByLabel('Daily limit').fill('')
    await page.getByText('Enter at least one limit, or choose “No limit”.').waitFor()
    await page.getByRole('button', { name: 'Create key' }).click({ force: true })
    expect(await keys()).toEqual(before)
    await page.getByRole('radio', { name: /No limit/ }).check()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'I’ve saved it' }).click()
    const made = (await keys()).find(({ name }) => name === 'Till')
    const grants: Json[] = (await person.api.get('/v1/accounts/me/grants')).body.data
    const grant = grants.find(({ id }) => id === made?.grant.id)
    expect(grant?.spending_controls).toEqual({})
  })

  test('a key is rotated with an overlap, limited, frozen, and revoked', async () => {
    const { page, person } = await shared.at('/developers')
    const old = await createKey(person, { name: 'Batch' })
    await page.getByRole('link', { name: /Batch/ }).click()
    await page.getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    const fresh = (await page.getByRole('dialog').locator('[data-secret]').textContent()) ?? ''
    await page.getByRole('dialog').getByRole('button', { name: 'I’ve saved it' }).click()
    expect((await old.api.get('/v1/accounts/me')).status).toBe(200)
    await page.getByText('Old key').waitFor()
    await page.getByRole('button', { name: 'Edit limits' }).click()
    await page.getByRole('dialog').getByLabel('Monthly limit').fill('9000')
    await page.getByRole('dialog').getByRole('button', { name: 'Save limits' }).click()
    await page.getByText(/of KES\s9,000.00/).waitFor()
    await page.getByRole('button', { name: 'Freeze' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Freeze' }).click()
    await page.getByText('Batch frozen').waitFor()
    const [grant] = (await person.api.get('/v1/accounts/me/grants')).body.data
    expect(grant).toMatchObject({ frozen: true, spending_controls: { monthly_limit_minor: '900000' } })
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Batch revoked').waitFor()
    expect((await world.service.api.as({ bearer: fresh }).get('/v1/accounts/me')).body.error).toBe('api_key_revoked')
  })

  test('an agent that connects is announced, and everything by agents is stopped in one act', async () => {
    const person = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/agents')
    await page.getByText('Waiting for it to connect…').waitFor()
    expect(await page.getByLabel('Address for Claude').textContent()).toBe(`${world.service.api.url}/mcp`)
    await authorizeAgent(world.service.api, person)
    await createKey(person, { name: 'Batch' })
    await page.getByText(/ is connected$/).waitFor()
    await page.getByRole('link', { name: 'Batch' }).waitFor()
    await page.getByRole('button', { name: 'Stop everything by agents' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop all' }).click()
    await page.getByText('2 agents frozen').waitFor()
    const grants: Json[] = (await person.api.get('/v1/accounts/me/grants')).body.data
    expect(grants.map(({ frozen }) => frozen)).toEqual([true, true])
    expect(complaints).toEqual([])
    await close()
  })

  test('from a refused payment the limit is raised in three steps, and from any payment its agent is stopped in two', async () => {
    const person = await signIn(world.service.api)
    await fund(world.service, person, 2_000_000n)
    const payee = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
    const bot = await createKey(person, { name: 'Invoice bot', spending_controls: { per_payment_limit_minor: '500000' } })
    const pay = (amount_minor: string) => bot.api.post('/v1/payments', { beneficiary_id: payee, amount_minor })
    expect((await pay('900000')).status).toBe(403)
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/')
    await page.getByText(/KES\s9,000 to Baraka Stores was refused for Invoice bot/).waitFor()
    await page.getByRole('link', { name: 'See why' }).click()
    await page.getByText(/per-payment limit of key or agent "Invoice bot" is KES\s5,000.00/).waitFor()
    await page.getByRole('link', { name: /Raise limit to KES\s9,000/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save limits' }).click()
    await page.getByText('Limits saved').waitFor()
    const { body } = await pay('900000')
    expect(body.status).toBe('processing')
    await follow(page, `/payments/${body.id}`)
    await page.getByRole('button', { name: 'Freeze Invoice bot' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Freeze' }).click()
    await page.getByText('Invoice bot frozen').waitFor()
    expect((await pay('100')).body.error).toBe('grant_frozen')
    expect(complaints).toEqual([])
    await close()
  })

  test('events appear in the log as they happen', async () => {
    const person = await signIn(world.service.api)
    const { page, close } = await visitAs(world, person)
    await page.goto('/developers/events')
    await page.getByText('Live', { exact: true }).waitFor()
    await createKey(person, { name: 'Just now' })
    await page.getByText('api_key.created').click()
    await page.getByRole('dialog').getByText('Just now').waitFor()
    await close()
  })

  test('an agent’s page shows its limits, its own payments and what it spent by day', async () => {
    world.service.clock.set(new Date())
    const home = await world.household()
    const { page, complaints, close } = await visitAs(world, home.person)
    await page.goto('/developers')
    await page.getByRole('link', { name: /Procurement agent/ }).click()
    await page.getByRole('heading', { name: 'Procurement agent' }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/agents/${home.agent.grantId}`)
    await page.getByText('2 payments').waitFor()
    await page.getByText('Airtime').waitFor()
    expect(await page.getByText('Electricity').count()).toBe(0)
    await page.getByText('Show as a table').click()
    await page.getByRole('row', { name: /KES\s450.00/ }).waitFor()
    // All of them: the list of payments, filtered by the agent; then by who requested them, and by day.
    await page.getByRole('link', { name: 'View all' }).last().click()
    const totals = page.getByLabel('Totals')
    await totals.getByText('2 payments').waitFor()
    await page
      .getByLabel('Agent or key')
      .locator('option:checked', { hasText: /^Procurement agent$/ })
      .waitFor({ state: 'attached' })
    await page.getByLabel('Agent or key').selectOption('Any')
    await totals.getByText('4 payments').waitFor()
    await page.getByLabel('Requested by').selectOption('Wanjiku Kamau')
    await totals.getByText('4 payments').waitFor()
    await page.getByLabel('From', { exact: true }).fill('2099-01-01')
    await page.getByText('No payments match').waitFor()
    expect(complaints).toEqual([])
    await close()
  })
}
