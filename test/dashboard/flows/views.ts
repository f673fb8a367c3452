import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { askPerson, letIn, newPkce, registerClient } from '../../harness/oauth.ts'
import { createKey, newWallet, walletMessage } from '../../harness/people.ts'
import { findings } from '../axe.ts'
import { createHousehold, type Household } from '../household.ts'
import { takeScreenshots } from '../screenshots.ts'
import { createTeam, type Team } from '../team.ts'
import { visit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

type Step = (page: Page) => Promise<unknown>
/** How to come from the page to what is looked at next. What it opens over the page is closed again afterwards. */
type Opened = { name: string; steps: readonly Step[] }
type View = { name: string; path: string; opened?: readonly Opened[] }

const press =
  (name: string | RegExp): Step =>
  (page) =>
    // In the dialog where one is open: nothing else can be pressed then.
    page.locator('dialog').or(page.locator('body:not(:has(dialog))')).getByRole('button', { name }).first().click()
const fill =
  (label: string, text: string): Step =>
  (page) =>
    page.getByLabel(label, { exact: true }).fill(text)

const opens = (...names: readonly (string | RegExp)[]): Opened => ({ name: names.join(' '), steps: names.map(press) })

const personalViews = async (world: World, home: Household): Promise<View[]> => {
  const { api } = home.person
  const client = await registerClient(world.service.api, { client_name: 'Shopping agent' })
  await letIn(world.service.api, home.person, { client })
  await letIn(world.service.api, home.person)
  const scope = 'account.read payment.create beneficiary.manage'
  const authorization = await askPerson(home.person, client, newPkce(), { scope })
  const [mandate] = (await api.get('/v1/intent-mandates')).body.data
  const [policy] = (await api.get('/v1/spending-policies')).body.data
  const [agent] = (await api.get('/v1/accounts/me/grants')).body.data
  const topup = await api.post('/v1/topups/initiate', { amount_minor: '100000', phone_number: '254700001037' })
  const { bank, phone } = home.beneficiaries
  const pay = { beneficiary_id: bank, amount_minor: '1500000', narrative: 'Desks', account_reference: 'PO-2292' }
  await home.agent.api.post('/v1/payments', pay)
  const second = newWallet()
  const message = await walletMessage(world.service.api, second)
  await api.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature: await second.signMessage({ message }) })
  return [
    {
      name: 'overview',
      path: '/',
      opened: [opens(/^Search/), { name: 'shortcuts', steps: [(page) => page.keyboard.press('?')] }],
    },
    { name: 'payments', path: '/payments' },
    { name: 'payment-beside', path: `/payments?open=${home.paymentId}` },
    {
      name: 'new-payment',
      path: `/payments/new?beneficiary=${phone}`,
      opened: [{ name: 'review', steps: [fill('Amount', '1200'), press(/^Review KES/)] }],
    },
    { name: 'payment', path: `/payments/${home.paymentId}` },
    { name: 'held-payment', path: `/payments/${home.heldPaymentId}`, opened: [opens('Cancel payment'), opens('Approve')] },
    { name: 'receipt', path: `/payments/${home.paymentId}/receipt` },
    {
      name: 'approvals',
      path: '/approvals',
      opened: [{ name: 'bulk', steps: [(page) => page.getByLabel('Select all').check(), press('Approve 2')] }, opens('Reject 2')],
    },
    {
      name: 'approval',
      path: `/approvals/${home.approvalId}`,
      opened: ['Approve', 'Reject', 'QR code', 'Sign approval', 'Sign rejection'].map((name) => opens(name)),
    },
    { name: 'approve', path: `/approve/${home.approvalId}` },
    { name: 'beneficiaries', path: '/beneficiaries' },
    { name: 'beneficiary', path: `/beneficiaries/${bank}`, opened: [opens('Edit'), opens('Freeze'), opens('Archive')] },
    { name: 'new-beneficiary', path: '/beneficiaries/new' },
    { name: 'policies', path: '/policies' },
    { name: 'policy', path: `/policies/${policy.id}`, opened: [opens('Archive')] },
    { name: 'new-policy', path: '/policies/new' },
    { name: 'mandates', path: '/mandates' },
    { name: 'mandate', path: `/mandates/${mandate.id}`, opened: [opens('Revoke')] },
    { name: 'new-mandate', path: '/mandates/new' },
    { name: 'top-up', path: '/top-up' },
    { name: 'top-up-pending', path: `/top-up/${topup.body.id}` },
    { name: 'history', path: '/history' },
    { name: 'keys', path: '/developers' },
    {
      name: 'key',
      path: `/developers/keys/${home.agent.grantId}`,
      opened: [opens('Edit limits'), opens('Freeze'), opens('Revoke'), opens('Rotate'), opens('Rotate', 'Rotate')],
    },
    {
      name: 'new-key',
      path: '/developers/keys/new',
      opened: [{ name: 'shown once', steps: [fill('Name', 'Night job'), press('Create key')] }],
    },
    { name: 'agents', path: '/developers/agents', opened: [opens('Revoke all')] },
    { name: 'agent', path: `/developers/agents/${agent.id}`, opened: [opens('Revoke')] },
    {
      name: 'events',
      path: '/developers/events',
      opened: [{ name: 'event', steps: [(page) => page.getByText('payment.created').first().click()] }],
    },
    { name: 'requests', path: '/developers/requests' },
    { name: 'account', path: '/account', opened: [opens(/^Link wallet$/), opens(/^Unlink/), opens('Sign out everywhere else')] },
    { name: 'notifications', path: '/account/notifications' },
    { name: 'new-workspace', path: '/workspace/new' },
    { name: 'consent', path: `/consent?authorization=${authorization}` },
    { name: 'failed-consent', path: '/consent?authorization=oaz_01h455vb4pex5vsknk084sn02q' },
    { name: 'device', path: '/device' },
    { name: 'reconciliation', path: '/reconciliation' },
    { name: 'nowhere', path: '/payments/a/b/c' },
  ]
}

const teamViews = async (team: Team): Promise<View[]> => {
  await team.join('approver', 'Njeri Mwangi')
  const member = await team.join('member', 'Amina Otieno')
  const key = await createKey({ api: team.within(member) }, { name: 'Roaster’s agent' })
  const { token } = (await team.within(team.owner).post('/v1/workspaces/current/invitations', { role: 'viewer' })).body
  await team.hold('450000')
  return [
    {
      name: 'workspace',
      path: '/workspace',
      opened: [
        opens('Change Amina Otieno'),
        opens('Remove Amina Otieno'),
        opens('Invite'),
        opens('Invite', 'Create invitation'),
        opens(/^Revoke /),
        opens('Freeze workspace'),
      ],
    },
    { name: 'member-agent', path: `/workspace/agents/${key.grantId}`, opened: [opens('Revoke')] },
    { name: 'activity', path: '/workspace/activity' },
    { name: 'approval-of-others', path: '/approvals' },
    { name: 'invitation', path: `/invitation#${token}` },
  ]
}

/** What has moved without being asked to, since the page was opened. */
const layoutShift = `new Promise((resolve) => {
  let sum = 0
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value }).observe({ type: 'layout-shift', buffered: true })
  requestAnimationFrame(() => setTimeout(() => resolve(sum)))
})`

const settled = async (page: Page) => {
  await page.locator('main h1').first().waitFor()
  await page.locator('.skeleton, main[aria-busy="true"]').first().waitFor({ state: 'detached' })
}

/** In both themes: of axe's rules only contrast can tell them apart. */
const inBothThemes = async (page: Page, within: string): Promise<string[]> => {
  const light = (await findings(page, { within })).map((finding) => `light: ${finding}`)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = (await findings(page, { within, rules: ['color-contrast'] })).map((finding) => `dark: ${finding}`)
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark]
}

const lookAtPage = async (page: Page, { name, path }: View): Promise<string[]> => {
  await page.goto(path)
  await settled(page)
  const shift = Number(await page.evaluate(layoutShift))
  const found = await inBothThemes(page, 'html')
  await page.setViewportSize({ width: 360, height: 760 })
  const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
  await page.setViewportSize({ width: 1280, height: 860 })
  await takeScreenshots(page, name)
  return [...found, ...(shift > 0.1 ? [`jumps by ${shift}`] : []), ...(wide ? ['is wider than a phone'] : [])]
}

const lookAtOpened = async (page: Page, view: View, { name, steps }: Opened): Promise<string[]> => {
  for (const step of steps) await step(page)
  const dialog = page.getByRole('dialog')
  const review = page.getByRole('heading', { name: /^Pay KES/ })
  await dialog.or(review).first().waitFor()
  const over = (await dialog.count()) > 0
  const found = await inBothThemes(page, over ? 'dialog' : 'html')
  await takeScreenshots(page, `${view.name}-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`)
  if (over) {
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
  return found.map((finding) => `${name}, ${finding}`)
}

const problemsOf = async (page: Page, views: readonly View[]): Promise<string[]> => {
  const problems: string[] = []
  for (const view of views) {
    const found = await lookAtPage(page, view)
    for (const opened of view.opened ?? []) found.push(...(await lookAtOpened(page, view, opened)))
    problems.push(...found.map((finding) => `${view.name}: ${finding}`))
  }
  return problems
}

export const everyView = (world: World): void => {
  test('every page keeps to itself, jumps nowhere and fits a phone; it and its dialogs have no accessibility finding in either theme', async () => {
    world.service.clock.set(new Date())
    const home = await createHousehold(world.service)
    const { page, complaints, close } = await visitAs(world, home.person)
    expect(await problemsOf(page, await personalViews(world, home))).toEqual([])
    expect(complaints).toEqual([])
    await close()
  }, 240_000)

  test('neither have those of a team', async () => {
    const team = await createTeam(world.service)
    const views = await teamViews(team)
    await team.owner.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    const { page, complaints, close } = await visitAs(world, team.owner)
    expect([...(await problemsOf(page, views)), ...complaints]).toEqual([])
    await close()
  }, 120_000)

  test('nor has the sign-in', async () => {
    const { page, complaints, close } = await visit(world)
    expect([...(await problemsOf(page, [{ name: 'sign-in', path: '/sign-in' }])), ...complaints]).toEqual([])
    await close()
  })
}
