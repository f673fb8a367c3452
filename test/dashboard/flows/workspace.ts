import type { Request } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Json } from '../../harness/client.ts'
import { newBeneficiary } from '../../harness/money.ts'
import { newWallet, signIn } from '../../harness/people.ts'
import { memberIdOf, standIn } from '../../workspaces/team.ts'
import { takeScreenshots } from '../screenshots.ts'
import { createTeam } from '../team.ts'
import { follow, loseFirstAnswer, visit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const workspaceFlows = (world: World): void => {
  test('a team is created, a person is invited, joins by the link, and gets another role', async () => {
    const owner = await signIn(world.service.api)
    await owner.api.patch('/v1/accounts/me', { display_name: 'Wanjiku Kamau' })
    const here = await visitAs(world, owner)
    await here.page.goto('/workspace/new')
    await here.page.getByLabel('Name', { exact: true }).fill('Duka Ltd')
    await here.page.getByRole('button', { name: 'Create workspace' }).click()
    await here.page.getByRole('button', { name: 'Workspace Duka Ltd' }).first().waitFor()
    await follow(here.page, '/workspace')
    await here.page.getByRole('button', { name: 'Invite' }).click()
    await here.page
      .getByRole('dialog')
      .getByRole('radio', { name: /Viewer/ })
      .check()
    await here.page.getByRole('dialog').getByRole('button', { name: 'Create invitation' }).click()
    const link = (await here.page.locator('[data-secret]').textContent()) ?? ''
    await here.page.getByRole('button', { name: 'Done' }).click()

    const there = await visit(world, { wallets: [newWallet()] })
    await there.page.goto(link)
    await there.page.getByRole('button', { name: /Test Wallet/ }).click()
    await there.page.getByRole('heading', { name: 'Join Duka Ltd' }).waitFor()
    await there.page.getByText('Wanjiku Kamau invited you to Duka Ltd as viewer.').waitFor()
    await there.page.getByRole('button', { name: 'Accept invitation' }).click()
    await there.page.getByText('You joined Duka Ltd').waitFor()
    await there.page.getByText('Duka Ltd has its own balance. It has no money yet.').waitFor()
    await expect.poll(() => there.page.getByRole('link', { name: 'Add money' }).count()).toBe(0)
    await here.page.goto('/')
    await here.page.getByRole('link', { name: 'Add money' }).waitFor()
    await follow(here.page, '/workspace')
    await expect.poll(() => there.page.getByRole('link', { name: 'New payment' }).count()).toBe(0)

    await here.page.getByRole('button', { name: /^Change 0x/ }).click()
    await here.page
      .getByRole('dialog')
      .getByRole('radio', { name: /^Member/ })
      .check()
    await here.page.getByRole('dialog').getByRole('button', { name: 'Save role' }).click()
    await there.page.getByRole('link', { name: 'New payment' }).first().waitFor()

    await there.page.getByRole('button', { name: 'Workspace Duka Ltd' }).first().click()
    await there.page
      .getByRole('button', { name: /Personal/ })
      .last()
      .click()
    await there.page.getByRole('button', { name: 'Workspace Personal' }).first().waitFor()
    expect([...here.complaints, ...there.complaints]).toEqual([])
    await here.close()
    await there.close()
  })

  test('a member who leaves a team, or is removed from it, goes on in the personal workspace, on the same page', async () => {
    world.service.clock.set(new Date())
    const team = await createTeam(world.service)
    const [leaver, removed] = [await team.join('viewer', 'Njeri Mwangi'), await team.join('viewer', 'Amina Otieno')]
    const visits = []
    for (const person of [leaver, removed]) {
      await standIn(person, team.workspaceId)
      visits.push(await visitAs(world, person))
    }
    const [here, there] = visits
    if (!here || !there) throw new Error('two members visit')
    await here.page.goto('/workspace')
    await here.page.getByRole('button', { name: 'Leave' }).click()
    await here.page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await here.page.getByText('You left Savannah Coffee').waitFor()
    await here.page.getByRole('button', { name: 'Workspace Personal' }).first().waitFor()

    // The page learns of the removal only when it is loaded again.
    await there.page.route('**/v1/notifications/stream*', () => {})
    await there.page.goto('/beneficiaries?q=kiambu')
    await there.page.getByText('Roastery Kiambu').waitFor()
    const { data } = (await team.within(team.owner).get('/v1/workspaces/current/members')).body
    const { id } = data.find(({ account_id }: Json) => account_id === removed.accountId)
    const headers = { 'workspace-id': team.workspaceId }
    expect((await team.owner.api.delete(`/v1/workspaces/current/members/${id}`, { headers })).status).toBe(200)
    await there.page.reload()
    await there.page.getByText('You no longer have access to that workspace. You’re now in Personal.').waitFor()
    await there.page.getByRole('button', { name: 'Workspace Personal' }).first().waitFor()
    expect(new URL(there.page.url()).pathname + new URL(there.page.url()).search).toBe('/beneficiaries?q=kiambu')
    for (const person of [leaver, removed]) await expect.poll(async () => (await person.api.get('/v1/payments')).status).toBe(200)
    await here.close()
    await there.close()
  })

  test('an invitation is still open after a sign-in with another account', async () => {
    const team = await createTeam(world.service)
    const { token } = (await team.within(team.owner).post('/v1/workspaces/current/invitations', { role: 'viewer' })).body
    const { page, complaints, close } = await visitAs(world, await signIn(world.service.api))
    await page.goto(`/invitation#${token}`)
    await page.getByRole('heading', { name: 'Join Savannah Coffee' }).waitFor()
    await page.getByRole('button', { name: 'Use another account' }).click()
    await page.getByRole('button', { name: /Test Wallet/ }).click()
    await page.getByRole('heading', { name: 'Join Savannah Coffee' }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a suspended member reads that the membership is suspended, and no page says that it is reconnecting', async () => {
    const team = await createTeam(world.service)
    const member = await team.join('member', 'Njeri Mwangi')
    await standIn(member, team.workspaceId)
    await standIn(team.owner, team.workspaceId)
    const path = `/v1/workspaces/current/members/${await memberIdOf(team.owner, member.accountId)}`
    await team.owner.api.patch(path, { status: 'suspended' })
    const { page, context, complaints } = await visitAs(world, member)
    await page.clock.install()
    const stream = page.waitForResponse(/notifications\/stream/)
    await page.goto('/')
    expect((await stream).status()).toBe(403)
    await page.getByText('Your membership here is suspended').waitFor()
    await page.clock.fastForward(2_000)
    expect(await page.getByText(/^Reconnecting/).count()).toBe(0)
    // The stream opens once the member is active again, and the page follows.
    await team.owner.api.patch(path, { status: 'active' })
    await expect
      .poll(async () => {
        await page.clock.fastForward(30_000)
        return page.getByText('Your membership here is suspended').count()
      })
      .toBe(0)
    expect(complaints).toEqual([])
    await context.close()
  })

  test('a member who is suspended while two tabs are open reads so in both', async () => {
    const team = await createTeam(world.service)
    const member = await team.join('member', 'Njeri Mwangi')
    await standIn(member, team.workspaceId)
    await standIn(team.owner, team.workspaceId)
    const { page, context, close } = await visitAs(world, member)
    await page.goto('/')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const second = await context.newPage()
    await second.goto('/payments')
    await second.getByRole('heading', { name: 'Payments', exact: true }).waitFor()
    const path = `/v1/workspaces/current/members/${await memberIdOf(team.owner, member.accountId)}`
    await team.owner.api.patch(path, { status: 'suspended' })
    for (const tab of [page, second]) await tab.getByText('Your membership here is suspended').waitFor()
    await close()
  })

  test('days are those of the zone in effect: a month ends on its last day, and a changed zone waits for its month', async () => {
    const owner = await signIn(world.service.api)
    const zones = { time_zone: 'America/New_York' }
    const { workspace } = (await owner.api.post('/v1/workspaces', { name: 'Hudson Ltd', ...zones })).body
    await standIn(owner, workspace.id)
    const { page, complaints, close } = await visitAs(world, owner)
    await page.goto('/workspace/activity')
    await page.getByRole('button', { name: 'Export evidence' }).click()
    const dialog = page.getByRole('dialog')
    const from = await dialog.getByLabel('From', { exact: true }).inputValue()
    const next = new Date(`${from}T00:00:00Z`)
    next.setUTCMonth(next.getUTCMonth() + 1)
    next.setUTCDate(0)
    expect(await dialog.getByLabel('To', { exact: true }).inputValue()).toBe(next.toISOString().slice(0, 10))
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await follow(page, '/workspace')
    await page.getByLabel('Time zone').selectOption('Pacific/Kiritimati')
    // Meanwhile another administrator renames the workspace: only the zone is this page's change.
    const renamed = await owner.api.patch('/v1/workspaces/current', { name: 'Hudson and Sons' })
    expect(renamed.status).toBe(200)
    await page.getByRole('button', { name: 'Workspace Hudson and Sons' }).first().waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Workspace saved').waitFor()
    expect((await owner.api.get('/v1/workspaces/current')).body.workspace).toMatchObject({
      name: 'Hudson and Sons',
      time_zone: 'Pacific/Kiritimati',
    })
    await follow(page, '/workspace/activity')
    await page.getByText('Days and times in New York time').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('an invitation whose answer was lost is replaced by one press, and its new link stays until the person closes it', async () => {
    world.service.clock.set(new Date())
    const owner = await signIn(world.service.api)
    const { page, close } = await visitAs(world, owner)
    await page.goto('/workspace')
    await page.getByRole('button', { name: 'Invite' }).click()
    await loseFirstAnswer(page, '/v1/workspaces/current/invitations')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create invitation' }).click()
    await dialog.getByText('The service could not be reached').waitFor()
    await dialog.getByRole('button', { name: 'Create invitation' }).click()
    await dialog.getByText('The invitation was created, but the response did not arrive').waitFor()
    expect(await dialog.locator('[data-secret]').count()).toBe(0)
    expect(await world.inspector.inBothThemes(page, 'dialog')).toEqual([])
    await takeScreenshots(page, 'invitation-lost')
    await dialog.getByRole('button', { name: 'Cancel it and create another' }).click()
    const link = new URL((await dialog.locator('[data-secret]').textContent()) ?? '')
    const preview = await owner.api.post('/v1/workspaces/invitations/preview', { token: link.hash.slice(1) })
    expect(preview.body.status).toBe('pending')
    const { data } = (await owner.api.get('/v1/workspaces/current/invitations')).body
    expect(data.map(({ status }: Json) => status)).toEqual(['pending', 'revoked'])
    for (const _ of [1, 2]) await page.keyboard.press('Escape')
    await page.mouse.click(2, 2)
    expect(await dialog.locator('[data-secret]').isVisible()).toBe(true)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
    await close()
  })

  test('a form that is sent again as it was after a lost answer repeats its first request, although another was sent in between', async () => {
    const person = await signIn(world.service.api)
    const { page, close } = await visitAs(world, person)
    await page.goto('/workspace/new')
    const name = page.getByLabel('Name', { exact: true })
    const create = page.getByRole('button', { name: 'Create workspace' })
    await loseFirstAnswer(page, '/v1/workspaces')
    const isOther = (request: Request) => request.postDataJSON()?.name === 'Other'
    await page.route(
      ({ pathname }) => pathname === '/v1/workspaces',
      (route) => (isOther(route.request()) ? route.abort() : route.fallback()),
    )
    await name.fill('Duka Ltd')
    await create.click()
    await page.getByText('The service could not be reached').waitFor()
    await name.fill('Other')
    const failed = page.waitForEvent('requestfailed', isOther)
    await create.click()
    await failed
    await expect.poll(() => create.getAttribute('aria-busy')).toBe(null)
    await name.fill('Duka Ltd')
    await create.click()
    await page.getByRole('button', { name: 'Workspace Duka Ltd' }).first().waitFor()
    const { data } = (await person.api.get('/v1/workspaces')).body
    expect(data.map(({ workspace }: Json) => workspace.name).sort()).toEqual(['Duka Ltd', 'Personal'])
    await close()
  })

  test('a viewer of a team creates a workspace from within the team', async () => {
    const team = await createTeam(world.service)
    const viewer = await team.join('viewer', 'Vera Viewer')
    await standIn(viewer, team.workspaceId)
    const { page, complaints, close } = await visitAs(world, viewer)
    await page.goto('/workspace')
    await page.getByRole('main').getByRole('link', { name: 'New workspace' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Duka la Vera')
    await page.getByRole('button', { name: 'Create workspace' }).click()
    await page.getByRole('button', { name: 'Workspace Duka la Vera' }).first().waitFor()
    const made = (await viewer.api.get('/v1/workspaces?limit=1')).body.data
    expect(made).toMatchObject([{ workspace: { name: 'Duka la Vera' }, membership: { role: 'owner' } }])
    expect(complaints).toEqual([])
    await close()
  })

  test('the emergency stop stops all payments, and every page says so until it is undone', async () => {
    const person = await signIn(world.service.api)
    const beneficiary = await newBeneficiary(person.api)
    const { page, close } = await visitAs(world, person)
    await page.goto('/workspace')
    await page.getByRole('button', { name: 'Freeze workspace' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Freeze now' }).click()
    await page.getByText('This workspace is frozen').waitFor()
    const paid = await person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })
    expect(paid.body.error).toBe('workspace_frozen')
    await follow(page, '/payments')
    await page.getByText('This workspace is frozen').waitFor()
    await follow(page, '/workspace')
    await page.getByRole('button', { name: 'Unfreeze workspace' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unfreeze' }).click()
    await page.getByText('This workspace is frozen').waitFor({ state: 'detached' })
    await close()
  })

  test('a team that shares its owner’s balance gets its own: asked for with the reason, signed by an approver, and each shows its money', async () => {
    const { service } = world
    const team = await createTeam(service, { isShared: true })
    const approver = await team.join('approver', 'Amina Otieno')
    const rule = { name: 'Two people', approval_threshold_minor: '0', required_approval_count: 2, approval_proof: 'signature' }
    await team.within(team.owner).post('/v1/spending-policies', rule)
    service.clock.advance(86_401)
    for (const person of [team.owner, approver]) {
      const renewed = await signIn(service.api, person.wallet)
      Object.assign(person, renewed)
      await standIn(person, team.workspaceId)
    }
    const there = await visitAs(world, approver)
    const stream = there.page.waitForResponse(/notifications\/stream/)
    await there.page.goto('/')
    await stream
    const here = await visitAs(world, team.owner)
    await here.page.goto('/')
    await here.page.getByText('without the other workspaces’ rules').waitFor()
    await takeScreenshots(here.page, 'separation-form')
    expect(await world.inspector.inBothThemes(here.page)).toEqual([])
    await here.page.getByLabel('Amount to move').fill('20000')
    await here.page.getByRole('button', { name: 'Give it its own balance' }).click()
    await here.page.getByText('You requested to move KES 20,000').waitFor()
    await takeScreenshots(here.page, 'separation-waits')

    // The approver's open page learns of it by an event.
    await there.page.getByText('Wanjiku Kamau requested to move KES 20,000').waitFor()
    // A decision in the inbox works too, which is then not empty.
    await there.page.getByRole('navigation', { name: 'Main' }).first().getByRole('link', { name: 'Approvals' }).click()
    await there.page.getByRole('heading', { name: 'Approvals' }).waitFor()
    await there.page.getByText('Wanjiku Kamau requested to move KES 20,000').waitFor()
    await expect.poll(() => there.page.getByText('You’re all caught up').count()).toBe(0)
    await there.page.getByRole('button', { name: 'Confirm', exact: true }).click()
    const dialog = there.page.getByRole('dialog')
    await takeScreenshots(there.page, 'separation-confirm')
    expect(await world.inspector.inBothThemes(there.page)).toEqual([])
    await dialog.getByRole('button', { name: 'Confirm without a signature' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByRole('button', { name: /Sign with Test Wallet/ }).click()
    await there.page.getByText('Confirmed: the workspace has its own balance').waitFor()
    await here.page.goto('/')
    await here.page.getByText('KES 20,000').first().waitFor()
    await here.page.getByRole('button', { name: 'Workspace Savannah Coffee' }).first().click()
    await here.page.getByText('Owner, KES 80,000').waitFor()
    await takeScreenshots(here.page, 'switcher-balances')
    expect([...here.complaints, ...there.complaints]).toEqual([])
    await here.close()
    await there.close()
  })

  test('an auditor reads the activity and exports evidence for a period, and is offered nothing that changes', async () => {
    const team = await createTeam(world.service)
    const auditor = await team.join('auditor', 'Otieno Audit')
    await standIn(auditor, team.workspaceId)
    const { page, complaints, close } = await visitAs(world, auditor)
    await page.goto('/workspace')
    await page.getByRole('link', { name: 'Activity' }).click()
    await page.getByText('Wanjiku Kamau created the workspace').waitFor()
    await page.getByRole('button', { name: 'Export evidence' }).click()
    const dialog = page.getByRole('dialog', { name: 'Evidence of Savannah Coffee' })
    await takeScreenshots(page, 'evidence')
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Export', exact: true }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^evidence-\d{4}-\d\d-01-\d{4}-\d\d-\d\d\.zip$/)
    await dialog.waitFor({ state: 'detached' })
    for (const path of ['/', '/payments', '/workspace'])
      for (const name of [/New payment/, /Freeze/, /Invite/, /Add money/]) {
        await follow(page, path)
        expect(await page.getByRole('button', { name }).or(page.getByRole('link', { name })).count()).toBe(0)
      }
    expect(complaints).toEqual([])
    await close()
  })
}
