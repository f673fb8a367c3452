import { expect, test } from 'vitest'
import { newBeneficiary } from '../../harness/money.ts'
import { newWallet, signIn } from '../../harness/people.ts'
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
    await there.page.getByText('Duka Ltd has a balance of its own. It has no money yet.').waitFor()
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
}
