import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { credit, newBeneficiary } from '../../harness/money.ts'
import { authorizePath, newPkce, postForm, redeemCode, redirectUri, registerClient } from '../../harness/oauth.ts'
import { signIn } from '../../harness/people.ts'
import { visit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const limits = JSON.stringify([{ type: 'payment', per_payment_limit_minor: '100000', daily_limit_minor: '300000' }])

/** The agent's own page, the redirect's target with the answer. */
const answerPage = async (page: Page): Promise<URLSearchParams> => {
  await page.waitForURL(`${redirectUri}**`)
  return new URL(page.url()).searchParams
}
const playAgent = (page: Page) => page.route(`${redirectUri}**`, (route) => route.fulfill({ body: 'thank you' }))

export const consentFlows = (world: World): void => {
  test('a person who is not signed in signs in first, sees the request, reduces it, and the agent gets exactly that', async () => {
    const { api } = world.service
    const client = await registerClient(api, { client_name: 'Shopping agent' })
    const pkce = newPkce()
    const { page, close } = await visit(world)
    await playAgent(page)
    const scope = 'account.read payment.read payment.create'
    await page.goto(authorizePath(client, pkce, { scope, authorization_details: limits }))
    await page.getByRole('button', { name: /Test Wallet/ }).click()
    await page.getByRole('heading', { name: /Shopping agent wants to pay up to KES.3,000 a day from Personal/ }).waitFor()
    await page.getByText('127.0.0.1:9876', { exact: true }).waitFor()
    await page.getByText('The app opens through 127.0.0.1').waitFor()
    await page.getByText('Unverified app').waitFor()
    const terms = page.locator('.facts')
    await terms.getByText('Make payments within its limits; see the account, its balance and history; see payments').waitFor()
    await terms.getByText('Add beneficiaries, approve payments, raise its limits, change policies or sign-in methods').waitFor()
    await terms.getByText(/^KES.1,000\.00 per payment, KES.3,000\.00 a day$/).waitFor()
    await terms.getByText(/, or when you revoke it$/).waitFor()
    await page.getByLabel(/See payments/).uncheck()
    await terms.getByText('Make payments within its limits; see the account, its balance and history', { exact: true }).waitFor()
    await expect.poll(() => page.getByLabel('Daily limit').inputValue()).toBe('3,000')
    await page.getByLabel('Daily limit').fill('1,500')
    await page.getByText('You are asked once about each, when it first pays them.').waitFor()
    await page.getByLabel('New beneficiaries').selectOption('Pay without asking')
    await page.getByText('It decides who is paid: it can add any number and pay it at once, up to its limits.').waitFor()
    await page.getByLabel('New beneficiaries').selectOption('Refuse')
    await page.getByRole('button', { name: 'Allow Shopping agent' }).click()
    const answer = await answerPage(page)
    const tokens = await redeemCode(api, client, answer.get('code') ?? '', pkce)
    expect(tokens.body.scope.split(' ').sort()).toEqual(['account.read', 'payment.create'])
    expect(tokens.body.authorization_details).toMatchObject([
      { per_payment_limit_minor: '100000', daily_limit_minor: '150000', new_payees: 'deny' },
    ])
    await close()
  })

  test('limits cannot be raised, and after a denial the agent gets nothing', async () => {
    const { api } = world.service
    const client = await registerClient(api)
    const person = await signIn(api)
    const { page, close } = await visitAs(world, person)
    await playAgent(page)
    await page.goto(authorizePath(client, newPkce(), { scope: 'payment.create', authorization_details: limits }))
    await page.getByLabel('Daily limit').fill('9000')
    await page.getByRole('button', { name: /^Allow/ }).click()
    await page.getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Deny' }).click()
    await expect.poll(async () => (await answerPage(page)).get('error')).toBe('access_denied')
    await expect.poll(async () => (await person.api.get('/v1/accounts/me/grants')).body.data).toEqual([])
    await page.goto('/consent?authorization=oaz_01h455vb4pex5vsknk084sn02q')
    await page.getByText('This request has expired or was already used.').waitFor()
    await page.getByText('Go back to the app and start again.').waitFor()
    await close()
  })

  test('a device without a browser is authorized by the code that it shows', async () => {
    const { api } = world.service
    const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
    const client = await registerClient(api, { client_name: 'Till', grant_types: [deviceGrant], redirect_uris: [] })
    const { challenge, verifier } = newPkce()
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    const fields = { ...client.credentials, ...pkce, scope: 'account.read' }
    const device = (await postForm(api, '/v1/oauth/device_authorization', fields)).body
    const person = await signIn(api)
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/device')
    await page.getByText('Enter the code that the device or program shows you.').waitFor()
    await page.getByLabel('Code').fill('bbbb-bbbb')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('alert').getByText('This code is wrong, has expired or was already used.').waitFor()
    await page.getByText('Enter the code that the device shows now.').waitFor()
    await page.getByLabel('Code').fill(device.user_code.toLowerCase())
    // The same code is read again after a lost request.
    await page.route('**/v1/oauth/device/*', (route) => route.abort(), { times: 1 })
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('The service could not be reached').waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Till wants access to Personal' }).waitFor()
    await page.getByText(device.user_code).waitFor()
    await page.getByRole('button', { name: 'Allow Till' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    await page.getByText('Go back to your device. It continues by itself.').waitFor()
    const poll = { ...client.credentials, grant_type: deviceGrant, device_code: device.device_code, code_verifier: verifier }
    expect((await postForm(api, '/v1/oauth/token', poll)).status).toBe(200)
    expect(complaints).toEqual([])
    await close()
  })

  test('an agent that requests no limits gets small ones and an end by default, and none only if that is chosen', async () => {
    const { api } = world.service
    world.service.clock.set(new Date())
    const client = await registerClient(api, { client_name: 'Buyer' })
    const person = await signIn(api)
    const { page, close } = await visitAs(world, person)
    await playAgent(page)
    const ask = async () => {
      const pkce = newPkce()
      await page.goto(authorizePath(client, pkce, { scope: 'payment.create' }))
      // A suggestion of this page never appears as the app's request.
      await page.getByRole('heading', { name: 'Buyer wants to pay from Personal', exact: true }).waitFor()
      await page.getByText('suggested by this page: the app asked for none').waitFor()
      return pkce
    }
    const agree = async (pkce: ReturnType<typeof newPkce>) => {
      await page.getByRole('button', { name: 'Allow Buyer' }).click()
      await redeemCode(api, client, (await answerPage(page)).get('code') ?? '', pkce)
      return (await person.api.get('/v1/accounts/me/grants')).body.data[0]
    }
    const first = await ask()
    await page.getByText('Not you?').waitFor()
    const limited = await agree(first)
    expect(limited.spending_controls).toMatchObject({ per_payment_limit_minor: '100000', daily_limit_minor: '500000' })
    const again = await ask()
    await page.getByLabel('Access ends after').selectOption('7 days')
    await page.getByRole('radio', { name: /No limit/ }).check()
    const unlimited = await agree(again)
    expect(Object.keys(unlimited.spending_controls).filter((name) => name.includes('limit'))).toEqual([])
    const days = (Date.parse(unlimited.expires_at) - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(7)
    await close()
  })

  test('on a phone the answer is in view at once, and what moves money or changes rules is never folded away', async () => {
    const { api } = world.service
    const client = await registerClient(api, { client_name: 'Bookkeeper' })
    const { page, close } = await visitAs(world, await signIn(api), { width: 360, height: 640 })
    const scope =
      'account.read payment.read payment.create beneficiary.read beneficiary.manage policy.read policy.create approval.read mandate.read topup.read'
    await page.goto(authorizePath(client, newPkce(), { scope }))
    await page.getByRole('heading', { name: 'Bookkeeper wants to pay from Personal' }).waitFor()
    for (const name of ['Allow Bookkeeper', 'Deny']) {
      const isInView = async () => {
        const box = await page.getByRole('button', { name }).boundingBox()
        return box !== null && box.y >= 0 && box.y + box.height <= 640
      }
      await expect.poll(isInView, { message: name }).toBe(true)
    }
    const shown = async (label: RegExp) => page.getByLabel(label).isVisible()
    expect([await shown(/^Make payments/), await shown(/^Add, change and archive beneficiaries/)]).toEqual([true, true])
    await expect.poll(() => shown(/^See mandates/)).toBe(false)
    await page.getByText('The first payment to each beneficiary that it adds waits for you.').waitFor()
    await page.getByLabel('New beneficiaries').selectOption({ index: 1 })
    await page.getByText('It pays beneficiaries that it adds itself without asking you.').waitFor()
    await close()
  })

  test('a budget for one job is lowered by the person, charged by the agent and its keys, shown as what is left, and raised from the refusal', async () => {
    const { service } = world
    const { api } = service
    service.clock.set(new Date())
    const person = await signIn(api)
    await credit(service, person.accountId, 10_000_000n)
    const beneficiary_id = await newBeneficiary(person.api, { display_name: 'Movers' })
    const client = await registerClient(api, { client_name: 'Mover' })
    const pkce = newPkce()
    const { page, close } = await visitAs(world, person)
    await playAgent(page)
    const scope = 'account.read payment.read payment.create beneficiary.read key.manage'
    const budget = JSON.stringify([{ type: 'payment', total_limit_minor: '6000000' }])
    await page.goto(authorizePath(client, pkce, { scope, authorization_details: budget }))
    await page.getByRole('heading', { name: /Mover wants to pay up to KES.60,000 in all from Personal/ }).waitFor()
    const terms = page.locator('.facts')
    await terms.getByText(/^KES.60,000\.00 in all$/).waitFor()
    await page.getByText(/Requested: KES.60,000\.00/).waitFor()
    await page.getByLabel('Total limit, for one job').fill('70000')
    await page.getByRole('button', { name: 'Allow Mover' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Total limit, for one job').fill('40000')
    await terms.getByText(/^KES.40,000\.00 in all$/).waitFor()
    await page.getByRole('button', { name: 'Allow Mover' }).click()
    const { body } = await redeemCode(api, client, (await answerPage(page)).get('code') ?? '', pkce)
    expect(body.authorization_details).toMatchObject([{ total_limit_minor: '4000000' }])
    const agent = api.as({ bearer: body.access_token, cookie: undefined })
    const helper = (await agent.post('/v1/accounts/me/api-keys', { name: 'Helper', permissions: ['payment.create'] })).body
    const pay = (payer: typeof agent, amount_minor: string, account_reference: string) =>
      payer.post('/v1/payments', { beneficiary_id, amount_minor, account_reference })
    const bearers = [agent, api.as({ bearer: helper.key, cookie: undefined })] as const
    expect((await pay(bearers[0], '2000000', 'VAN-1')).status).toBe(201)
    expect((await pay(bearers[1], '770000', 'VAN-2')).status).toBe(201)
    expect((await pay(bearers[1], '1500000', 'VAN-3')).body.error).toBe('policy_denied')
    await page.goto('/agents')
    const card = page.locator('.agent-card', { has: page.getByRole('link', { name: 'Mover', exact: true }) })
    await card.getByText(/^KES.40,000 in all, KES.12,300 left$/).waitFor()
    await page.goto('/payments/refused')
    await page.getByText(/KES.40,000\.00: KES.27,700\.00 is used, and KES.15,000\.00 was requested/).waitFor()
    await page.getByRole('link', { name: /^Raise limit to KES.42,700$/ }).click()
    await expect.poll(() => page.getByLabel('Total limit, for one job').inputValue()).toBe('42,700')
    await page.getByRole('button', { name: 'Save limits' }).click()
    await page.getByText(/KES.42,700\.00, KES.15,000\.00 left/).waitFor()
    expect((await pay(bearers[1], '1500000', 'VAN-3')).status).toBe(201)
    await page.getByText(/KES.42,700\.00, KES.0\.00 left/).waitFor()
    await close()
  })
}
