import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { askPerson, newPkce, registerClient } from '../../harness/oauth.ts'
import { signIn } from '../../harness/people.ts'
import { createHousehold, type Household } from '../household.ts'
import { takeScreenshots } from '../screenshots.ts'
import { visit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const pagesOf = async (world: World, home: Household): Promise<Record<string, string>> => {
  const client = await registerClient(world.service.api, { client_name: 'Shopping agent' })
  const scope = 'account.read payment.create beneficiary.manage'
  const authorization = await askPerson(home.person, client, newPkce(), { scope })
  const [mandate] = (await home.person.api.get('/v1/intent-mandates')).body.data
  const [policy] = (await home.person.api.get('/v1/spending-policies')).body.data
  const topup = await home.person.api.post('/v1/topups/initiate', { amount_minor: '100000', phone_number: '254700001037' })
  return {
    overview: '/',
    payments: '/payments',
    'new-payment': `/payments/new?beneficiary=${home.beneficiaries.phone}`,
    payment: `/payments/${home.paymentId}`,
    receipt: `/payments/${home.paymentId}/receipt`,
    approvals: '/approvals',
    approval: `/approvals/${home.approvalId}`,
    approve: `/approve/${home.approvalId}`,
    beneficiaries: '/beneficiaries',
    beneficiary: `/beneficiaries/${home.beneficiaries.bank}`,
    'new-beneficiary': '/beneficiaries/new',
    policies: '/policies',
    policy: `/policies/${policy.id}`,
    mandates: '/mandates',
    mandate: `/mandates/${mandate.id}`,
    'new-mandate': '/mandates/new',
    'top-up': '/top-up',
    'top-up-pending': `/top-up/${topup.body.id}`,
    history: '/history',
    keys: '/developers',
    key: `/developers/keys/${home.agent.grantId}`,
    'new-key': '/developers/keys/new',
    agents: '/developers/agents',
    events: '/developers/events',
    requests: '/developers/requests',
    account: '/account',
    notifications: '/account/notifications',
    workspace: '/workspace',
    activity: '/workspace/activity',
    'new-workspace': '/workspace/new',
    consent: `/consent?authorization=${authorization}`,
    'failed-consent': '/consent?authorization=oaz_01h455vb4pex5vsknk084sn02q',
    device: '/device',
    reconciliation: '/reconciliation',
    nowhere: '/payments/a/b/c',
  }
}

/** The pages that open dialogs, each with the buttons that do. */
const dialogsOf = (home: Household): [path: string, ...buttons: (string | RegExp)[]][] => [
  [`/approvals/${home.approvalId}`, 'Approve', 'Reject', 'QR code', 'Sign approval'],
  [`/payments/${home.heldPaymentId}`, 'Cancel payment', 'Approve'],
  [`/beneficiaries/${home.beneficiaries.bank}`, 'Edit', 'Freeze', 'Archive'],
  [`/developers/keys/${home.agent.grantId}`, 'Edit limits', 'Freeze', 'Rotate', 'Revoke'],
  ['/workspace', 'Invite', 'Freeze workspace'],
  ['/account', /^Link wallet$/, 'Sign out everywhere else'],
  ['/', /^Search/],
]

const findings = async (page: Page, rules?: string[], within?: string): Promise<string[]> => {
  const builder = new AxeBuilder({ page })
  if (within) builder.include(within)
  const { violations } = await (rules ? builder.withRules(rules) : builder).analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}

/** What has moved without being asked to, since the page was opened. */
const layoutShift = `new Promise((resolve) => {
  let sum = 0
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value }).observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => resolve(sum), 50)
})`

const settled = async (page: Page) => {
  await page.locator('main h1').first().waitFor()
  await page.locator('.skeleton, main[aria-busy="true"]').first().waitFor({ state: 'detached' })
}

export const everywhere = (world: World): void => {
  test('keeps to itself, jumps nowhere, fits a phone, and has no accessibility finding in either theme', async () => {
    world.service.clock.set(new Date())
    const home = await createHousehold(world.service)
    const { page, complaints, close } = await visitAs(world, home.person)
    const problems: string[] = []
    for (const [name, path] of Object.entries(await pagesOf(world, home))) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.goto(path)
      await settled(page)
      const shift = Number(await page.evaluate(layoutShift))
      if (shift > 0.1) problems.push(`${name} jumps by ${shift}`)
      problems.push(...(await findings(page)).map((finding) => `${name}, light: ${finding}`))
      await page.emulateMedia({ colorScheme: 'dark' })
      problems.push(...(await findings(page, ['color-contrast'])).map((finding) => `${name}, dark: ${finding}`))
      await page.setViewportSize({ width: 360, height: 760 })
      const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
      if (wide) problems.push(`${name} is wider than a phone`)
      await page.setViewportSize({ width: 1280, height: 860 })
      await takeScreenshots(page, name)
    }
    expect([...problems, ...complaints]).toEqual([])
    await close()
  }, 240_000)

  test('every dialog has no accessibility finding in either theme', async () => {
    const home = await createHousehold(world.service)
    const { page, close } = await visitAs(world, home.person)
    const problems: string[] = []
    for (const [path, ...buttons] of dialogsOf(home)) {
      await page.goto(path)
      await settled(page)
      for (const name of buttons) {
        await page.getByRole('button', { name }).first().click()
        const dialog = page.getByRole('dialog')
        await dialog.waitFor()
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          problems.push(
            ...(await findings(page, undefined, 'dialog')).map((finding) => `${path} ${name}, ${colorScheme}: ${finding}`),
          )
        }
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
      }
    }
    expect(problems).toEqual([])
    await close()
  }, 240_000)

  test('the sign-in has no finding either', async () => {
    const { page, complaints, close } = await visit(world)
    await page.goto('/sign-in')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const light = await findings(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect([...light, ...(await findings(page)), ...complaints]).toEqual([])
    await takeScreenshots(page, 'sign-in')
    await close()
  })

  test('is reached by keyboard: the skip link first, then sequences of keys; typing is never a shortcut', async () => {
    const { page, close } = await visitAs(world, await signIn(world.service.api))
    await page.goto('/')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    await page.keyboard.press('g')
    await page.keyboard.press('b')
    await page.getByRole('heading', { name: 'Beneficiaries' }).waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    await page.getByLabel('Search').fill('')
    await page.getByLabel('Search').pressSequentially('g p n ?')
    expect(new URL(page.url()).pathname).toBe('/beneficiaries')
    await page.getByRole('heading', { name: 'Beneficiaries' }).click()
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Go to approvals').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await close()
  })

  test('a broken connection is told over the page, and what was missed is there once it is back', async () => {
    const person = await signIn(world.service.api)
    const { page, context, close } = await visitAs(world, person)
    await page.goto('/account')
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    await context.setOffline(true)
    await page.getByText('Reconnecting').waitFor()
    await person.api.patch('/v1/accounts/me', { display_name: 'Meanwhile' })
    await context.setOffline(false)
    await page.getByText('Reconnecting').waitFor({ state: 'detached', timeout: 15_000 })
    await page.getByRole('button', { name: 'Account Meanwhile' }).first().waitFor()
    await close()
  })

  test('the script is at most 150 KB over the wire, and nothing of it stands in the page', async () => {
    const assets = fileURLToPath(new URL('../../../dashboard/dist/assets', import.meta.url))
    const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'))
    // A development build of React gives itself away by this.
    for (const name of scripts) expect(readFileSync(`${assets}/${name}`, 'utf8')).not.toContain('jsxDEV')
    const bytes = scripts.reduce((sum, name) => sum + readFileSync(`${assets}/${name}.br`).length, 0)
    expect(bytes).toBeLessThanOrEqual(150 * 1024)
    const page = await world.service.api.get('/')
    expect(page.text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/i)
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
    const [, asset = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(page.text) ?? []
    const served = await world.service.api.get(asset, { headers: { 'accept-encoding': 'br' } })
    expect(served.headers.get('cache-control')).toContain('immutable')
    expect(served.headers.get('content-encoding')).toBe('br')
    expect((await world.service.api.get('/assets/none.js')).status).toBe(404)
    expect((await world.service.api.get('/v1/none')).body.error).toBe('not_found')
  })
}
