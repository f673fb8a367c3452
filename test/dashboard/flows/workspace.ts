import { expect, test } from 'vitest'
import { newBeneficiary } from '../../harness/money.ts'
import { newWallet, signIn } from '../../harness/people.ts'
import { standIn } from '../../workspaces/team.ts'
import { takeScreenshots } from '../screenshots.ts'
import { createTeam } from '../team.ts'
import { follow, visit, visitAs } from '../visit.ts'
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
    const here = await visitAs(world, team.owner)
    await here.page.goto('/')
    await here.page.getByText('without the other workspaces’ rules').waitFor()
    await takeScreenshots(here.page, 'separation-form')
    expect(await world.inspector.inBothThemes(here.page)).toEqual([])
    await here.page.getByLabel('Amount to move').fill('20000')
    await here.page.getByRole('button', { name: 'Give it its own balance' }).click()
    await here.page.getByText('You requested to move KES 20,000').waitFor()
    await takeScreenshots(here.page, 'separation-waits')

    const there = await visitAs(world, approver)
    await there.page.goto('/')
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
