import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newBeneficiary } from '../../harness/money.ts'
import { authorizeAgent, newPkce, registerClient, requestConsent } from '../../harness/oauth.ts'
import { createKey, newWallet, type Person, signIn, walletMessage } from '../../harness/people.ts'
import type { Inspector } from '../axe.ts'
import { createHousehold, type Household } from '../household.ts'
import { takeScreenshots } from '../screenshots.ts'
import { createTeam, type Team } from '../team.ts'
import { desk, follow, openEachApproval, phone, type Viewport, type Visit, visit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

type Step = (page: Page) => Promise<unknown>
/** The steps from a page to a further state. Dialogs that they open are closed afterwards. */
type Opened = {
  name: string
  steps: readonly Step[]
  /** The text to wait for if no dialog opens. */
  shows?: string | RegExp
  on?: Viewport
}
type View = {
  name: string
  path: string
  /** Whether it is loaded from the server. Default: navigation inside the loaded page. */
  loaded?: boolean
  /** Prepares the page's requests before it is opened. */
  prepare?: Step
  /** Whether it stays incomplete, with placeholders for missing data. */
  loading?: boolean
  /** The text to wait for if the page never gets its data. */
  shows?: string | RegExp
  opened?: readonly Opened[]
  /** Whether it is for developers, and shows the API's own names. */
  technical?: boolean
}

const press =
  (name: string | RegExp): Step =>
  (page) =>
    // In the open dialog, if any: nothing else can be pressed then.
    page.locator('dialog').or(page.locator('body:not(:has(dialog))')).getByRole('button', { name }).first().click()
const fill =
  (label: string, text: string): Step =>
  (page) =>
    page.getByLabel(label, { exact: true }).fill(text)

/** Sets later requests' fate: this answer, a failure, or no answer. */
const answering =
  (path: string, json: unknown, status = 200): Step =>
  (page) =>
    page.route(path, (route) => route.fulfill({ status, json }))
const failing = (path: string): Step => answering(path, { error: 'internal_error', message: 'Something went wrong.' }, 500)
const unanswered =
  (path: string): Step =>
  (page) =>
    page.route(path, () => {})

const opens = (...names: readonly (string | RegExp)[]): Opened => ({ name: names.join(' '), steps: names.map(press) })

const personalViews = async (world: World, home: Household): Promise<View[]> => {
  const { api } = home.person
  const client = await registerClient(world.service.api, { client_name: 'Shopping agent' })
  await authorizeAgent(world.service.api, home.person, { client })
  await authorizeAgent(world.service.api, home.person)
  const scope = 'account.read payment.create beneficiary.manage'
  const authorization = await requestConsent(home.person, client, newPkce(), { scope })
  const [mandate] = (await api.get('/v1/intent-mandates')).body.data
  const [policy] = (await api.get('/v1/spending-policies')).body.data
  const [agent] = (await api.get('/v1/accounts/me/grants')).body.data
  const topup = await api.post('/v1/topups/initiate', { amount_minor: '100000', phone_number: '254700001037' })
  const { bank, phone: person } = home.beneficiaries
  const pay = { beneficiary_id: bank, amount_minor: '1500000', narrative: 'Desks', account_reference: 'PO-2292' }
  await home.agent.api.post('/v1/payments', pay)
  const bot = await createKey(home.person, { name: 'Old bot' })
  await newBeneficiary(bot.api, { display_name: 'Mpya Traders', destination: '254712000077' })
  const rules = await bot.api.post('/v1/spending-policies', { name: 'Bot rules', daily_limit_minor: '900000' })
  await api.patch(`/v1/accounts/me/grants/${bot.grantId}`, { frozen: true })
  const later = new Date(world.service.clock.now().getTime() + 86_400_000).toISOString()
  const items = [{ beneficiary_id: person, amount_minor: '20000' }]
  const list = await api.post('/v1/payment-batches', { name: 'Salaries', items, execute_at: later })
  const second = newWallet()
  const message = await walletMessage(world.service.api, second)
  await api.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature: await second.signMessage({ message }) })
  return [
    {
      name: 'overview',
      path: '/',
      loaded: true,
      opened: [
        opens(/^Search/),
        { name: 'shortcuts', steps: [(page) => page.keyboard.press('?')] },
        { ...opens('More'), on: phone },
        {
          name: 'offline',
          steps: [(page) => page.context().setOffline(true)],
          shows: 'Reconnecting',
        },
      ],
    },
    // The page has none of these yet, and each asks for something else.
    { name: 'payments-failing', path: '/payments', prepare: failing('**/v1/payments?*'), shows: 'Something went wrong' },
    {
      name: 'payment-failing',
      path: `/payments/${home.paymentId}`,
      prepare: failing(`**/v1/payments/${home.paymentId}`),
      shows: 'Something went wrong',
    },
    { name: 'payments-loading', path: '/payments?status=failed', prepare: unanswered('**/v1/payments?*'), loading: true },
    {
      name: 'payment-loading',
      path: `/payments/${home.heldPaymentId}`,
      prepare: unanswered(`**/v1/payments/${home.heldPaymentId}`),
      loading: true,
    },
    {
      name: 'crashed',
      path: '/policies',
      loaded: true,
      prepare: answering('**/v1/spending-policies?*', { data: [null] }),
      shows: 'This page stopped working',
    },
    { name: 'overview-loading', path: '/', loaded: true, prepare: unanswered('**/v1/payments?*'), loading: true },
    { name: 'session-loading', path: '/', loaded: true, prepare: unanswered('**/v1/accounts/me'), shows: /./ },
    { name: 'payments', path: '/payments', loaded: true },
    { name: 'payment-beside', path: `/payments?open=${home.paymentId}`, loaded: true },
    {
      name: 'new-payment',
      path: `/payments/new?beneficiary=${person}`,
      opened: [{ name: 'review', steps: [fill('Amount', '1200'), press(/^Review KES/)] }],
    },
    { name: 'payment', path: `/payments/${home.paymentId}` },
    { name: 'held-payment', path: `/payments/${home.heldPaymentId}`, opened: [opens('Cancel payment'), opens('Approve')] },
    { name: 'receipt', path: `/payments/${home.paymentId}/receipt` },
    {
      name: 'approvals',
      path: '/approvals',
      loaded: true,
      opened: [
        {
          name: 'bulk',
          steps: [(page) => openEachApproval(page, 2), (page) => page.getByLabel('Select all').check(), press('Approve 2')],
        },
        opens('Reject 2'),
      ],
    },
    {
      name: 'approval',
      path: `/approvals/${home.approvalId}`,
      opened: ['Approve', 'Reject', 'QR code', 'Sign approval', 'Sign rejection'].map((name) => opens(name)),
    },
    { name: 'approve', path: `/approve/${home.approvalId}`, loaded: true },
    { name: 'beneficiaries', path: '/beneficiaries' },
    { name: 'beneficiary', path: `/beneficiaries/${bank}`, opened: [opens('Edit'), opens('Freeze'), opens('Archive')] },
    { name: 'new-beneficiary', path: '/beneficiaries/new' },
    { name: 'policies', path: '/policies' },
    { name: 'policy', path: `/policies/${policy.id}`, opened: [opens('Archive')] },
    { name: 'policy-of-agent', path: `/policies/${rules.body.id}`, opened: [opens('Archive all it created')] },
    { name: 'new-policy', path: '/policies/new' },
    { name: 'mandates', path: '/mandates' },
    { name: 'mandate', path: `/mandates/${mandate.id}`, opened: [opens('Revoke')] },
    { name: 'new-mandate', path: '/mandates/new' },
    { name: 'top-up', path: '/top-up' },
    { name: 'top-up-pending', path: `/top-up/${topup.body.id}` },
    { name: 'lists', path: '/payments/batches' },
    { name: 'new-list', path: '/payments/batches/new' },
    { name: 'list', path: `/payments/batches/${list.body.id}`, opened: [opens('Cancel batch')] },
    { name: 'history', path: '/history' },
    { name: 'statement', path: '/statements' },
    { name: 'spending', path: '/spending' },
    { name: 'keys', path: '/developers' },
    {
      name: 'key',
      path: `/agents/${home.agent.grantId}`,
      opened: [
        opens('Edit limits'),
        { name: 'limits saved', steps: [press('Edit limits'), press('Save limits')], shows: 'Limits saved' },
        opens('Freeze'),
        opens('Revoke'),
        opens('Rotate'),
        opens('Rotate', 'Rotate'),
      ],
    },
    {
      name: 'new-key',
      path: '/developers/keys/new',
      opened: [{ name: 'shown once', steps: [fill('Name', 'Night job'), press('Create key')] }],
    },
    { name: 'agents', path: '/agents', opened: [opens(/^Stop all agents/), opens(/^Freeze /)] },
    { name: 'refused', path: '/payments/refused' },
    { name: 'agent', path: `/agents/${agent.id}`, opened: [opens('Revoke')] },
    {
      name: 'frozen-agent',
      path: `/agents/${bot.grantId}`,
      opened: [opens('Unfreeze'), opens('Confirm 1 beneficiary'), opens('Archive 1 beneficiary'), opens('Archive 1 policy')],
    },
    { name: 'made-by-agent', path: `/beneficiaries?made_by=${bot.grantId}` },
    {
      name: 'events',
      path: '/developers/events',
      technical: true,
      opened: [{ name: 'event', steps: [(page) => page.getByText('payment.created').first().click()] }],
    },
    { name: 'requests', path: '/developers/requests', technical: true },
    {
      name: 'account',
      path: '/account',
      opened: ['Add a passkey', /^Link wallet$/, /^Unlink/, 'Sign out everywhere else'].map((name) => opens(name)),
    },
    { name: 'new-workspace', path: '/workspace/new' },
    { name: 'consent', path: `/consent?authorization=${authorization}` },
    { name: 'failed-consent', path: '/consent?authorization=oaz_01h455vb4pex5vsknk084sn02q' },
    { name: 'device', path: '/device' },
    { name: 'reconciliation', path: '/reconciliation' },
    { name: 'unknown', path: '/reconciliation/unknown' },
    { name: 'nowhere', path: '/payments/a/b/c' },
  ]
}

const teamViews = async (team: Team): Promise<{ views: View[]; member: Person }> => {
  await team.join('approver', 'Njeri Mwangi')
  const member = await team.join('member', 'Amina Otieno')
  const key = await createKey({ api: team.within(member) }, { name: 'Roaster’s agent' })
  const { token } = (await team.within(team.owner).post('/v1/workspaces/current/invitations', { role: 'viewer' })).body
  await team.hold('450000')
  const [payee] = (await team.within(team.owner).get('/v1/beneficiaries')).body.data
  const items = ['110000', '120000'].map((amount_minor) => ({ beneficiary_id: payee.id, amount_minor }))
  const list = await team.within(team.owner).post('/v1/payment-batches', { name: 'Salaries', items })
  const views: View[] = [
    {
      name: 'workspace',
      path: '/workspace',
      loaded: true,
      opened: [
        opens('Change Amina Otieno'),
        opens('Remove Amina Otieno'),
        opens('Invite'),
        opens('Invite', 'Create invitation'),
        opens(/^Revoke /),
        opens('Freeze workspace'),
        { ...opens(/^Cancel invitation/), shows: 'Invitation cancelled' },
      ],
    },
    { name: 'member-agent', path: `/agents/${key.grantId}`, opened: [opens('Revoke'), opens('Freeze')] },
    { name: 'activity', path: '/workspace/activity' },
    { name: 'approval-of-others', path: '/approvals' },
    { name: 'approval-of-list', path: `/approvals/${list.body.approval_id}` },
    { name: 'invitation', path: `/invitation#${token}`, loaded: true },
  ]
  return { views, member }
}

/** Layout shifts since a time without a person's action. */
const layoutShift = (since: number) => `new Promise((resolve) => {
  let sum = 0
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput && entry.startTime >= ${since}) sum += entry.value }).observe({ type: 'layout-shift', buffered: true })
  requestAnimationFrame(() => setTimeout(() => resolve(sum)))
})`

const settled = async (page: Page) => {
  await page.locator('main h1').first().waitFor()
  await page.locator('.skeleton, main[aria-busy="true"]').first().waitFor({ state: 'detached' })
}

/** Texts that no page may show: ids, codes, the API's field names, and traces of missing values. */
const notForPeople =
  /\b[a-z]{2,4}_[0-9a-hjkmnp-tv-z]{26}\b|\b[a-z]+_[a-z_]+\b|\b[A-Z]{3,}_[A-Z0-9_]+\b|\bPESALINK\b|\bundefined\b|\bnull\b|\bNaN\b|Invalid Date|\buntil in\b|\b(some|no|any|every)body\b/

/** The visible texts, except those set as code: signed texts, addresses, keys. */
const textsIn = (within: string) => `(() => {
  const texts = []
  const walker = document.createTreeWalker(document.querySelector('${within}'), NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const { parentElement: element, data } = walker.currentNode
    if (data.trim() && element.checkVisibility() && !element.closest('.mono, code, pre, .message-block, .signed-text, .code-block, [data-secret], script'))
      texts.push(data.trim())
  }
  return texts
})()`

const strayWords = async (page: Page, within: string): Promise<string[]> =>
  (await page.evaluate<string[]>(textsIn(within))).filter((text) => notForPeople.test(text)).map((text) => `says "${text}"`)

/** Returns when it was opened, by the page's clock. */
const openView = async (page: Page, { path, loaded, prepare }: View): Promise<number> => {
  await prepare?.(page)
  if (loaded) {
    await page.goto(path)
    return 0
  }
  const since = await page.evaluate<number>('performance.now()')
  await follow(page, path)
  return since
}

const lookAtPage = async (page: Page, inspector: Inspector, view: View): Promise<string[]> => {
  const { name, loading, shows, technical } = view
  const since = await openView(page, view)
  if (loading) await page.locator('main .skeleton').first().waitFor()
  else if (shows) await page.getByText(shows).first().waitFor({ state: 'attached' })
  else await settled(page)
  const shift = Number(await page.evaluate(layoutShift(since)))
  const violations = await inspector.inBothThemes(page)
  if (!technical) violations.push(...(await strayWords(page, 'body')))
  await page.setViewportSize(phone)
  const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
  await page.setViewportSize(desk)
  await takeScreenshots(page, name)
  return [...violations, ...(shift > 0.1 ? [`jumps by ${shift}`] : []), ...(wide ? ['is wider than a phone'] : [])]
}

const lookAtOpened = async (page: Page, inspector: Inspector, view: View, opened: Opened): Promise<string[]> => {
  const { name, steps, shows, on } = opened
  if (on) await page.setViewportSize(on)
  for (const step of steps) await step(page)
  const dialog = page.getByRole('dialog')
  const review = page.getByRole('heading', { name: /^Pay KES/ })
  await (shows ? page.getByText(shows) : dialog.or(review)).first().waitFor()
  const over = !shows && (await dialog.count()) > 0
  const within = over ? 'dialog' : 'html'
  const violations = await inspector.inBothThemes(page, within)
  if (!view.technical) violations.push(...(await strayWords(page, over ? 'dialog' : 'body')))
  await takeScreenshots(page, `${view.name}-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`)
  if (on) await page.setViewportSize(desk)
  if (over) {
    await page.keyboard.press('Escape')
    // A dialog that shows a secret stays open until the person says that it is saved.
    if ((await dialog.locator('[data-secret]').count()) > 0) await dialog.locator('.dialog-footer button').click()
    await dialog.waitFor({ state: 'detached' })
  }
  return violations.map((finding) => `${name}, ${finding}`)
}

const problemsOf = async (page: Page, inspector: Inspector, views: readonly View[]): Promise<string[]> => {
  const problems: string[] = []
  for (const view of views) {
    const violations = await lookAtPage(page, inspector, view)
    for (const opened of view.opened ?? []) violations.push(...(await lookAtOpened(page, inspector, view, opened)))
    if (view.prepare) await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.context().setOffline(false)
    problems.push(...violations.map((finding) => `${view.name}: ${finding}`))
  }
  return problems
}

export const everyView = (world: World): void => {
  const { inspector } = world
  const expectSound = async ({ page, complaints, close }: Visit, views: readonly View[]) => {
    const problems = await problemsOf(page, inspector, views)
    expect(problems, problems.join('\n')).toEqual([])
    expect(complaints).toEqual([])
    await close()
  }

  test('every page calls no other site, does not shift, fits a phone and shows no code; with its dialogs, while loading and after a failure, it has no accessibility finding in either theme', async () => {
    world.service.clock.set(new Date())
    const home = await createHousehold(world.service)
    await expectSound(await visitAs(world, home.person), await personalViews(world, home))
  }, 600_000)

  test('the same is true for the pages of a team, for its owner and for a member', async () => {
    const team = await createTeam(world.service)
    const { views, member } = await teamViews(team)
    for (const { api } of [team.owner, member]) await api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    await expectSound(await visitAs(world, team.owner), views)
    const own = { name: 'workspace-of-member', path: '/workspace', loaded: true, opened: [opens('Leave')] }
    const documents = ['/docs/guides/quickstart', '/docs/errors/policy_denied'].map((path) => ({
      name: path.slice('/docs/'.length).replace('/', '-'),
      path,
      loaded: true,
      shows: /Quickstart|policy_denied/,
      technical: true,
    }))
    await expectSound(await visitAs(world, member), [own, ...documents])
  })

  test('the same is true in every other role: for an approver, a viewer, an administrator of the service and a newcomer', async () => {
    const team = await createTeam(world.service)
    const [approver, viewer] = [await team.join('approver', 'Njeri Mwangi'), await team.join('viewer', 'Otieno Audit')]
    await team.hold('450000', '460000')
    for (const { api } of [approver, viewer]) await api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    const newcomer = await signIn(world.service.api)
    const administrator = await signIn(world.service.api, world.administrator)
    const everywhere = ['/', '/payments', '/beneficiaries', '/agents', '/statements', '/spending', '/approvals', '/workspace']
    // Roles that see the same page share one check.
    for (const [role, person, paths] of [
      ['approver', approver, ['/', '/payments', '/approvals', '/history']],
      ['viewer', viewer, [...everywhere, '/top-up', '/payments/new', '/workspace/activity']],
      ['administrator', administrator, ['/', '/reconciliation']],
      ['newcomer', newcomer, [...everywhere, '/policies', '/mandates', '/developers']],
    ] as const)
      await expectSound(
        await visitAs(world, person),
        paths.map((path, index) => ({
          name: `${role}${path === '/' ? '-overview' : path.replaceAll('/', '-')}`,
          path,
          loaded: index === 0,
        })),
      )
  }, 600_000)

  test("the same is true for the sign-in and the service's own pages around it", async () => {
    const person = await signIn(world.service.api)
    const { body } = await person.api.post('/v1/accounts/me/identities', { provider: 'google', return_to: '/account' })
    // The page shows the account's id too, because a chosen name could deceive.
    const link = { name: 'link', path: body.authorization_url, loaded: true, shows: /^Link Google to/, technical: true }
    const google = { name: 'google', steps: [press('Continue with the sandbox’s Google')], shows: /Amina Otieno/ }
    const ended = { name: 'sign-in-ended', path: '/sign-in?reason=session_ended', shows: 'Your session has ended', loaded: true }
    const confirmed = { name: 'not-confirmed', path: '/sign-in/confirmed?outcome=denied', shows: 'Not confirmed', loaded: true }
    const signIns = [{ name: 'sign-in', path: '/sign-in', loaded: true, opened: [google] }, ended, confirmed, link]
    await expectSound(await visit(world), signIns)
  })
}
