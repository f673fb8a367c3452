import { expect, test } from 'vitest'
import { newBeneficiary } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { standIn } from '../../workspaces/team.ts'
import { addAuthenticator, addPasskey } from '../authenticator.ts'
import { createHousehold } from '../household.ts'
import { createTeam } from '../team.ts'
import { follow, shareVisit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const policyFlows = (world: World): void => {
  const shared = shareVisit(world)

  test('a policy is shown as a sentence before it is turned on', async () => {
    const home = await createHousehold(world.service)
    const { page, complaints, close } = await visitAs(world, home.person)
    await page.goto('/policies/new')
    await page.getByLabel('Name', { exact: true }).fill('Careful')
    await page.getByLabel('Per-payment limit').fill('3000')
    await page.getByLabel('Require approval at or above').fill('1000')
    await page.getByLabel('Requester can’t approve their own payment').check()
    const sentence = page.locator('.sentence')
    await sentence.getByText(/limited to KES\s3,000.00 per payment/).waitFor()
    await expect
      .poll(async () => (await sentence.textContent())?.replaceAll('\u00a0', ' '))
      .toBe(
        'Every payment is limited to KES 3,000.00 per payment, and needs 1 approval from someone other than the requester at or above KES 1,000.00.',
      )
    await page.getByRole('button', { name: 'Turn on policy' }).click()
    await page.getByText('Policy turned on').waitFor()
    const [policy] = (await home.person.api.get('/v1/spending-policies')).body.data
    expect(policy).toMatchObject({ name: 'Careful', per_payment_limit_minor: '300000', separation_of_duties: true })
    expect(complaints).toEqual([])
    await close()
  })

  test('what an empty threshold means is said once approvals are needed', async () => {
    const home = await world.household()
    const policies = (await home.person.api.get('/v1/spending-policies')).body.data
    const { id } = policies.find(({ name }: { name: string }) => name === 'Utilities')
    const { page, close } = await visitAs(world, home.person)
    await page.goto(`/policies/${id}`)
    // A threshold means nothing while no approvals are needed.
    const hint = page.getByText('If empty, every payment needs approval.')
    await expect.poll(() => hint.count()).toBe(0)
    await page.getByLabel('Approvals needed').selectOption('1 person')
    await hint.waitFor()
    await page.getByLabel('Require approval at or above').fill('100')
    await hint.waitFor({ state: 'detached' })
    await close()
  })

  test('a policy about repeated payments says so, and keeps it when it is edited', async () => {
    const { page, person } = await shared.at('/policies')
    const terms = { on_duplicate: 'deny', duplicate_window_seconds: 90 }
    const policy = (await person.api.post('/v1/spending-policies', { name: 'No repeats', ...terms })).body
    await follow(page, `/policies/${policy.id}`)
    const sentence = page.locator('.sentence')
    await sentence.getByText(/^Every payment is refused if it repeats .* from the last 90 seconds\.$/).waitFor()
    await page.getByLabel('If a payment repeats a recent one').selectOption('Require approval')
    await page.getByLabel('How recent').selectOption('Within a day')
    await sentence.getByText(/^Every payment needs 1 approval if it repeats .* from the last day\.$/).waitFor()
    await page.getByRole('button', { name: 'Save policy' }).click()
    await page.getByText('Policy saved').waitFor()
    await expect
      .poll(async () => (await person.api.get(`/v1/spending-policies/${policy.id}`)).body)
      .toMatchObject({
        on_duplicate: 'require_approval',
        duplicate_window_seconds: 86_400,
      })
    await person.api.delete(`/v1/spending-policies/${policy.id}`)
  })

  test('a link that raises limits never lowers a limit of the policy or adds one', async () => {
    const { page, person } = await shared.at('/policies')
    const limits = { daily_limit_minor: '500000', monthly_limit_minor: '9000000' }
    const { id } = (await person.api.post('/v1/spending-policies', { name: 'Linked', ...limits })).body
    await follow(page, `/policies/${id}?raise=daily_limit:9000,monthly_limit:10,total_limit:70`)
    const shown = async () => {
      const values: string[] = []
      for (const label of ['Daily limit', 'Monthly limit', 'Total limit']) values.push(await page.getByLabel(label).inputValue())
      return values
    }
    await expect.poll(shown).toEqual(['9,000', '90,000', ''])
    await person.api.delete(`/v1/spending-policies/${id}`)
  })

  test('every beneficiary of the policies in the list is named, also beyond the hundred of one request', async () => {
    const person = await signIn(world.service.api)
    const known = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
    const { body: policy } = await person.api.post('/v1/spending-policies', { name: 'Many', daily_limit_minor: '100' })
    const others = Array.from({ length: 100 }, (_, index) => `ben_${String(index).padStart(26, '0')}`)
    const { page, close } = await visitAs(world, person)
    await page.route(
      ({ pathname }) => pathname === '/v1/spending-policies',
      (route) =>
        route.fulfill({
          json: {
            data: [
              { ...policy, beneficiary_ids: others },
              { ...policy, id: `${policy.id}x`, beneficiary_ids: [known] },
            ],
            next_cursor: null,
          },
        }),
    )
    await page.goto('/policies')
    await page.getByText(/Baraka Stores/).waitFor()
    await close()
  })

  test('contradicting limits are marked; a policy that changed in the meantime is not overwritten', async () => {
    const { page, person } = await shared.at('/policies')
    const policy = (await person.api.post('/v1/spending-policies', { name: 'Rules', approval_threshold_minor: '1000000' })).body
    await follow(page, `/policies/${policy.id}`)
    await page.getByLabel('Per-payment limit').fill('900000')
    await page.getByLabel('Daily limit').fill('10')
    await page.getByRole('button', { name: 'Save policy' }).click()
    await page.getByText('Must not be more than the daily limit').first().waitFor()
    await page.context().setOffline(true)
    await person.api.patch(`/v1/spending-policies/${policy.id}`, { version: policy.version, name: 'Renamed' })
    await page.getByLabel('Per-payment limit').fill('')
    await page.getByLabel('Daily limit').fill('100000')
    await page.context().setOffline(false)
    await page.getByRole('heading', { name: 'Renamed' }).waitFor()
    await page.getByText('This policy has changed').waitFor()
    await expect
      .poll(async () => (await person.api.get(`/v1/spending-policies/${policy.id}`)).body.version)
      .toBe(policy.version + 1)
  })

  test('archiving a policy does not save unsaved changes of its form', async () => {
    const { page, person } = await shared.at('/policies')
    const limits = { name: 'Old rules', daily_limit_minor: '500000' }
    const { id } = (await person.api.post('/v1/spending-policies', limits)).body
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().includes(id) && request.method() !== 'GET') sent.push(request.method())
    })
    await follow(page, `/policies/${id}`)
    await page.getByLabel('Daily limit').fill('9000')
    await page.getByRole('button', { name: 'Archive' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
    await page.getByText('Policy archived').waitFor()
    expect(sent).toEqual(['DELETE'])
    await expect
      .poll(async () => (await person.api.get(`/v1/spending-policies/${id}`)).body)
      .toMatchObject({ ...limits, status: 'archived' })
  })

  /** A team whose policy needs two people, with a longer-serving approver, and a change requested by its owner. */
  const loosening = async (terms: object, change: object | 'archive') => {
    world.service.clock.set(new Date())
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    await standIn(team.owner, team.workspaceId)
    await standIn(approver, team.workspaceId)
    const { api } = team.owner
    const { id, version } = (await api.post('/v1/spending-policies', { name: 'Two people', ...terms })).body
    const path = `/v1/spending-policies/${id}`
    const asked = change === 'archive' ? await api.delete(path) : await api.patch(path, { version, ...change })
    expect(asked.status).toBe(202)
    /** A further approver, who joined after the policy was created. */
    const join = async () => {
      world.service.clock.advance(60)
      const later = await team.join('approver', 'Njeri Mwangi')
      await standIn(later, team.workspaceId)
      return later
    }
    return { approver, owner: team.owner, join, path: `/policies/${id}`, read: async () => (await api.get(path)).body }
  }
  test('every member who may decide can be chosen as an approver, also one who is not on the first page of members', async () => {
    const team = await createTeam(world.service)
    for (const name of ['Amina Otieno', 'Brian Kiptoo']) await team.join('approver', name)
    await standIn(team.owner, team.workspaceId)
    const { page, complaints, close } = await visitAs(world, team.owner)
    await page.route(/\/members\?/, (route) => route.continue({ url: route.request().url().replace('limit=100', 'limit=1') }))
    await page.goto('/policies/new')
    await page.getByLabel('Approvals needed').selectOption('1 person')
    for (const name of ['You', 'Amina Otieno', 'Brian Kiptoo']) await page.getByRole('checkbox', { name }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  const forTwo = { approval_threshold_minor: '100000', required_approval_count: 2 }

  test('an approver who does not count yet reads why, instead of confirming a change that would be refused', async () => {
    const { path, join } = await loosening(forTwo, 'archive')
    const { page, complaints, close } = await visitAs(world, await join())
    await page.goto(path)
    await page.getByText('You can’t confirm it yet').waitFor()
    await page.getByRole('button', { name: 'Withdraw the change' }).waitFor()
    expect(await page.getByRole('button', { name: 'Confirm the change' }).count()).toBe(0)
    expect(complaints).toEqual([])
    world.service.clock.set(new Date())
    await close()
  })

  test('a change that makes a policy less strict is confirmed by another approver, who reads what it would be', async () => {
    const { approver, owner, path, read } = await loosening(forTwo, { required_approval_count: 1 })
    const own = await visitAs(world, owner)
    await own.page.goto(path)
    await own.page.getByRole('button', { name: 'Withdraw the change' }).waitFor()
    await expect.poll(() => own.page.getByRole('button', { name: 'Confirm the change' }).count()).toBe(0)
    await own.close()
    const { page, complaints, close } = await visitAs(world, approver)
    await page.goto(path)
    const card = page.locator('section.card', { hasText: 'A change is waiting for a second person' })
    await card.getByText('Wanjiku Kamau').waitFor()
    await card.getByText(/needs 1 approval at or above KES\s1,000\.00/).waitFor()
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    await page.getByRole('button', { name: 'Confirm the change' }).click()
    await page
      .getByRole('dialog')
      .getByText(/needs 1 approval at or above KES\s1,000\.00/)
      .waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await expect.poll(() => read()).toMatchObject({ required_approval_count: 2 })
    await page.getByRole('button', { name: 'Confirm the change' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('Confirmed: the change applies').waitFor()
    await card.waitFor({ state: 'detached' })
    await expect.poll(() => read()).toMatchObject({ required_approval_count: 1, pending_change: null })
    expect(complaints).toEqual([])
    await close()
  })

  test('a change that waits is withdrawn by an approver, and the policy stays', async () => {
    const { approver, path, read } = await loosening(forTwo, 'archive')
    const { page, close } = await visitAs(world, approver)
    await page.goto('/policies')
    await page.getByRole('listitem').filter({ hasText: 'Two people' }).getByText('Change pending').waitFor()
    await follow(page, path)
    const card = page.locator('section.card', { hasText: 'A change is waiting for a second person' })
    await card.getByText(/active\s*→\s*archived/).waitFor()
    await card.getByText('An ordinary payment then needs no approval under this policy.').waitFor()
    await page.getByRole('button', { name: 'Withdraw the change' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw', exact: true }).click()
    await page.getByText('Withdrawn: the policy stays as it is').waitFor()
    await expect.poll(() => read()).toMatchObject({ status: 'active', pending_change: null })
    await close()
  })

  test('where a policy asks for signatures, its change is confirmed by the wallet, and one that declines confirms nothing', async () => {
    const { approver, path, read } = await loosening({ ...forTwo, approval_proof: 'signature' }, 'archive')
    const { page, wallet, close } = await visitAs(world, approver)
    await page.goto(path)
    await page.getByRole('button', { name: 'Confirm the change' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('CONFIRM a change that makes a spending policy less strict').waitFor()
    wallet.declineNext()
    await dialog.getByRole('button', { name: 'Sign with Test Wallet' }).click()
    await dialog.getByText(/declined/i).waitFor()
    await expect.poll(() => read()).toMatchObject({ status: 'active' })
    await dialog.getByRole('button', { name: 'Sign with Test Wallet' }).click()
    await page.getByText('Confirmed: the policy is archived').waitFor()
    await expect.poll(() => read()).toMatchObject({ status: 'archived' })
    await close()
  })

  test('where a policy asks for signatures, its change is confirmed by a passkey over the text that is shown, and by no wrong finger', async () => {
    const { approver, path, read } = await loosening({ ...forTwo, approval_proof: 'signature' }, 'archive')
    const { page, complaints, close } = await visitAs(world, approver)
    const device = await addAuthenticator(page)
    await addPasskey(page, 'Amina’s phone')
    await page.goto(path)
    await page.getByRole('button', { name: 'Confirm the change' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('CONFIRM a change that makes a spending policy less strict').waitFor()
    await device.setVerifies(false)
    await dialog.getByRole('button', { name: 'Sign with a passkey' }).click()
    await dialog.getByText(/couldn’t confirm your identity/).waitFor()
    await expect.poll(() => read()).toMatchObject({ status: 'active' })
    await device.setVerifies(true)
    await dialog.getByRole('button', { name: 'Sign with a passkey' }).click()
    await page.getByText('Confirmed: the policy is archived').waitFor()
    await expect.poll(() => read()).toMatchObject({ status: 'archived' })
    expect(complaints).toEqual([])
    await device.remove()
    await close()
  })

  test.each([
    ['the wallet', 'Confirm with Test Wallet'],
    ['a passkey that was there before the session', 'Confirm with a passkey'],
  ])('in an old session a change is confirmed after %s has proved who the person is', async (_by, button) => {
    const { approver, path, read } = await loosening(forTwo, 'archive')
    const { page, context, complaints, close } = await visitAs(world, approver)
    const device = await addAuthenticator(page)
    await addPasskey(page, 'Amina’s phone')
    world.service.clock.advance(1)
    const { cookie } = await signIn(world.service.api, approver.wallet)
    await context.addCookies([{ name: 'service_session', value: cookie, url: world.service.api.url }])
    world.service.clock.advance(11 * 60)
    await page.goto(path)
    await page.getByRole('button', { name: 'Confirm the change' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('dialog', { name: 'Confirm your identity' }).getByRole('button', { name: button }).click()
    await page.getByText('Confirmed: the policy is archived').waitFor()
    await expect.poll(() => read()).toMatchObject({ status: 'archived' })
    expect(complaints).toEqual([])
    world.service.clock.set(new Date())
    await device.remove()
    await close()
  })
}
