import { expect, test } from 'vitest'
import { fund, newBeneficiary } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { createHousehold, type Household } from '../household.ts'
import { createTeam } from '../team.ts'
import { follow, openEachApproval, pagesOfOne, phone, visit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const statusOf = async (home: Household): Promise<string> =>
  (await home.person.api.get(`/v1/approvals/${home.approvalId}`)).body.status

export const approvalFlows = (world: World): void => {
  test('shows requester, amount, purpose and expiry, is approved by session, and shows the result', async () => {
    world.service.clock.set(new Date())
    const home = await createHousehold(world.service)
    const { page, complaints, close } = await visitAs(world, home.person)
    await page.goto(`/approvals/${home.approvalId}`)
    await page.getByRole('heading', { name: /^KES\s23,499 to Savannah Supplies Ltd$/ }).waitFor()
    for (const text of ['Procurement agent', 'First payment to this destination', '*********6523', 'PO-2291', 'Paper, toner'])
      await page.getByText(text).first().waitFor()
    await page
      .getByText(
        'Policy "Office expenses" requires 1 approval at or above KES 10,000.00 a day to one beneficiary, and KES 23,499.00 was requested.',
      )
      .first()
      .waitFor()
    await page.getByText('left in the account afterwards').waitFor()
    await page.getByLabel('Policy checks').getByText('Limits of “Procurement agent”').waitFor()
    await page.getByRole('button', { name: 'Approve' }).first().click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve KES/ })
      .click()
    await page.getByText(/Approved: KES\s23,499 to Savannah Supplies Ltd is on its way/).waitFor()
    await expect.poll(() => statusOf(home)).toBe('approved')
    await world.service.settle()
    await page.getByLabel('What happened').getByText('Succeeded').waitFor()
    await expect.poll(() => page.getByText('First payment to this destination').count()).toBe(0)
    expect(complaints).toEqual([])
    await close()
  })

  test('shows the last two names of the payee where they differ, and nothing of them where they are the same', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await fund(world.service, person, 1_000_000n)
    const named = { display_name: 'Wanjiru Kamau', destination: '254722100001' }
    const payee = await newBeneficiary(person.api, named)
    await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1' })
    await world.service.settle()
    const hold = async (amount_minor: string): Promise<string> => {
      const answer = await person.api.post('/v1/payments', { beneficiary_id: payee, amount_minor })
      await world.service.settle()
      return answer.body.approval_id
    }
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto(`/approvals/${await hold('45000')}`)
    await page.getByText('The payment method reports the same name: WANJIRU N**** K****').waitFor()
    await expect.poll(() => page.getByText('The reported name changed').count()).toBe(0)

    // The rail is asked for a name once a minute at most.
    world.service.clock.advance(60)
    world.service.sandbox.rules.add({ effect: 'name_other', times: 1, delay_ms: 0 })
    expect((await person.api.post(`/v1/beneficiaries/${payee}/verify`)).status).toBe(202)
    await world.service.settle()
    await page.goto(`/approvals/${await hold('46000')}`)
    await page.getByText(/^The reported name changed: WANJIRU N\*\*\*\* K\*\*\*\* .*, now JANE D\*\*/).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('only whom a policy names is asked and can decide; when they are on leave an owner names another, and the page says who may and who has', async () => {
    world.service.clock.set(new Date())
    const team = await createTeam(world.service)
    const [amina, brian] = [await team.join('approver', 'Amina Otieno'), await team.join('approver', 'Brian Kamau')]
    const owner = team.within(team.owner)
    const rule = { name: 'Coffee', approval_threshold_minor: '100000', approver_ids: [amina.accountId] }
    const policy = (await owner.post('/v1/spending-policies', rule)).body
    const [id] = await team.hold('250000')
    const not = /^A policy lets only Amina Otieno decide this\./
    const [other, manager] = [await visitAs(world, brian), await visitAs(world, team.owner)]
    const waiting = other.page.getByRole('link', { name: /Approvals 1 waiting/ }).first()
    await other.page.goto(`/approvals/${id}`)
    await other.page.getByText(not).waitFor()
    await other.page.getByText('Who can decide').waitFor()
    await expect.poll(() => other.page.getByRole('button', { name: /^(Approve|Reject)/ }).count()).toBe(0)
    await expect.poll(() => waiting.count()).toBe(0)
    const { data: members } = (await owner.get('/v1/workspaces/current/members')).body
    const { id: memberId } = members.find((one: { account_id: string }) => one.account_id === amina.accountId)
    const headers = { 'workspace-id': team.workspaceId }
    await team.owner.api.patch(`/v1/workspaces/current/members/${memberId}`, { status: 'suspended' }, { headers })
    await manager.page.goto(`/approvals/${id}`)
    await manager.page.getByText(not).waitFor()
    await manager.page.getByText('No one right now').waitFor()
    const refused = 'The payment needs 1 approval by people whom a policy names, and no one of them can give one.'
    await manager.page.getByText(refused).first().waitFor()
    await follow(manager.page, `/policies/${policy.id}`)
    const approvers = manager.page.getByRole('group', { name: 'Only these people approve' })
    await approvers.getByLabel('Brian Kamau').check()
    await approvers.getByLabel('Amina Otieno').uncheck()
    await manager.page.getByRole('button', { name: 'Save policy' }).click()
    await expect
      .poll(async () => (await owner.get(`/v1/spending-policies/${policy.id}`)).body.approver_ids)
      .toEqual([brian.accountId])
    await other.page.reload()
    await waiting.waitFor()
    await other.page
      .getByRole('button', { name: /^Approve/ })
      .first()
      .click()
    await other.page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve KES/ })
      .click()
    await other.page.getByText(/Approved: KES\s2,500 to Roastery Kiambu is on its way/).waitFor()
    await follow(manager.page, `/approvals/${id}`)
    await manager.page.getByText('Approved by Brian Kamau').waitFor()
    await expect.poll(() => manager.page.getByText(/^Who (else )?can decide$/).count()).toBe(0)
    expect([...other.complaints, ...manager.complaints]).toEqual([])
    await Promise.all([other.close(), manager.close()])
  })

  test('can be decided by keyboard alone: choose, reject, give a reason', async () => {
    const home = await createHousehold(world.service)
    const { page, close } = await visitAs(world, home.person)
    await page.goto('/approvals')
    await page.getByText('Savannah Supplies Ltd').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('r')
    await page.getByRole('dialog').getByLabel('Reason').fill('We have enough chairs')
    await page.keyboard.press('Enter')
    await page.getByText(/Rejected: .* won’t be sent/).waitFor()
    await page.getByText('You’re all caught up').waitFor()
    await expect.poll(() => statusOf(home)).toBe('rejected')
    await close()
  })

  test('an inbox of several pages counts and shows every approval', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    await team.hold('150000', '230000', '350000')
    const { page, close } = await visitAs(world, approver)
    await pagesOfOne(page, '/v1/approvals')
    await page.goto('/approvals')
    await page
      .getByRole('link', { name: /Approvals 3 waiting/ })
      .first()
      .waitFor()
    await expect.poll(() => page.locator('[data-row]').count()).toBe(3)
    await close()
  })

  test('a link opened by another member after a fresh sign-in leads to the approval in its workspace, and says so', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    const { data: views } = (await approver.api.get('/v1/workspaces')).body
    const personal = views.find((view: { workspace: { kind: string } }) => view.workspace.kind === 'personal').workspace
    await approver.api.put('/v1/workspaces/current', { workspace_id: personal.id })
    const [id] = await team.hold('450000')
    const [payment] = (await team.within(team.owner).get('/v1/payments')).body.data
    const [policy] = (await team.within(team.owner).get('/v1/spending-policies')).body.data
    const { page, complaints, close } = await visit(world, { wallets: [approver.wallet] })
    await page.goto(`/approvals/${id}`)
    await page.getByRole('button', { name: /Test Wallet/ }).click()
    await page.getByRole('heading', { name: /KES\s4,500 to Roastery Kiambu/ }).waitFor()
    await page.getByText('Switched to Savannah Coffee').waitFor()
    await page.getByText('Wanjiku Kamau').first().waitFor()
    await page.getByRole('button', { name: 'Workspace Savannah Coffee' }).first().waitFor()
    const others = [
      [`/payments/${payment.id}`, /KES\s4,500 to Roastery Kiambu/],
      [`/policies/${policy.id}`, 'Team rules'],
    ] as const
    for (const [path, name] of others) {
      await page.getByRole('button', { name: 'Workspace Savannah Coffee' }).first().click()
      await page
        .getByRole('button', { name: /Personal/ })
        .last()
        .click()
      await page.getByRole('button', { name: 'Workspace Personal' }).first().waitFor()
      await follow(page, path)
      await page.getByRole('heading', { name }).first().waitFor()
      await page.getByRole('button', { name: 'Workspace Savannah Coffee' }).first().waitFor()
    }
    expect(complaints).toEqual([])
    await close()
  })

  test('approvals of every workspace are counted and selected by keyboard alone, and approved by one confirmation that lists all, but never one with a caution that was not opened', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    await team.payUsually()
    const ids = await team.hold('110000', '140000', '990000')
    const { page, complaints, close } = await visitAs(world, approver)
    // Starts in the personal workspace, in which nothing waits.
    await page.goto('/approvals')
    await page.getByText('Green beans').nth(2).waitFor()
    await expect.poll(() => page.title()).toMatch(/^\(3\) /)
    await expect.poll(() => page.getAttribute('link[rel="icon"]', 'href')).toBe('/icon-waiting.svg')
    // The payment of 33 times the usual amount is on top, and not ticked.
    await expect.poll(() => page.locator('.inbox-row').first().textContent()).toContain('33 × the usual')
    await page.getByText('Select the other 2. 1 payment to open first').waitFor()
    await expect.poll(() => page.getByRole('checkbox', { name: /open it first/ }).isDisabled()).toBe(true)
    for (const key of ['j', 'x', 'j', 'x', 'j', 'x', 'a']) await page.keyboard.press(key)
    const dialog = page.getByRole('dialog', { name: 'Approve 2 payments?' })
    await expect.poll(() => dialog.locator('li').count()).toBe(2)
    await page.keyboard.press('Enter')
    await page.getByText('2 payments approved').waitFor()
    await expect.poll(() => page.title()).toMatch(/^\(1\) /)
    const statuses = await Promise.all(
      ids.map(async (id) => (await team.within(approver).get(`/v1/approvals/${id}`)).body.status),
    )
    expect(statuses.sort()).toEqual(['approved', 'approved', 'pending'])
    // The focus is on the remaining row, and r rejects it.
    await expect.poll(() => page.evaluate("document.activeElement?.closest('[data-row]') !== null")).toBe(true)
    await page.keyboard.press('r')
    await page.keyboard.press('Enter')
    await page.getByText('You’re all caught up').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('decided approvals are found behind all pending ones', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    const [first] = await team.hold('150000', '230000', '350000')
    await team.within(approver).post(`/v1/approvals/${first}/decide`, { decision: 'reject' })
    await approver.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    const { page, close } = await visitAs(world, approver)
    await pagesOfOne(page, '/v1/approvals')
    await page.goto('/approvals')
    const decided = page.locator('section', { has: page.getByRole('heading', { name: 'Decided in Savannah Coffee' }) })
    await decided.getByText('Rejected').waitFor()
    await close()
  })

  test('a decision that comes too late says who decided and when, and offers nothing more', async () => {
    world.service.clock.set(new Date())
    const team = await createTeam(world.service)
    const amina = await team.join('approver', 'Amina Otieno')
    const njeri = await team.join('approver', 'Njeri Mwangi')
    const [first, second] = await team.hold('150000', '230000')
    await amina.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    const { page, complaints, close } = await visitAs(world, amina)
    // This page hears nothing of the other decision.
    await page.route('**/v1/notifications/stream*', () => {})
    await page.goto(`/approvals/${first}`)
    await page.getByRole('button', { name: /^Reject/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: /^Reject KES/ }).waitFor()
    for (const [id, decision] of [
      [first, 'approve'],
      [second, 'reject'],
    ] as const)
      expect((await team.within(njeri).post(`/v1/approvals/${id}/decide`, { decision })).status).toBe(200)
    await dialog.getByRole('button', { name: 'Reject' }).click()
    await dialog.getByText(/^Njeri Mwangi approved it just now.$/).waitFor()
    await expect.poll(() => dialog.getByRole('button').allTextContents()).not.toContain('Reject')
    await expect.poll(() => dialog.getByRole('textbox').count()).toBe(0)
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page
      .getByText(/is on its way|Approved|Succeeded/)
      .first()
      .waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^Reject/ }).count()).toBe(0)
    expect(complaints).toEqual([])
    await close()
  })

  test('a list that cannot be read again stays, and says that it may be out of date', async () => {
    world.service.clock.set(new Date())
    const team = await createTeam(world.service)
    const amina = await team.join('approver', 'Amina Otieno')
    await team.hold('150000')
    await amina.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    const { page, close } = await visitAs(world, amina)
    await page.goto('/approvals')
    await page.getByText('Green beans').waitFor()
    for (const path of ['**/v1/approvals?*', '**/v1/payments?*'])
      await page.route(path, (route) => route.fulfill({ status: 400, json: { error: 'conflict', message: 'Not now.' } }))
    await team.hold('230000')
    await page.getByText('This list may be out of date. It was last updated just now.').first().waitFor()
    await page.getByText('Green beans').waitFor()
    await close()
  })

  test('on a phone the decision buttons are at the bottom, and the next approval follows', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    const [first] = await team.hold('150000', '230000')
    const { page, close } = await visitAs(world, approver, phone)
    await page.goto(`/approvals/${first}`)
    const approve = page.getByRole('button', { name: 'Approve', exact: true })
    await approve.waitFor()
    // The button is in the lower third of the screen, and large enough for a thumb.
    await expect.poll(async () => (await approve.boundingBox())?.y).toBeGreaterThan((phone.height * 2) / 3)
    expect((await approve.boundingBox())?.height).toBeGreaterThanOrEqual(44)
    await expect
      .poll(() => page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'))
      .toBe(true)
    await approve.click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve KES/ })
      .click()
    await page.getByRole('heading', { name: /KES\s2,300 to Roastery Kiambu/ }).waitFor()
    await close()
  })

  test('can be signed with the wallet by a person who is signed in', async () => {
    const home = await createHousehold(world.service)
    const { page, wallet, close } = await visitAs(world, home.person)
    await page.goto(`/approvals/${home.approvalId}`)
    await page.getByRole('button', { name: 'Sign approval' }).click()
    await page.getByRole('button', { name: 'Approve with Test Wallet' }).click()
    await page.getByText(/Approved: .* is on its way/).waitFor()
    expect(wallet.signed.at(-1)).toContain('asks you to APPROVE a payment')
    await page.getByText(/Signed by 0x/).waitFor()
    await close()
  })

  /** A team in which payments from 5,000 need both approvers, besides the policy by which they need one. */
  const createStrictTeam = async () => {
    const team = await createTeam(world.service)
    const policy = { name: 'Large payments', approval_threshold_minor: '500000', required_approval_count: 2 }
    await team.within(team.owner).post('/v1/spending-policies', policy)
    return { ...team, approver: await team.join('approver', 'Amina Otieno'), second: await team.join('approver', 'Njeri Mwangi') }
  }

  test('of two policies that require approval, the page names the one that requires most, as the service does', async () => {
    const { hold, within, approver } = await createStrictTeam()
    const [id] = await hold('600000')
    const { payment } = (await within(approver).get(`/v1/approvals/${id}`)).body
    const { page, close } = await visitAs(world, approver)
    await page.goto('/approvals')
    const { explanation } = payment.decision
    expect(explanation).toContain('Policy "Large payments" requires 2 approvals at or above KES 5,000.00')
    // The row already has the amount.
    const rule = explanation.replace(/, and KES [\d,.]+ was requested/, '')
    expect(rule).not.toBe(explanation)
    await page.locator('[data-row]').getByText(rule, { exact: true }).waitFor()
    await page.getByText('Green beans').click()
    await page.getByText(`Why it needs approval: ${explanation}`).waitFor()
    const others = page.locator('dt', { hasText: 'Who else can decide' }).locator('+ dd')
    await expect.poll(() => others.textContent()).toBe('Njeri Mwangi')
    await close()
  })

  test('of several approvals at once, those that still need another approver are counted separately, and keep waiting', async () => {
    const { hold, within, approver, second } = await createStrictTeam()
    const [once = '', twice = ''] = await hold('200000', '600000')
    const { page, complaints, close } = await visitAs(world, approver)
    await page.goto('/approvals')
    await page.getByText('0 of 2').waitFor()
    await page.getByText('2 payments to open first').waitFor()
    await openEachApproval(page, 2)
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Approve 2' }).click()
    const dialog = page.getByRole('dialog', { name: 'Approve 2 payments?' })
    await dialog.getByText('1 of them needs another approval after yours').waitFor()
    await dialog.getByRole('button', { name: 'Approve KES 8,000' }).click()
    await page.getByText('1 payment approved. 1 payment approved by you, waiting for another approval').waitFor()
    const others = page.locator('section', { has: page.getByRole('heading', { name: 'Waiting for someone else' }) })
    await others.getByText('1 of 2').waitFor()
    await page.getByText('You’re all caught up').waitFor()
    const statusOfEach = async () =>
      Promise.all([once, twice].map(async (id) => (await within(second).get(`/v1/approvals/${id}`)).body.status))
    await expect.poll(() => statusOfEach()).toEqual(['approved', 'pending'])
    await within(second).post(`/v1/approvals/${twice}/decide`, { decision: 'approve' })
    await expect.poll(() => statusOfEach()).toEqual(['approved', 'approved'])
    await others.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await close()
  })

  test('a payment that its approval could only end is announced as not sent, alone and among others', async () => {
    world.service.clock.set(new Date())
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    const owner = team.within(team.owner)
    const goneFor = async (display_name: string): Promise<string> => {
      const payee = await newBeneficiary(owner, { display_name })
      const { approval_id: id } = (await owner.post('/v1/payments', { beneficiary_id: payee, amount_minor: '150000' })).body
      await team.owner.api.delete(`/v1/beneficiaries/${payee}`, { headers: { 'workspace-id': team.workspaceId } })
      return id
    }
    const id = await goneFor('Gone Traders')
    const { page, complaints, close } = await visitAs(world, approver)
    await page.goto(`/approve/${id}`)
    await page.getByRole('button', { name: /^Approve( a)?$/ }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve KES/ })
      .click()
    await page
      .locator('.toast.tone-bad')
      .getByText(/^Approved, but KES\s1,500 to Gone Traders could not be sent/)
      .waitFor()
    expect((await owner.get(`/v1/approvals/${id}`)).body).toMatchObject({ status: 'approved', payment: { status: 'failed' } })

    await goneFor('Gone Again')
    await team.hold('160000')
    await page.goto('/approvals')
    await page.getByText('2 payments to open first').waitFor()
    await openEachApproval(page, 2)
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Approve 2' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve KES/ })
      .click()
    await page.getByText('1 payment approved. 1 payment approved, but not sent').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('an open approval and an open bulk decision follow what changes: policies, and the text to approve', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await fund(world.service, person, 1_000_000n)
    const payee = await newBeneficiary(person.api, { display_name: 'Wanjiru Kamau' })
    const other = await newBeneficiary(person.api, { display_name: 'Baraka Stores', destination: '254722100077' })
    await person.api.post('/v1/payments', { beneficiary_id: other, amount_minor: '30000' })
    await world.service.settle()
    await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1' })
    await world.service.settle()
    const { approval_id: id } = (await person.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '45000' })).body
    await person.api.post('/v1/payments', { beneficiary_id: other, amount_minor: '40000' })
    await world.service.settle()
    const { page, complaints, close } = await visitAs(world, person)
    const stream = page.waitForResponse(/notifications\/stream/)
    await page.goto(`/approvals/${id}`)
    await stream
    await page.getByLabel('Payment to decide').waitFor()
    const limit = (await person.api.post('/v1/spending-policies', { name: 'Small', daily_limit_minor: '100' })).body
    await page.getByText(/Right now it would be refused/).waitFor()
    await person.api.delete(`/v1/spending-policies/${limit.id}`)
    await page.getByText(/Right now it would be refused/).waitFor({ state: 'detached' })

    const nameOther = async (beneficiary: string) => {
      world.service.clock.advance(60)
      world.service.sandbox.rules.add({ effect: 'name_other', times: 1, delay_ms: 0 })
      await person.api.post(`/v1/beneficiaries/${beneficiary}/verify`)
      await world.service.settle()
    }
    await follow(page, '/approvals')
    // A payment that needed no closer look needs one while the dialog is open.
    await page.getByLabel(/^Select KES.*Baraka Stores$/).check()
    await page.getByRole('button', { name: 'Approve 1' }).click()
    const dialog = page.getByRole('dialog')
    const approve = dialog.getByRole('button', { name: /^Approve KES/ })
    expect(await approve.isEnabled()).toBe(true)
    await nameOther(other)
    await dialog.getByText('1 payment to open first').waitFor()
    expect(await approve.isDisabled()).toBe(true)
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await openEachApproval(page, 2)
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Approve 2' }).click()
    await dialog.getByText('Wanjiru Kamau').first().waitFor()
    await nameOther(payee)
    const row = dialog.getByRole('listitem').filter({ hasText: 'Wanjiru Kamau' })
    await row
      .getByText(/JANE D/)
      .first()
      .waitFor()
    await approve.click()
    await expect.poll(async () => (await person.api.get(`/v1/approvals/${id}`)).body.status).toBe('approved')
    expect(complaints).toEqual([])
    await close()
  })

  test('its announcement isolates a name written from the right, and stays while its button has the focus', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    const payee = await newBeneficiary(team.within(team.owner), { display_name: 'محمد' })
    const { page, context, complaints } = await visitAs(world, approver)
    await page.clock.install()
    const stream = page.waitForResponse(/notifications\/stream/)
    await page.goto('/account')
    await stream
    await team.within(team.owner).post('/v1/payments', { beneficiary_id: payee, amount_minor: '150000' })
    const toast = page.locator('.toast')
    await toast.getByText('\u2068محمد\u2069 needs your approval').waitFor()
    await toast.getByRole('button', { name: 'Review' }).focus()
    await page.clock.fastForward(8_000)
    expect(await toast.count()).toBe(1)
    await page.evaluate('document.activeElement.blur()')
    await page.clock.fastForward(8_000)
    await toast.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    // The page's clock is the test's, so no other test may have the window.
    await context.close()
  })

  test('is announced to members who may decide it, whichever workspace they have open, and counted in the tab, unless that is turned off', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    const { page, complaints, close } = await visitAs(world, approver)
    const stream = page.waitForResponse(/notifications\/stream/)
    await page.goto('/account')
    await stream
    await expect.poll(() => page.title()).toBe('Account · Payments')
    await team.hold('150000')
    await page.getByText(/KES\s1,500 to Roastery Kiambu needs your approval/).waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await expect.poll(() => page.title()).toMatch(/^\(1\) /)
    await page.getByLabel('Message when an approval is needed').uncheck()
    await page.getByLabel('Count in the tab').uncheck()
    await expect.poll(() => page.title()).toBe('Account · Payments')
    await team.hold('450000')
    await page.getByRole('link', { name: /^Approvals 2/ }).waitFor()
    await expect.poll(() => page.getByText(/KES\s4,500 .* needs your approval/).count()).toBe(0)
    await page.getByLabel('Message when an approval is needed').check()
    await team.hold('350000')
    await page.getByText(/KES\s3,500 to Roastery Kiambu needs your approval/).waitFor()
    await page.getByRole('button', { name: 'Review' }).click()
    await page.getByRole('heading', { name: /KES\s3,500 to Roastery Kiambu/ }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })
}
