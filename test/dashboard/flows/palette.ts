import { expect, test } from 'vitest'
import { createKey, signIn } from '../../harness/people.ts'
import { createTeam, type Team } from '../team.ts'
import { follow, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const paletteFlows = (world: World): void => {
  test('a payment, a beneficiary, an agent, a policy and an action are each found and opened by keyboard alone', async () => {
    const home = await world.household()
    const { page, complaints, close } = await visitAs(world, home.person)
    await page.goto('/')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const open = async (text: string, option: RegExp, path: RegExp) => {
      await page.keyboard.press('Control+k')
      await page.keyboard.type(text)
      const result = page.getByRole('option', { name: option })
      await result.waitFor()
      while ((await result.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.waitForURL(path)
    }
    await open('toner', /KES\s23,499.00 to Savannah Supplies Ltd/, /\/payments\/pay_/)
    await open('kenya pow', /^Kenya Power/, /\/beneficiaries\/ben_/)
    await open('procurement', /^Procurement agent/, /\/agents\/gra_/)
    await open('office', /^Office expenses/, /\/policies\/pol_/)
    await open('send', /^New payment/, /\/payments\/new/)
    // Works in a field too, where single keys are typing.
    await page.getByLabel('Amount').fill('1')
    await open('history', /^History/, /\/history/)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('no such thing')
    await page.getByText('Nothing found for').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await close()
  })

  test('what is typed while search is still loading stands in its field, and is no shortcut of the page', async () => {
    const home = await world.household()
    const { page, complaints, close } = await visitAs(world, home.person)
    const held: (() => void)[] = []
    await page.route(/\/palette-.*\.js$/, async (route) => {
      await new Promise<void>((resolve) => held.push(resolve))
      await route.continue()
    })
    await page.goto('/')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    // The first letter is a shortcut on the page.
    await page.keyboard.type('new ')
    await expect.poll(() => held.length).toBe(1)
    held.forEach((release) => {
      release()
    })
    await page.getByRole('option', { name: /^New payment/ }).waitFor()
    await page.keyboard.type('pol')
    expect(await page.getByRole('combobox', { name: /^Search/ }).inputValue()).toBe('new pol')
    await page.getByRole('option', { name: /^New policy/ }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await close()
  })

  test('a viewer sees every page, is offered nothing that would be refused, and sees the reason', async () => {
    const team = await createTeam(world.service)
    const viewer = await team.join('viewer', 'Vera Viewer')
    await team.join('approver', 'Amina Otieno')
    const [approval] = await team.hold('450000')
    const [policy] = (await team.within(team.owner).get('/v1/spending-policies')).body.data
    const [beneficiary] = (await team.within(team.owner).get('/v1/beneficiaries')).body.data
    const bot = await createKey({ api: team.within(team.owner) }, { name: 'Roaster bot' })
    await team.within(team.owner).post('/v1/spending-policies', { name: 'Bean budget', monthly_limit_minor: '600000' })
    for (let count = 0; count < 4; count += 1)
      await bot.api.post('/v1/payments', { beneficiary_id: beneficiary.id, amount_minor: '20000' })
    const [payment] = (await team.within(team.owner).get('/v1/payments')).body.data
    const { page, complaints, close } = await visitAs(world, viewer)
    const refused: string[] = []
    await page.goto(`/approvals/${approval}`)
    await page.getByText('Your role in this workspace can’t decide approvals').waitFor()
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(`${page.url()} ${response.url()}`)
    })
    const forms = {
      '/payments/new': 'make payments',
      '/top-up': 'top up',
      '/beneficiaries/new': 'add beneficiaries',
      '/policies/new': 'add policies',
    }
    for (const [path, action] of Object.entries(forms)) {
      await follow(page, path)
      await page.getByText(`Your role can’t ${action}`).waitFor()
      await page.getByText('You are a viewer in Savannah Coffee').waitFor()
      await expect.poll(() => page.locator('main form').count()).toBe(0)
    }
    await follow(page, '/')
    await page.getByText(/4 payments of KES\s200 to Roastery Kiambu/).waitFor()
    await page.getByText(/Bean budget/).waitFor()
    await follow(page, `/agents/${bot.grantId}`)
    await page.getByText('Not one of your agents').waitFor()
    const pages = ['/', '/payments', '/payments/refused', '/approvals', '/agents', '/beneficiaries', '/policies', '/mandates']
    const others = ['/workspace', '/history', '/statements']
    const one = [`/payments/${payment.id}`, `/beneficiaries/${beneficiary.id}`, `/policies/${policy.id}`]
    const offers =
      /^(New payment|Pay|Top up|Add beneficiary|New policy|New mandate|Approve|Reject|Freeze.*|Invite|Cancel payment|Edit|Edit limit|Archive|Save.*)$/
    for (const path of [...pages, ...others, ...one]) {
      await follow(page, path)
      await page.locator('main h1').waitFor()
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      const offered = page
        .locator('main')
        .getByRole('button', { name: offers })
        .or(page.locator('main').getByRole('link', { name: offers }))
      expect(await offered.allTextContents(), path).toEqual([])
    }
    expect(refused).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  let teamOfAll: Promise<Team> | undefined
  test.each(['owner', 'admin', 'approver', 'member', 'viewer'])(
    'the navigation and the search of an %s never lead to a refusal',
    async (role) => {
      teamOfAll ??= createTeam(world.service)
      const team = await teamOfAll
      const person = role === 'owner' ? team.owner : await team.join(role, 'Amina Otieno')
      await person.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
      const { page, complaints, close } = await visitAs(world, person)
      const refused: string[] = []
      page.on('response', (response) => {
        if (response.status() === 403) refused.push(`${page.url()} ${response.url()}`)
      })
      await page.goto('/')
      const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
      await page.getByRole('button', { name: 'Workspace Savannah Coffee' }).first().waitFor()
      const reached: string[] = []
      for (let at = 0; at < (await links.count()); at += 1) {
        await links.nth(at).click()
        await page.locator('main h1').first().waitFor()
        await page.locator('main .skeleton').first().waitFor({ state: 'detached' })
        const text = (await page.locator('main').textContent()) ?? ''
        expect(text, page.url()).not.toMatch(/Your role can’t|Only administrators|Only the owner sees|went wrong/)
        reached.push(new URL(page.url()).pathname)
      }
      expect(reached).toContain('/statements')
      expect(reached.includes('/top-up')).toBe(role !== 'viewer' && role !== 'approver')
      expect(reached).toContain('/history')
      expect(reached).not.toContain('/reconciliation')
      await page.keyboard.press('Control+k')
      const found = page.getByRole('listbox', { name: 'Results' }).getByRole('option')
      await found.first().waitFor()
      const offered = (await found.allTextContents()).join()
      expect(offered.includes('Top up')).toBe(reached.includes('/top-up'))
      expect(offered).not.toContain('Reconciliation')
      expect(refused).toEqual([])
      expect(complaints).toEqual([])
      await close()
    },
  )

  test('what a workspace’s people did is listed, and filtered by what and by whom', async () => {
    const team = await createTeam(world.service)
    await team.join('approver', 'Amina Otieno')
    await team.hold('450000')
    const [payee] = (await team.within(team.owner).get('/v1/beneficiaries')).body.data
    const limits = { per_payment_limit_minor: '100000' }
    const bot = await createKey({ api: team.within(team.owner) }, { name: 'Roaster bot', spending_controls: limits })
    await bot.api.post('/v1/payments', { beneficiary_id: payee.id, amount_minor: '700000' })
    const { page, close } = await visitAs(world, team.owner)
    await page.goto('/account')
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    await page
      .getByRole('button', { name: /^Workspace / })
      .first()
      .click()
    await page
      .getByRole('button', { name: /Savannah Coffee/ })
      .last()
      .click()
    await page.getByRole('button', { name: 'Workspace Savannah Coffee' }).first().waitFor()
    await follow(page, '/workspace/activity')
    await page.getByText(/^You created a payment of KES\s4,500 to Roastery Kiambu$/).waitFor()
    await page.getByText('You created the policy “Team rules”').waitFor()
    await page
      .getByText(/^Roaster bot, your agent, requested a payment of KES\s7,000 to Roastery Kiambu, and it was refused$/)
      .waitFor()
    await page.getByText('You added Roastery Kiambu as a beneficiary').waitFor()
    await page.getByText('Amina Otieno accepted an invitation').waitFor()
    await page.getByLabel('Activity', { exact: true }).selectOption('Invitations')
    await page.getByText('You created a payment').waitFor({ state: 'detached' })
    await page.getByLabel('Person').selectOption('Amina Otieno')
    await page.getByText('You invited someone').waitFor({ state: 'detached' })
    await page.getByText('Amina Otieno accepted an invitation').waitFor()
    await close()
  })

  test('the next sign-in opens the workspace that this person used last', async () => {
    const team = await createTeam(world.service)
    const { page, close } = await visitAs(world, team.owner)
    await page.goto('/')
    await page.getByRole('button', { name: 'Workspace Personal' }).first().click()
    const switched = page.waitForResponse((response) => response.request().method() === 'PUT')
    await page
      .getByRole('button', { name: /Savannah Coffee/ })
      .last()
      .click()
    await switched
    await page.getByRole('button', { name: 'Workspace Savannah Coffee' }).first().waitFor()
    await close()
    const again = await visitAs(world, await signIn(world.service.api, team.owner.wallet))
    await again.page.goto('/')
    await again.page.getByRole('button', { name: 'Workspace Savannah Coffee' }).first().waitFor()
    await again.close()
  })
}
