import type { Locator, Page } from 'playwright-core'
import { encode } from 'uqr'
import { expect, test } from 'vitest'
import { newId } from '../../../src/lib/ids.ts'
import { approvalMessage } from '../../../src/modules/payments/approvals/message.ts'
import { warningText } from '../../../src/policy/explain.ts'
import type { Warning } from '../../../src/policy/types.ts'
import { fund, newBeneficiary } from '../../harness/money.ts'
import { newWallet, signIn } from '../../harness/people.ts'
import { createHousehold, type Household } from '../household.ts'
import { takeScreenshots } from '../screenshots.ts'
import { createTeam } from '../team.ts'
import { countSteps, phone, visit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

/** The dark squares of a QR code, as "x,y". */
const modulesOf = async (code: Locator): Promise<string[]> => {
  const path = (await code.locator('path').getAttribute('d')) ?? ''
  return [...path.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => `${x},${y}`)
}
const modulesFor = (text: string): string[] =>
  encode(text, { ecc: 'M', border: 2 }).data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`${x},${y}`] : [])))

const statusOf = async (home: Household): Promise<string> =>
  (await home.person.api.get(`/v1/approvals/${home.approvalId}`)).body.status

/** The height of a small phone. */
const small = { width: 360, height: 740 }

/** The lines of a signed text that a person at this page cannot see, and whether the answer bar is out of view. */
const linesMissingOn = async (page: Page, message: string): Promise<string[]> => {
  const bar = page.locator('.answer-bar')
  await bar.waitFor()
  const box = await bar.boundingBox()
  const height = page.viewportSize()?.height ?? 0
  const isInView = box !== null && box.y >= 0 && box.y + box.height <= height
  const shown = await page.evaluate<string[]>("document.querySelector('main').innerText.split('\\n').map((line) => line.trim())")
  const missing = message.split('\n').filter((line) => line !== '' && !shown.includes(line))
  return [...missing, ...(isInView ? [] : ['the answer'])]
}

export const approvalLinkFlows = (world: World): void => {
  test('can be decided on a phone by a wallet holder who is not signed in; another wallet is refused', async () => {
    const home = await createHousehold(world.service)
    const { page, wallet, complaints, close } = await visit(world, {
      wallets: [newWallet(), home.person.wallet],
      viewport: phone,
    })
    await page.goto(`/approve/${home.approvalId}`)
    await page.getByRole('heading', { name: /^KES\s23,499 to Savannah Supplies Ltd$/ }).waitFor()
    await page.getByRole('button', { name: 'Approve with Test Wallet' }).click()
    await page.getByText('Sign again with a wallet that is linked to the account.').waitFor()
    await expect.poll(() => statusOf(home)).toBe('pending')
    await page.getByRole('button', { name: 'Choose another account in Test Wallet' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    expect(wallet.signed).toHaveLength(2)
    await expect.poll(() => statusOf(home)).toBe('approved')
    expect(complaints).toEqual([])
    await close()
  })

  test('is approved in one press by a wallet in the browser', async () => {
    const home = await createHousehold(world.service)
    const { page, complaints, close } = await visit(world, { wallets: [home.person.wallet], viewport: phone })
    await page.goto(`/approve/${home.approvalId}`)
    const byWallet = countSteps()
    await byWallet.press(page.getByRole('button', { name: 'Approve with Test Wallet' }))
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    expect(byWallet.steps).toBe(1)
    await expect.poll(() => statusOf(home)).toBe('approved')
    expect(complaints).toEqual([])
    await close()
  })

  test('can be rejected by a pasted signature; until the text of a rejection is there, no rejection can be signed', async () => {
    const home = await createHousehold(world.service)
    const { page, wallet, close } = await visit(world)
    const loaded = Promise.withResolvers<void>()
    await page.route('**/message?decision=reject', async (route) => {
      await loaded.promise
      await route.continue()
    })
    await page.goto(`/approve/${home.approvalId}`)
    await page.getByRole('button', { name: 'Approve with Test Wallet' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^Reject/ }).count()).toBe(0)
    loaded.resolve()
    await page.getByRole('button', { name: 'Reject with Test Wallet' }).waitFor()
    await page.getByText('Sign on another device or tool').click()
    await page.getByRole('button', { name: 'Reject', exact: true }).click()
    await page.getByRole('button', { name: 'Copy message' }).click()
    const message = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(message).toContain('asks you to REJECT a payment')
    await page.getByLabel('Signature').fill(await home.person.wallet.signMessage({ message }))
    await page.getByRole('button', { name: 'Submit signature' }).click()
    await page.getByRole('heading', { name: 'Rejected' }).waitFor()
    await expect.poll(() => statusOf(home)).toBe('rejected')
    expect(wallet.signed).toEqual([])
    await close()
  })

  test('a rejection is signed over the current text: one that changed while the page was open is read again', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await fund(world.service, person, 1_000_000n)
    const payee = await newBeneficiary(person.api, { display_name: 'Wanjiru Kamau' })
    await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1' })
    await world.service.settle()
    const paid = await person.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '45000' })
    const { page, wallet, close } = await visit(world, { wallets: [person.wallet] })
    await page.goto(`/approve/${paid.body.approval_id}`)
    await page.getByRole('button', { name: 'Reject with Test Wallet' }).waitFor()
    const renewed = page.waitForResponse(
      async (answer) => answer.url().endsWith('decision=reject') && (await answer.text()).includes('JANE D**'),
    )
    // The rail is asked for a name once a minute at most.
    world.service.clock.advance(60)
    world.service.sandbox.rules.add({ effect: 'name_other', times: 1, delay_ms: 0 })
    await person.api.post(`/v1/beneficiaries/${payee}/verify`)
    await world.service.settle()
    await renewed
    await page.getByText(/^JANE D/).waitFor()
    await page.getByRole('button', { name: 'Reject with Test Wallet' }).click()
    await page.getByRole('heading', { name: 'Rejected' }).waitFor()
    expect(wallet.signed).toHaveLength(1)
    await close()
  })

  test('an approval that cannot be read is not said to be another person’s, and a late signature is not blamed on the wallet', async () => {
    const home = await createHousehold(world.service)
    const { page, close } = await visitAs(world, home.person)
    const path = `**/v1/approvals/${home.approvalId}`
    await page.route(path, (route) => route.abort())
    await page.goto(`/approve/${home.approvalId}`)
    await page.getByText('The service could not be reached').waitFor()
    await expect.poll(() => page.getByText('You can’t decide this with this account.').count()).toBe(0)
    await home.person.api.post(`/v1/approvals/${home.approvalId}/decide`, { decision: 'reject' })
    await page.route('**/message?*', (route) => route.abort())
    await page.getByRole('button', { name: 'Approve with Test Wallet' }).click()
    await page.getByText('You have already decided differently.').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Choose another account in Test Wallet' }).count()).toBe(0)
    await page.unrouteAll()
    await close()
  })

  const messageOf = async (id: string): Promise<string> =>
    (await world.service.api.get(`/v1/approvals/${id}/message`)).body.message

  test('the page has every line of the text that is signed, and the answer in view, whatever is decided', async () => {
    const home = await createHousehold(world.service)
    const { api } = home.person
    const ask = { name: 'Everything', approval_threshold_minor: '100' }
    await api.post('/v1/spending-policies', ask)
    const pay = (beneficiary_id: string, fields: object) =>
      home.agent.api.post('/v1/payments', { beneficiary_id, amount_minor: '20000', ...fields })
    const paybill = await pay(home.beneficiaries.business, { account_reference: '14253687' })
    const again = await pay(home.beneficiaries.business, { account_reference: '14253687' })
    const items = Array.from({ length: 12 }, (_, index) => ({
      display_name: `Fundi ${index + 1}`,
      payment_rail: 'MPESA_B2C',
      destination: `25471200${String(1000 + index)}`,
      amount_minor: String(10_000 + index * 100),
    }))
    const list = await api.post('/v1/payment-batches', { name: 'Site, week 12', items })
    const { page, complaints, close } = await visit(world)
    const titles: string[] = []
    for (const id of [home.approvalId, paybill.body.approval_id, again.body.approval_id, list.body.approval_id]) {
      await page.setViewportSize(small)
      await page.goto(`/approve/${id}`)
      await expect.poll(async () => linesMissingOn(page, await messageOf(id))).toEqual([])
      await takeScreenshots(page, `approve-${titles.length}`)
      titles.push(((await page.getByRole('heading').first().textContent()) ?? '').replace('\u00a0', ' '))
    }
    expect(titles).toEqual([
      'KES 23,499 to Savannah Supplies Ltd',
      'KES 200 to Kenya Power',
      'KES 200 to Kenya Power',
      'KES 1,266 to 12 people',
    ])
    expect(await messageOf(home.approvalId)).toContain('\nWarning: First payment to this destination.\n')
    expect(await messageOf(again.body.approval_id)).toContain('\nWarning: Possible duplicate of a payment made at')
    expect(complaints).toEqual([])
    await close()
  })

  test('of a text with every kind of warning, and of one with lines that the page does not know, none is left out', async () => {
    const home = await createHousehold(world.service)
    const { page, close } = await visit(world, { viewport: small })
    const at = new Date()
    const by = { accountId: newId(), grantId: newId(), label: 'Night agent' }
    const warnings: Record<Warning['code'], Warning> = {
      possible_duplicate: { code: 'possible_duplicate', paymentId: newId(), createdAt: at },
      name_differs: { code: 'name_differs', name: 'Savannah Supplies', givenName: 'Savana Suplies' },
      new_payee: { code: 'new_payee', by, at },
      changed_payee: { code: 'changed_payee', by, at },
      similar_name: { code: 'similar_name', beneficiaryId: newId(), name: 'Savannah Supplies' },
      name_mismatch: { code: 'name_mismatch', verification: 'no_match', name: 'P. Kariuki' },
      unusual_amount: { code: 'unusual_amount', typicalAmountMinor: 30_000n },
    }
    const facts = {
      domain: 'localhost:3000',
      approvalId: newId(),
      paymentId: newId(),
      amountMinor: 2_349_900n,
      currency: 'KES',
      beneficiaryName: 'Savannah Supplies Ltd',
      rail: 'PESALINK',
      destinationMask: '*********6523',
      destinationDigest: 'ab'.repeat(32),
      reportedName: 'P. Kariuki',
      nameSource: 'lookup',
      verification: 'no_match',
      warnings: Object.values(warnings).map((warning) => warningText(warning, 'KES')),
      accountReference: 'PO-2291',
      narrative: 'Paper: toner and chairs',
      requester: 'Procurement agent, an agent of Wanjiku Kamau',
      workspace: 'Personal',
      sharedBalance: false,
      approverNames: ['Wanjiku Kamau'],
      feeMinor: 3000n,
      policyVersions: [],
      nonce: 'cd'.repeat(16),
      executeAt: at,
      expiresAt: at,
    } as const
    const unknown =
      'A service asks you to APPROVE something else.\n\nColour: red\nno label at all\n- an item\nWarning, twice: odd\n\nNonce: 1'
    for (const message of [approvalMessage('approve', facts), unknown]) {
      const expires_at = new Date(Date.now() + 3_600_000).toISOString()
      const json = { message, facts: [], payments_count: 1, currency: 'KES', status: 'pending', expires_at }
      await page.route(/\/message\?/, (route) => route.fulfill({ json }))
      await page.goto(`/approve/${home.approvalId}`)
      await expect.poll(() => linesMissingOn(page, message)).toEqual([])
      await takeScreenshots(page, `approve-${message.length}`)
      await page.unrouteAll()
    }
    await page.getByRole('heading', { name: 'A service asks you to APPROVE something else.' }).waitFor()
    await close()
  })

  test('a person without a wallet signs in at the link, comes back to it and decides there, in four presses; afterwards it says how it ended', async () => {
    const team = await createTeam(world.service)
    await team.join('approver', 'Amina Otieno')
    const [id = '', other = ''] = await team.hold('450000', '230000')
    const { token } = (await team.within(team.owner).post('/v1/workspaces/current/invitations', { role: 'approver' })).body
    const { page, context, close } = await visit(world, { wallets: [], viewport: phone })
    const signInAt = async (walk = countSteps()) => {
      await page.goto(`/approve/${id}`)
      await walk.press(page.getByRole('link', { name: 'Sign in to decide' }))
      await walk.press(page.getByRole('button', { name: 'Continue with the sandbox’s Google' }))
      // The provider's own page.
      await page.getByRole('link', { name: /Brian/ }).click()
      await page.waitForURL(`**/approve/${id}`)
      return walk
    }
    await signInAt()
    await page.getByText('You can’t decide this with this account.').waitFor()
    const accept = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token }) }
    const accepting = `fetch('/v1/workspaces/invitations/accept', ${JSON.stringify(accept)}).then((answer) => answer.status)`
    expect(await page.evaluate(accepting)).toBe(200)
    await context.clearCookies()
    const walk = await signInAt()
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await takeScreenshots(page, 'approve-signed-in')
    await page.setViewportSize(phone)
    await walk.press(page.getByRole('button', { name: 'Approve', exact: true }))
    await walk.press(page.getByRole('dialog').getByRole('button', { name: /^Approve KES/ }))
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    expect(walk.steps).toBe(4)
    const approval = async (one: string) => (await team.within(team.owner).get(`/v1/approvals/${one}`)).body
    await expect.poll(() => approval(id)).toMatchObject({ status: 'approved', decisions: [{ via: 'credential' }] })
    const offered = page.getByRole('button', { name: /Approve|Reject/ }).or(page.getByText('Sign in to decide'))
    await page.reload()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    await expect.poll(() => offered.count()).toBe(0)
    await context.clearCookies()
    await page.reload()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    await expect.poll(() => offered.count()).toBe(0)
    // The page notices another person's decision without a reload.
    await page.goto(`/approve/${other}`)
    await page.getByText('Sign in to decide').waitFor()
    await team.within(team.owner).post(`/v1/payments/${(await approval(other)).payment.id}/cancel`)
    await page.getByRole('heading', { name: 'Cancelled' }).waitFor()
    await expect.poll(() => offered.count()).toBe(0)
    await close()
  })

  test('the requester, who may not decide, is offered no signature', async () => {
    const team = await createTeam(world.service)
    await team.join('approver', 'Amina Otieno')
    const [id] = await team.hold('450000')
    await team.owner.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    const { page, close } = await visitAs(world, team.owner)
    for (const path of [`/approve/${id}`, `/approvals/${id}`]) {
      await page.goto(path)
      await page.getByText('You requested this payment').waitFor()
      await expect.poll(() => page.getByRole('button', { name: /^(Approve|Reject|Sign approval)/ }).count()).toBe(0)
      await expect.poll(() => page.getByText('Sign on another device').count()).toBe(0)
    }
    await close()
  })

  test('a phone without a wallet in its browser gets a link into each wallet’s app; a larger screen shows the link as a QR code', async () => {
    const home = await createHousehold(world.service)
    const { page, close } = await visitAs(world, home.person)
    const signingPage = `${world.service.api.url}/approve/${home.approvalId}`
    await page.goto(`/approvals/${home.approvalId}`)
    await page.getByRole('button', { name: 'QR code' }).click()
    await expect
      .poll(() => modulesOf(page.getByRole('img', { name: 'Signing link as a QR code' })))
      .toEqual(modulesFor(signingPage))

    // A browser without a wallet: first at a desk, then on a phone.
    const { page: bare, context, close: closeBare } = await visit(world, { wallets: [] })
    await bare.goto(signingPage)
    await bare.getByText('Use a wallet on your phone').click()
    await expect.poll(() => modulesOf(bare.getByRole('img', { name: 'This page as a QR code' }))).toEqual(modulesFor(signingPage))
    const links = bare.getByRole('link', { name: /^Open in / })
    await expect.poll(() => links.count()).toBe(0)
    const devtools = await context.newCDPSession(bare)
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true })
    await devtools.send('Emulation.setDeviceMetricsOverride', { ...phone, deviceScaleFactor: 1, mobile: true })
    await bare.reload()
    await bare.getByText('Open this page in your wallet app').waitFor()
    const addresses = await Promise.all((await links.all()).map((link) => link.getAttribute('href')))
    const [metamask = '', coinbase = '', trust = ''] = addresses.map((address) => address ?? '')
    expect(addresses).toHaveLength(3)
    expect(metamask).toBe(`https://link.metamask.io/dapp/${signingPage.replace('http://', '')}`)
    expect(coinbase).toBe(`https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(signingPage)}`)
    expect(trust).toBe(`https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(signingPage)}`)
    // The page offers no signature that no wallet here can make, and sign-in begins with the methods possible here.
    const cookie = { name: 'service_session', value: home.person.cookie, url: world.service.api.url }
    await bare.goto('/sign-in')
    await bare.getByText('Sandbox', { exact: true }).waitFor()
    await expect.poll(() => bare.locator('main').getByRole('button').first().textContent()).toContain('Google')
    await context.addCookies([{ ...cookie, httpOnly: true, sameSite: 'Lax' }])
    await bare.goto(`/approvals/${home.approvalId}`)
    await bare.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await expect.poll(() => bare.getByRole('button', { name: 'Sign approval' }).count()).toBe(0)
    // The emulated size ends with this session. Playwright sets a size only when it changes, and does not know this one.
    await devtools.detach()
    await bare.setViewportSize(phone)
    await closeBare()

    // If the browser has a wallet, only that wallet is offered.
    await page.goto(signingPage)
    await page.getByRole('button', { name: 'Approve with Test Wallet' }).waitFor()
    await expect.poll(() => page.getByText('No wallet in this browser').count()).toBe(0)
    await close()
  })
}
