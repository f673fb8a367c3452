import { expect, test } from 'vitest'
import type { Json } from '../../harness/client.ts'
import { authorizeAgent } from '../../harness/oauth.ts'
import { createKey, signIn } from '../../harness/people.ts'
import { shareVisit, visitAs } from '../visit.ts'
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
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('link', { name: 'Requests' }).click()
    await page.getByText('/v1/accounts/me/api-keys').click()
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

  test('connected agents are listed, and all of them are revoked at once', async () => {
    const { page, person } = await shared.at('/developers/agents')
    const agents = [await authorizeAgent(world.service.api, person), await authorizeAgent(world.service.api, person)]
    await page.getByRole('button', { name: 'Revoke all' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('2 agents revoked').waitFor()
    await page.getByText('No connected agents').waitFor()
    for (const agent of agents) expect((await agent.api.get('/v1/accounts/me')).status).toBe(401)
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
    expect(new URL(page.url()).pathname).toBe(`/developers/keys/${home.agent.grantId}`)
    await page.getByText('2 payments').waitFor()
    await page.getByText('Airtime').waitFor()
    expect(await page.getByText('Electricity').count()).toBe(0)
    await page.getByText('Show as a table').click()
    await page.getByRole('row', { name: /KES\s450.00/ }).waitFor()
    // All of them: the list of payments, filtered by the agent; then by who requested them, and by day.
    await page.getByRole('link', { name: 'View all' }).click()
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
