import type { Route } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Json } from '../../harness/client.ts'
import { credit, fund, newBeneficiary } from '../../harness/money.ts'
import { authorizeAgent, authorizePath, newPkce, obtainCode, postForm } from '../../harness/oauth.ts'
import { createKey, signIn } from '../../harness/people.ts'
import { takeScreenshots } from '../screenshots.ts'
import { createTeam } from '../team.ts'
import { follow, pagesOfOne, shareVisit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const developerFlows = (world: World): void => {
  const shared = shareVisit(world)
  /** A visit of a person whose events and requests the tests inspect. */
  const logs = shareVisit(world)

  test('a key is shown once, until the person says that it is saved, and works within its limits', async () => {
    const { page, person, complaints } = await shared.at('/developers')
    await page.getByRole('link', { name: 'New API key' }).first().click()
    // The page names the requirements of the README's key before anything is filled in.
    await page.getByText('set “New beneficiaries” to “Pay without asking”').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Night job')
    await page.getByLabel('Daily limit').fill('2500')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    const key = (await dialog.locator('[data-secret]').textContent()) ?? ''
    expect(key).toMatch(/^service_live_[0-9a-f]{64}$/)
    const account = await world.service.api.as({ bearer: key }).get('/v1/accounts/me')
    expect(account.body.id).toBe(person.accountId)
    for (const _ of [1, 2]) await page.keyboard.press('Escape')
    await page.mouse.click(2, 2)
    expect(await dialog.getByText(key).isVisible()).toBe(true)
    await dialog.getByRole('button', { name: 'I’ve saved it' }).click()
    await page.getByRole('heading', { name: 'Night job' }).waitFor()
    await page
      .getByText(/of KES\s2,500.00/)
      .first()
      .waitFor()
    await expect.poll(() => page.content()).not.toContain(key)
    expect(complaints).toEqual([])
  })

  test('a key that the browser does not copy says so, and its text is selected to be copied by hand; a copy is announced beside the button', async () => {
    const person = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/developers/keys/new')
    await page.getByLabel('Name', { exact: true }).fill('Over plain http')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    const key = (await dialog.locator('[data-secret]').textContent()) ?? ''
    const copy = dialog.locator('.secret button')
    await copy.click()
    await dialog.getByRole('status').getByText('Copied', { exact: true }).waitFor()
    expect(await dialog.locator('button [role="status"]').count()).toBe(0)
    // A page over plain http has no clipboard.
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
    await copy.click()
    await dialog.getByRole('alert').getByText('Copy the selected text yourself').waitFor()
    expect(await page.evaluate('getSelection().toString()')).toBe(key)
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    expect(complaints).toEqual([])
    await takeScreenshots(page, 'copy-by-hand')
    await close()
  })

  test('a new key has limits by default, and none only if that is chosen', async () => {
    const { page, person } = await shared.at('/developers/keys/new')
    const keys = async (): Promise<Json[]> => (await person.api.get('/v1/accounts/me/api-keys')).body.data
    const before = await keys()
    await page.getByLabel('Name', { exact: true }).fill('Till')
    await page.getByLabel('Per-payment limit').fill('')
    await page.getByLabel('Daily limit').fill('')
    await page.getByLabel('Monthly limit').fill('')
    await page.getByLabel('Require approval').fill('')
    await page.getByText('Enter at least one limit, or choose “No limit”.').waitFor()
    await page.getByRole('button', { name: 'Create key' }).click({ force: true })
    await expect.poll(() => keys()).toEqual(before)
    await page.getByRole('radio', { name: /No limit/ }).check()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'I’ve saved it' }).click()
    const made = (await keys()).find(({ name }) => name === 'Till')
    const grants: Json[] = (await person.api.get('/v1/accounts/me/grants')).body.data
    const grant = grants.find(({ id }) => id === made?.grant.id)
    expect(grant?.spending_controls).toEqual({ on_duplicate: 'confirm' })
  })

  test('the limits that are suggested are those of agents, whatever a payroll costs: twice the median day, a month, and a person is asked at the most', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await credit(world.service, person.accountId, 100_000_000n)
    const payee = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
    await person.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '24000000', narrative: 'Salaries' })
    const visited = await visitAs(world, person)
    const suggested = async () => {
      await visited.page.goto('/developers/keys/new')
      const fields = ['Per-payment limit', 'Daily limit', 'Monthly limit', 'Require approval at or above']
      const texts: string[] = []
      for (const label of fields) texts.push(await visited.page.getByLabel(label).inputValue())
      // Leaving a page forgets its fields, loading it again does not.
      await follow(visited.page, '/account')
      await visited.page.getByRole('heading', { name: 'Account' }).waitFor()
      return texts
    }
    await expect.poll(() => suggested()).toEqual(['1,000', '5,000', '50,000', '1,000'])
    const bot = await createKey(person, { name: 'Bot' })
    for (const amount of ['30000', '50000', '70000'])
      expect((await bot.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: amount })).status).toBe(201)
    await expect.poll(() => suggested()).toEqual(['1,500', '3,000', '30,000', '1,500'])
    await bot.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '20000000' })
    await expect.poll(async () => (await suggested())[1]).toBe('20,000')
    await visited.close()
  })

  test('the limits of a new key are suggested from what other agents spend on a day, and never from a payroll', async () => {
    const person = await signIn(world.service.api)
    await credit(world.service, person.accountId, 10_000_000n)
    const beneficiary_id = await newBeneficiary(person.api, { destination: '254722000100' })
    expect((await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '1234500' })).status).toBe(201)
    const agent = await createKey(person)
    expect((await agent.api.post('/v1/payments', { beneficiary_id, amount_minor: '312300' })).status).toBe(201)
    const { page, close } = await visitAs(world, person)
    await page.goto('/developers/keys/new')
    // Twice the day, rounded up to two digits. Three times the usual payment would exceed the day.
    await expect.poll(() => page.getByLabel('Daily limit').inputValue()).toBe('6,300')
    await expect.poll(() => page.getByLabel('Per-payment limit').inputValue()).toBe('6,300')
    await close()
  })

  test('a key whose answer was lost is replaced by one press, and no one can use the lost one; two presses make one key', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/developers/keys/new')
    await page.getByLabel('Name', { exact: true }).fill('Till')
    await page.getByRole('button', { name: 'Create key' }).dblclick()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Copy it now').waitFor()
    const secret = () => dialog.locator('[data-secret]').first().textContent()
    const keys = async (): Promise<Json[]> => (await person.api.get('/v1/accounts/me/api-keys')).body.data
    await expect.poll(() => keys()).toHaveLength(1)
    await dialog.getByRole('button', { name: 'I’ve saved it' }).click()

    await page.goto('/developers/keys/new')
    await page.getByLabel('Name', { exact: true }).fill('Lost')
    let lost = 0
    const lose = async (route: Route) => {
      if (route.request().method() !== 'POST') return route.continue()
      await route.fetch()
      lost += 1
      await route.abort()
    }
    await page.route('**/v1/accounts/me/api-keys', lose, { times: 1 })
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('The service could not be reached').waitFor()
    expect(lost).toBe(1)
    await page.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('The key was created, but the response did not arrive').waitFor()
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    await takeScreenshots(page, 'key-lost')
    await dialog.getByRole('button', { name: 'Revoke it and create another' }).click()
    await dialog.getByText('Copy it now').waitFor()
    const key = (await secret()) ?? ''
    await expect.poll(async () => (await world.service.api.as({ bearer: key }).get('/v1/credentials/current')).status).toBe(200)
    const named = (await keys()).filter(({ name }) => name === 'Lost')
    expect(named.map(({ status }) => status).sort()).toEqual(['active', 'revoked'])
    expect(complaints).toEqual([])
    await close()
  })

  test('a client for a program that needs a fixed id and secret is made with its redirect addresses, and its secret is shown once', async () => {
    const { page, person, complaints } = await shared.at('/developers')
    await page.getByRole('button', { name: 'New OAuth client' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('n8n')
    const redirects = dialog.getByLabel('Redirect addresses')
    await redirects.fill('http://n8n.example.com/callback')
    await dialog.getByRole('button', { name: 'Create client' }).click()
    await dialog.getByText(/must be https, unless/).waitFor()
    // The browser's own line about the refused request.
    complaints.length = 0
    const own = 'https://n8n.example.com/rest/oauth2-credential/callback'
    const other = 'https://n8n.example.com/other'
    await redirects.fill(`${own}\n${other}\n`)
    await dialog.getByLabel('How it sends the secret').selectOption('In the body (client_secret_post)')
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    await takeScreenshots(page, 'oauth-client')
    await dialog.getByRole('button', { name: 'Create client' }).click()
    await dialog.getByText('Copy the ID and the secret now').waitFor()
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    await takeScreenshots(page, 'oauth-client-made')
    const secret = (await dialog.locator('[data-secret]').textContent()) ?? ''
    const [id, authorize, token] = await dialog.locator('.facts .copyable > span:first-child').allTextContents()
    const { url } = world.service.api
    expect([authorize, token]).toEqual([`${url}/v1/oauth/authorize`, `${url}/v1/oauth/token`])
    await dialog.getByRole('button', { name: 'I’ve saved both' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(secret)

    const client = { id: id ?? '' }
    for (const redirect_uri of [own, other]) {
      const { code, pkce } = await obtainCode(person, client, { request: { redirect_uri } })
      const fields = { grant_type: 'authorization_code', code, code_verifier: pkce.verifier, redirect_uri, client_id: client.id }
      const post = (more: Record<string, string>) => postForm(world.service.api, '/v1/oauth/token', { ...fields, ...more })
      expect((await post({})).body.error).toBe('invalid_client')
      const tokens = (await post({ client_secret: secret })).body
      expect((await world.service.api.get('/v1/accounts/me', { bearer: tokens.access_token })).body.id).toBe(person.accountId)
    }
    const elsewhere = authorizePath(client, newPkce(), { redirect_uri: 'https://evil.example.com/callback' })
    expect((await person.api.get(elsewhere)).status).toBe(400)
    expect(complaints).toEqual([])
  })

  test('a key is rotated with an overlap, limited, frozen, and revoked with the old key', async () => {
    const { page, person } = await shared.at('/developers')
    const old = await createKey(person, { name: 'Batch' })
    await page.getByRole('link', { name: /Batch/ }).click()
    await page.getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    const fresh = (await page.getByRole('dialog').locator('[data-secret]').textContent()) ?? ''
    await page.getByRole('dialog').getByRole('button', { name: 'I’ve saved it' }).click()
    await expect.poll(async () => (await old.api.get('/v1/accounts/me')).status).toBe(200)
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
    for (const bearer of [fresh, old.key])
      await expect
        .poll(async () => (await world.service.api.as({ bearer }).get('/v1/accounts/me')).body.error)
        .toBe('api_key_revoked')
  })

  test('the page of a key whose successor was revoked still says that the old key works, and revokes it', async () => {
    const { page, person } = await shared.at('/developers')
    const old = await createKey(person, { name: 'Kiosk' })
    const keys = '/v1/accounts/me/api-keys'
    const [first] = (await person.api.get(keys)).body.data
    const next = (await person.api.post(`${keys}/${first.id}/rotate`, { overlap_seconds: 3600 })).body
    expect((await person.api.delete(`${keys}/${next.id}`)).status).toBe(200)
    await follow(page, `/agents/${old.grantId}`)
    await page.getByText('Old key').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Rotate' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Kiosk revoked').waitFor()
    await expect.poll(async () => (await old.api.get('/v1/accounts/me')).body.error).toBe('api_key_revoked')
  })

  test('all earlier keys that still work are named with their ends, not only the newest of them', async () => {
    const { page, person } = await shared.at('/developers')
    const { grantId } = await createKey(person, { name: 'Twice rotated' })
    const keys = '/v1/accounts/me/api-keys'
    const newest = async (): Promise<Json> =>
      (await person.api.get(keys)).body.data.find(({ grant }: Json) => grant.id === grantId)
    const shownEnds: string[] = []
    for (const _ of [1, 2]) {
      const { id, key_prefix, last_four } = await newest()
      shownEnds.push(`${key_prefix}…${last_four}`)
      expect((await person.api.post(`${keys}/${id}/rotate`, { overlap_seconds: 86_400 })).status).toBe(201)
    }
    await follow(page, `/agents/${grantId}`)
    for (const ends of shownEnds)
      await page
        .getByRole('listitem')
        .filter({ hasText: ends })
        .getByText(/, until /)
        .waitFor()
  })

  test('a link that raises a limit is applied once, and never lowers a limit or adds one', async () => {
    const { page, person } = await shared.at('/developers')
    const controls = { daily_limit_minor: '500000', monthly_limit_minor: '9000000' }
    const { grantId } = await createKey(person, { name: 'Raised', spending_controls: controls })
    await follow(page, `/agents/${grantId}?raise=daily_limit:9000,monthly_limit:10,total_limit:70`)
    const dialog = page.getByRole('dialog')
    const shown = async () => {
      const values: string[] = []
      for (const label of ['Daily limit', 'Monthly limit', 'Total limit'])
        values.push(await dialog.getByLabel(label).inputValue())
      return values
    }
    await expect.poll(shown).toEqual(['9,000', '90,000', ''])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Edit limits' }).click()
    await expect.poll(shown).toEqual(['5,000', '90,000', ''])
    await page.keyboard.press('Escape')
  })

  test('the limits of a key of another workspace are edited there, with the beneficiaries of that workspace', async () => {
    const person = await signIn(world.service.api)
    const { grantId } = await createKey(person, { name: 'At home' })
    await newBeneficiary(person.api, { display_name: 'Home Stores' })
    const team = (await person.api.post('/v1/workspaces', { name: 'Kilimo Traders' })).body
    const { page, close } = await visitAs(world, person)
    await person.api.put('/v1/workspaces/current', { workspace_id: team.workspace.id })
    await page.goto(`/agents/${grantId}`)
    await page.getByText('Another of your workspaces').waitFor()
    await page.getByRole('button', { name: 'Edit limits in its workspace' }).click()
    await page.getByRole('button', { name: 'Edit limits', exact: true }).click()
    await page.getByRole('dialog').locator('option[value="Home Stores"]').waitFor({ state: 'attached' })
    await close()
  })

  test('the page of a key names no secret that no longer works, and finds its key behind all newer ones', async () => {
    const person = await signIn(world.service.api)
    const { grantId } = await createKey(person, { name: 'Kiosk' })
    const keys = '/v1/accounts/me/api-keys'
    const [first] = (await person.api.get(keys)).body.data
    await person.api.post(`${keys}/${first.id}/rotate`, { overlap_seconds: 0 })
    const { page, close } = await visitAs(world, person)
    await page.goto(`/agents/${grantId}`)
    await page.getByRole('button', { name: 'Rotate' }).waitFor()
    await expect.poll(() => page.getByText('Old key').count()).toBe(0)
    await createKey(person, { name: 'Newer' })
    await pagesOfOne(page, keys)
    await page.reload()
    await page.getByRole('button', { name: 'Rotate' }).waitFor()
    await close()
  })

  test('after a lost answer the dialog still asks what it asked: a second press freezes what the first one froze, and does not unfreeze it', async () => {
    const { page, person, complaints } = await shared.at('/agents')
    const { grantId } = await createKey(person, { name: 'Night bot' })
    await follow(page, `/agents/${grantId}`)
    const path = `**/v1/accounts/me/grants/${grantId}`
    await page.route(path, async (route) => {
      if (route.request().method() !== 'PATCH') return route.fallback()
      await route.fetch()
      return route.abort()
    })
    await page.getByRole('button', { name: 'Freeze' }).click()
    const dialog = page.getByRole('dialog', { name: 'Freeze Night bot?' })
    await dialog.getByRole('button', { name: 'Freeze' }).click()
    await dialog.getByRole('alert').waitFor()
    // The page already knows of the freeze.
    await page.locator('main button').filter({ hasText: 'Unfreeze' }).waitFor({ state: 'attached' })
    await page.unroute(path)
    await dialog.getByRole('button', { name: 'Freeze' }).click()
    await page.getByText('Night bot frozen').waitFor()
    expect((await person.api.get(`/v1/accounts/me/grants/${grantId}`)).body).toMatchObject({ id: grantId, frozen: true })
    expect(complaints).toEqual([])
  })

  test('each kind of agent has one line to copy that leads to this service', async () => {
    const { page } = await shared.at('/agents')
    const { url } = world.service.api
    const lines: readonly [kind: string, label: string, line: string][] = [
      ['Claude', 'Address for Claude', `${url}/mcp`],
      ['ChatGPT', 'Address for ChatGPT', `${url}/mcp`],
      ['Cursor', 'Settings for Cursor', JSON.stringify({ mcpServers: { payments: { url: `${url}/mcp` } } })],
      ['CLI', 'Command for a terminal', `npx --package=${url}/client.tgz payments login --url ${url}`],
      ['Code', 'First request from code', `curl ${url}/v1/credentials/current -H "Authorization: Bearer $PAYMENTS_API_KEY"`],
    ]
    for (const [kind, label, line] of lines) {
      await page.getByRole('button', { name: kind, exact: true }).click()
      await expect.poll(() => page.getByLabel(label).textContent()).toBe(line)
    }
  })

  test('an agent that connects is announced, and everything by agents is stopped in one act', async () => {
    const person = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/agents')
    await page.getByText('Waiting for it to connect…').waitFor()
    await expect.poll(() => page.getByLabel('Address for Claude').textContent()).toBe(`${world.service.api.url}/mcp`)
    await authorizeAgent(world.service.api, person)
    await createKey(person, { name: 'Batch' })
    await page.getByText(/ is connected$/).waitFor()
    await page.getByRole('link', { name: 'Batch' }).waitFor()
    await page.getByRole('button', { name: 'Stop all agents' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop all' }).click()
    await page.getByText('2 agents frozen').waitFor()
    const grants: Json[] = (await person.api.get('/v1/accounts/me/grants')).body.data
    expect(grants.map(({ frozen }) => frozen)).toEqual([true, true])
    expect(complaints).toEqual([])
    await close()
  })

  test('an agent that has been there all along is not announced as connected, and is marked as frozen behind all newer ones', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await fund(world.service, person, 1_000_000n)
    const payee = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
    const old = await createKey(person, { name: 'Old bot' })
    await old.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '30000' })
    await world.service.settle()
    await person.api.patch(`/v1/accounts/me/grants/${old.grantId}`, { frozen: true })
    await createKey(person, { name: 'Newer bot' })
    const { page, complaints, close } = await visitAs(world, person)
    await pagesOfOne(page, '/v1/accounts/me/grants')
    await page.goto('/payments')
    await page
      .getByRole('row', { name: /Old bot/ })
      .getByText('Frozen')
      .waitFor()
    await page.goto('/agents')
    await page.getByRole('link', { name: 'Old bot' }).waitFor()
    await page.getByText('Waiting for it to connect…').waitFor()
    await createKey(person, { name: 'Third bot' })
    await page.getByText('Third bot is connected').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('an agent’s page tells in plain words what it did, was refused and made, and what was changed about it and by whom', async () => {
    world.service.clock.set(new Date())
    const team = await createTeam(world.service)
    const amina = await team.join('member', 'Amina Otieno')
    const within = team.within(amina)
    const bot = await createKey({ api: within }, { name: 'Invoice bot', spending_controls: { per_payment_limit_minor: '50000' } })
    const made = await newBeneficiary(bot.api, { display_name: 'Kilimo Supplies' })
    await team.within(team.owner).post(`/v1/beneficiaries/${made}/confirm`, {})
    const second = await newBeneficiary(bot.api, { display_name: 'Mpya Traders' })
    for (const amount_minor of ['30000', '31000', '32000'])
      await bot.api.post('/v1/payments', { beneficiary_id: made, amount_minor })
    await world.service.settle()
    expect((await bot.api.post('/v1/payments', { beneficiary_id: made, amount_minor: '70000' })).status).toBe(403)
    await within.patch(`/v1/accounts/me/grants/${bot.grantId}`, { spending_controls: { per_payment_limit_minor: '60000' } })
    await team.owner.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    await amina.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })

    // The owner raises the limit that refused. Other changes are reported as well.
    const own = await visitAs(world, amina)
    await own.page.goto(`/agents/${bot.grantId}`)
    const mine = own.page.getByRole('list', { name: 'Activity' })
    await mine.getByText(/Per-payment limit raised from KES\s500.00 to KES\s600.00$/).waitFor()
    await mine.getByText(/Refused: KES\s700.00 to Kilimo Supplies/).waitFor()
    await mine.getByRole('link', { name: /Raise limit to KES\s700/ }).waitFor()
    expect(own.complaints).toEqual([])
    await own.close()

    // An owner of the workspace sees the same, with the actor, and settles records created together.
    const { page, complaints, close } = await visitAs(world, team.owner)
    await page.goto(`/agents/${bot.grantId}`)
    const list = page.getByRole('list', { name: 'Activity' })
    await list.getByText(/Per-payment limit raised from KES\s500.00 to KES\s600.00 by Amina Otieno/).waitFor()
    await list.getByText(/Paid 3 times, KES\s930.00 in total/).waitFor()
    await list.getByText('Added the beneficiary Mpya Traders').waitFor()
    await expect.poll(() => list.getByRole('link', { name: /Raise/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Confirm 1 beneficiary' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Confirm all' }).click()
    await page.getByText('1 beneficiary confirmed').waitFor()
    await expect
      .poll(async () => (await team.within(team.owner).get(`/v1/beneficiaries/${second}`)).body.confirmation)
      .toBe('confirmed')
    await page.getByRole('button', { name: 'Archive 2 beneficiaries' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive all' }).click()
    await page.getByText('2 beneficiaries archived').waitFor()
    await page.getByLabel('Beneficiaries it created').waitFor({ state: 'detached' })
    // The agent's acts stay in its timeline.
    await list.getByText('Added the beneficiary Mpya Traders').waitFor()
    await page.getByRole('button', { name: 'Freeze' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Freeze' }).click()
    await list.getByText('Frozen by you').waitFor()
    expect((await bot.api.post('/v1/payments', { beneficiary_id: made, amount_minor: '100' })).body.error).toBe('grant_frozen')

    const ruler = await createKey({ api: team.within(team.owner) }, { name: 'Rules bot' })
    await ruler.api.post('/v1/spending-policies', { name: 'Bot rules', daily_limit_minor: '900000' })
    await follow(page, `/agents/${ruler.grantId}`)
    await list.getByText('Created the policy Bot rules').waitFor()
    await page.getByRole('button', { name: 'Archive 1 policy' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive all' }).click()
    await page.getByText('1 policy archived').waitFor()
    await page.getByLabel('Policies it created').waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await close()
  })

  test('everything that a key created is archived together, however much it is', async () => {
    const person = await signIn(world.service.api)
    const bot = await createKey(person, { name: 'Stolen bot' })
    for (let chunk = 0; chunk < 5; chunk += 1)
      await Promise.all(
        Array.from({ length: 21 }, (_, index) =>
          newBeneficiary(bot.api, {
            display_name: `Payee ${index}`,
            destination: `2547${String(22_000_000 + chunk * 21 + index)}`,
          }),
        ),
      )
    const left = async () => (await person.api.get(`/v1/beneficiaries?made_by_grant_id=${bot.grantId}`)).body.data
    // Archived ones, though newer, leave no room to hide the others.
    for (const { id } of (await left()).slice(0, 2)) await person.api.delete(`/v1/beneficiaries/${id}`)
    const { page, complaints, close } = await visitAs(world, person)
    for (const path of [`/beneficiaries?made_by=${bot.grantId}`, `/agents/${bot.grantId}`]) {
      await page.goto(path)
      await page.getByRole('button', { name: 'Archive 103 beneficiaries' }).waitFor()
    }
    await page.getByRole('button', { name: 'Archive 103 beneficiaries' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive all' }).click()
    await page.getByText('103 beneficiaries archived').waitFor()
    expect(await left()).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  test('events appear in the log as they happen', async () => {
    const { page, person } = await logs.at('/developers/events')
    await page.getByText('Live', { exact: true }).waitFor()
    await createKey(person, { name: 'Just now' })
    await page.getByText('api_key.created').click()
    await page.getByRole('dialog').getByText('Just now').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  })

  test('events have their day, are filtered by what they are about, and show their content', async () => {
    const { page, person } = await logs.at('/developers')
    await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
    const ofKeys = page.getByText('api_key.created').first()
    await follow(page, '/developers/events')
    await ofKeys.waitFor()
    await page.getByLabel('About').selectOption('Beneficiary')
    await ofKeys.waitFor({ state: 'detached' })
    await page
      .getByText(/^\d+ \w+, \d\d:\d\d:\d\d/)
      .first()
      .waitFor()
    await page.getByText('beneficiary.created').click()
    await page.getByRole('dialog').getByText('Baraka Stores').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await ofKeys.waitFor()
    // The days of its own workspace: Nairobi's.
    const day = (shift: number) => new Date(Date.now() + 3 * 3_600_000 + shift * 86_400_000).toISOString().slice(0, 10)
    await page.getByLabel('To', { exact: true }).fill(day(-1))
    await page.getByText('No events match').waitFor()
    await page.getByLabel('To', { exact: true }).fill(day(0))
    await ofKeys.waitFor()
    await page.getByLabel('From', { exact: true }).fill(day(1))
    await page.getByText('No events match').waitFor()
  })

  test('the log of requests is filtered by day, by answer and by key', async () => {
    world.service.clock.set(new Date())
    const { page, person, complaints } = await logs.at('/developers')
    const key = await createKey(person, { name: 'Nightly' })
    expect((await key.api.post('/v1/payments', {})).status).toBe(400)
    await follow(page, '/developers/requests')
    const refused = page.getByText('/v1/payments', { exact: true })
    const ofKeys = page.getByText('/v1/accounts/me/api-keys', { exact: true }).first()
    await refused.waitFor()
    await ofKeys.waitFor()
    await page.getByLabel('Answer').selectOption('Refused')
    await ofKeys.waitFor({ state: 'detached' })
    await page.getByLabel('Key or agent').selectOption('Nightly')
    await refused.waitFor()
    const today = new Date(Date.now() + 3 * 3_600_000)
    const yesterday = new Date(today.getTime() - 86_400_000).toISOString().slice(0, 10)
    await page.getByLabel('To', { exact: true }).fill(yesterday)
    await page.getByText('No requests match').waitFor()
    await page.getByLabel('To', { exact: true }).fill('')
    await page.getByLabel('From', { exact: true }).fill(today.toISOString().slice(0, 10))
    await refused.waitFor()
    expect(complaints).toEqual([])
  })

  test('a card says how much of its limits an agent has used, as its page does, and what it did last, to whom, and when', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await fund(world.service, person, 5_000_000n)
    const payee = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
    const limits = { per_payment_limit_minor: '500000', monthly_limit_minor: '1000000', approval_threshold_minor: '300000' }
    const bot = await createKey(person, { name: 'Invoice bot', spending_controls: limits })
    await createKey(person, { name: 'Idle bot' })
    const pay = (amount_minor: string) => bot.api.post('/v1/payments', { beneficiary_id: payee, amount_minor })
    expect((await pay('30000')).body.status).toBe('processing')
    await world.service.settle()
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/agents')
    const card = page.locator('.agent-card', { hasText: 'Invoice bot' })
    await card.getByText(/^Paid KES\s300 to Baraka Stores, /).waitFor()
    await card.getByText(/^KES\s300 used this month$/).waitFor()
    await page.locator('.agent-card', { hasText: 'Idle bot' }).getByText('Never used').waitFor()
    world.service.clock.advance(1)
    expect((await pay('400000')).body.status).toBe('pending_approval')
    await card.getByText(/^Requested KES\s4,000 to Baraka Stores \(needs approval\), /).waitFor()
    await card.getByText(/^KES\s4,300 used this month$/).waitFor()
    world.service.clock.advance(1)
    expect((await pay('900000')).status).toBe(403)
    await card.getByText(/^Refused: KES\s9,000 to Baraka Stores, .*1 refused in 24 hours$/).waitFor()
    expect((await pay('900000')).status).toBe(403)
    await follow(page, '/payments/refused')
    await page.getByLabel('Refused payments').getByText('2 times').waitFor()
    await expect.poll(() => page.getByLabel('Refused payments').locator('.item').count()).toBe(1)
    await follow(page, '/agents')
    await card.getByRole('link', { name: 'Invoice bot' }).click()
    await page.getByText(/^Used this month KES\s4,300.00 of KES\s10,000.00, KES\s5,700.00 left$/).waitFor()
    await page.getByText('Payments on their way or waiting for approval count as used.').waitFor()
    // The only total of its payments on the page.
    await expect.poll(() => page.getByText(/KES\s[\d,.]+ spent/).count()).toBe(0)
    world.service.clock.set(new Date())
    expect(complaints).toEqual([])
    await close()
  })

  test('an agent that is frozen is marked wherever it is named, and is not offered to be frozen again', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await fund(world.service, person, 5_000_000n)
    const payee = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
    const limits = { per_payment_limit_minor: '500000', approval_threshold_minor: '300000' }
    const bot = await createKey(person, { name: 'Invoice bot', spending_controls: limits })
    const pay = (amount_minor: string) => bot.api.post('/v1/payments', { beneficiary_id: payee, amount_minor })
    const paid = (await pay('30000')).body
    const held = (await pay('400000')).body
    await pay('900000')
    await world.service.settle()
    await person.api.patch(`/v1/accounts/me/grants/${bot.grantId}`, { frozen: true })
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/payments')
    const row = page.getByRole('row', { name: /KES|Baraka Stores/ }).filter({ hasText: 'Invoice bot' })
    await row.first().getByText('Frozen').waitFor()
    await expect.poll(() => row.getByText('Frozen').count()).toBe(2)
    const places = [
      `/payments/${paid.id}`,
      '/payments/refused',
      '/approvals',
      `/approvals/${held.approval_id}`,
      '/agents',
      `/agents/${bot.grantId}`,
      '/developers',
      '/workspace',
      '/',
    ]
    for (const path of places) {
      await follow(page, path)
      await page.locator('main').getByText('Invoice bot').first().waitFor()
      await page.locator('main').getByText('Frozen', { exact: true }).first().waitFor()
      expect([path, await page.getByRole('button', { name: 'Freeze Invoice bot', exact: true }).count()]).toEqual([path, 0])
    }
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('Invoice')
    await page.getByRole('option', { name: /Invoice bot.*API key, frozen/ }).waitFor()
    expect(complaints).toEqual([])
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
    await page.getByText('Airtime').last().waitFor()
    // A payment that waits for an approval counts as used, here as on its card.
    await page.getByText(/^Used this month KES\s23,949.00 of KES\s500,000.00, KES\s476,051.00 left$/).waitFor()
    await expect.poll(() => page.getByText('Electricity').count()).toBe(0)
    await page.getByText('Show as a table').click()
    await page.getByRole('row', { name: /KES\s450.00/ }).waitFor()
    // All payments: the list filtered by the agent, then by requester and day.
    await page.getByRole('link', { name: 'View all' }).last().click()
    const totals = page.getByLabel('Totals')
    await totals.getByText('2 payments').waitFor()
    await page.getByRole('button', { name: 'By: Procurement agent' }).click()
    await page.getByLabel('Agent or key').selectOption('Any')
    await totals.getByText('4 payments').waitFor()
    await page.getByLabel('Requested by').selectOption('Wanjiku Kamau')
    await totals.getByText('4 payments').waitFor()
    await page.getByRole('button', { name: 'Days' }).click()
    await page.getByLabel('From', { exact: true }).fill('2099-01-01')
    await page.getByText('No payments match').waitFor()
    expect(complaints).toEqual([])
    await close()
  })
}
