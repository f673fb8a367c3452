import { expect, test } from 'vitest'
import { parseId } from '../../../src/lib/ids.ts'
import { createMandate } from '../../harness/mandates.ts'
import { newBeneficiary } from '../../harness/money.ts'
import { newWallet, signIn, walletMessage } from '../../harness/people.ts'
import { continueWith, newPerson } from '../../identity/sign-in/providers.ts'
import { takeScreenshots } from '../screenshots.ts'
import { createTeam } from '../team.ts'
import { follow, shareVisit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const accountFlows = (world: World): void => {
  const shared = shareVisit(world)

  test('the only sign-in method cannot be unlinked, and the page says why', async () => {
    const { page } = await shared.at('/account')
    const unlink = page.getByRole('button', { name: 'Unlink Wallet' })
    await expect.poll(() => unlink.getAttribute('aria-disabled')).toBe('true')
    await page.getByText('This is your only sign-in method').waitFor()
    // Every page asks for a backup sign-in until one exists.
    await page.getByRole('link', { name: 'Add a backup sign-in' }).waitFor()
    await unlink.click({ force: true })
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  })

  test('a second wallet is linked by its signature, and either can then be unlinked', async () => {
    const { page, person, wallet, complaints } = await shared.at('/account')
    const second = newWallet()
    wallet.accounts = [second]
    await page.getByRole('button', { name: 'Link wallet', exact: true }).click()
    await page.getByRole('button', { name: 'Link Test Wallet' }).click()
    await page.getByText('Wallet linked').waitFor()
    await page.getByRole('link', { name: 'Add a backup sign-in' }).waitFor({ state: 'detached' })
    const identities = (await person.api.get('/v1/accounts/me')).body.identities
    expect(identities.map((identity: { subject: string }) => identity.subject)).toContain(second.address)
    // Not the wallet that started this session: unlinking it would end the session.
    await page.getByRole('button', { name: 'Unlink Wallet' }).nth(1).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click()
    await page.getByText('Wallet unlinked').waitFor()
    await page.getByText('This is your only sign-in method').waitFor()
    expect(complaints).toEqual([])
  })

  test('what is mailed is chosen on the account page, an address that refuses mails is named there, and the sandbox’s mailbox has an invitation that can be followed', async () => {
    const { email } = newPerson()
    const { cookie } = await continueWith(world.service, 'google', { email, name: 'Amina Otieno' })
    const api = world.service.api.as({ cookie })
    const { id: accountId } = (await api.get('/v1/accounts/me')).body
    const { context, page, complaints, close } = await visitAs(world, { accountId, api, cookie, wallet: newWallet() })
    const settings = async () => (await api.get('/v1/accounts/me/notification-settings')).body
    await page.goto('/account')
    await page.getByText(`To ${email}`).waitFor()
    await page.getByLabel('The balance is too low for scheduled payments').uncheck()
    await page.getByLabel('Language').selectOption('Kiswahili')
    await expect.poll(settings).toMatchObject({ balance: { email: false }, lists: { email: true }, language: 'sw' })
    // A switch sends its own value alone: another one was changed elsewhere meanwhile.
    await api.patch('/v1/accounts/me/notification-settings', { approvals: { email: false } })
    await page.getByLabel('Notify your devices too').uncheck()
    await expect.poll(settings).toMatchObject({ approvals: { push: false, email: false } })
    await page.reload()
    await expect.poll(() => page.getByLabel('Language').inputValue()).toBe('sw')
    expect(await page.getByLabel('The balance is too low for scheduled payments').isChecked()).toBe(false)
    await world.service.deps.db.query('update identities set mail_refused_at = $1 where email = $2', [
      world.service.clock.now(),
      email,
    ])
    await page.reload()
    await page.getByText(`Emails to ${email} bounce`).waitFor()
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    await takeScreenshots(page, 'account-mail')

    await page.goto('/workspace/new')
    await page.getByLabel('Name', { exact: true }).fill('Duka Ltd')
    await page.getByRole('button', { name: 'Create workspace' }).click()
    await page.getByRole('button', { name: 'Workspace Duka Ltd' }).first().waitFor()
    await follow(page, '/workspace')
    await page.getByRole('button', { name: 'Invite' }).click()
    const guest = newPerson().email
    await page.getByLabel('Only for').fill(guest)
    await page.getByRole('button', { name: 'Create invitation' }).click()
    await page.getByText(`We emailed it to ${guest}`).waitFor()
    const link = (await page.locator('[data-secret]').textContent()) ?? ''
    await takeScreenshots(page, 'invitation-made')
    await world.service.settle()
    await page.goto('/sandbox/mail')
    await page.getByText(`To ${guest}`).waitFor()
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    await takeScreenshots(page, 'mailbox')
    const invited = await continueWith(world.service, 'google', { email: guest, name: 'Brian Kamau' })
    await context.addCookies([{ name: 'service_session', value: invited.cookie.replace(/^.*=/, ''), url: world.service.api.url }])
    await page.locator(`a[href="${link}"]`).click()
    await page.getByRole('heading', { name: 'Join Duka Ltd' }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('before a wallet is unlinked, the mandates and approvals that end with it are counted, in every workspace', async () => {
    const team = await createTeam(world.service)
    const { owner } = team
    const [member] = [await team.join('member', 'Amina Otieno'), await team.join('approver', 'Njeri Mwangi')]
    const rules = { name: 'Two people', approval_threshold_minor: '100000', required_approval_count: 2 }
    await team.within(owner).post('/v1/spending-policies', rules)
    const payee = await newBeneficiary(team.within(member), { display_name: 'Mill' })
    const asked = await team.within(member).post('/v1/payments', { beneficiary_id: payee, amount_minor: '450000' })
    const second = newWallet()
    const linked = await walletMessage(world.service.api, second)
    const proof = { provider: 'wallet', message: linked, signature: await second.signMessage({ message: linked }) }
    await owner.api.post('/v1/accounts/me/identities', proof)
    await createMandate(world.service, second, { description: 'Catering', max_total_minor: '2000000' })
    // More than one page of mandates, all newer.
    const errand = await createMandate(world.service, owner.wallet, { description: 'Errand', max_total_minor: '2000000' })
    await world.service.deps.db.query(
      `insert into intent_mandates select (jsonb_populate_record(m, jsonb_build_object(
           'id', substr(m.id::text, 1, 15) || substr(gen_random_uuid()::text, 16), 'nonce', gen_random_uuid()))).*
         from intent_mandates m, generate_series(1, 99) where m.id = $1`,
      [parseId('mandate', errand.id)],
    )
    const { message } = (await world.service.api.get(`/v1/approvals/${asked.body.approval_id}/message?decision=approve`)).body
    const signed = { decision: 'approve', signature: await second.signMessage({ message }) }
    await world.service.api.post(`/v1/approvals/${asked.body.approval_id}/decide-by-signature`, signed)
    const { page, close } = await visitAs(world, owner)
    await page.goto('/account')
    // The newest is the last.
    const unlinkNewest = page.getByRole('button', { name: 'Unlink Wallet' }).first()
    await unlinkNewest.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Loading what this method signed…').waitFor({ state: 'detached' })
    await dialog.getByText('100 active mandates were signed with this wallet and will be revoked.').waitFor()
    await expect.poll(() => dialog.getByText(/approvals? of a payment/).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    // A list that cannot be read does not count as none.
    const mandates = '**/v1/intent-mandates?*'
    await page.route(mandates, (route) => route.abort())
    await unlinkNewest.click()
    await dialog.getByText('Not everything that depends on this wallet could be read').waitFor()
    await page.unroute(mandates)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Unlink Wallet' }).last().click()
    await dialog.getByText('1 active mandate was signed with this wallet and will be revoked.').waitFor()
    await dialog.getByText('1 approval of a payment not sent yet will be void: it needs another one.').waitFor()
    await dialog.getByRole('button', { name: 'Unlink' }).click()
    await page.getByText('Wallet unlinked').waitFor()
    const approval = (await team.within(owner).get(`/v1/approvals/${asked.body.approval_id}`)).body
    expect([approval.approvals_given, approval.decisions[0].voided_at === null]).toEqual([0, false])
    await close()
  })

  test("another person's wallet is not linked; another address of the same wallet can be chosen", async () => {
    const other = await signIn(world.service.api)
    const { page, wallet } = await shared.at('/account')
    wallet.accounts = [other.wallet, newWallet()]
    await page.getByRole('button', { name: 'Link wallet', exact: true }).click()
    await page.getByRole('button', { name: 'Link Test Wallet' }).click()
    await page.getByText('This wallet belongs to another account').waitFor()
    await page.getByRole('button', { name: 'Choose another account in Test Wallet' }).click()
    await page.getByText('Wallet linked').waitFor()
  })

  test('Google is linked on its own page, without another page before it, and shown by its e-mail address', async () => {
    const person = await signIn(world.service.api)
    const { page, close } = await visitAs(world, person)
    await page.goto('/account')
    const visited: string[] = []
    page.on('framenavigated', (frame) => visited.push(new URL(frame.url()).pathname))
    // The answer to a request that the browser repeated has no URL.
    await page.route('**/v1/accounts/me/identities', (route) => route.fulfill({ status: 202, json: {} }), { times: 1 })
    await page.getByRole('button', { name: 'Link Google', exact: true }).click()
    const email = `somebody.${Date.now()}@example.com`
    await page.getByLabel(/e-?mail/i).fill(email)
    await page.getByRole('button').last().click()
    await page.getByText('Linked to your account').waitFor()
    await page.getByText(email).first().waitFor()
    expect(visited.filter((path) => path.startsWith('/link/'))).toEqual([])
    await close()
  })

  test('a Google account of another person is not linked, and the page that says so is accessible too', async () => {
    const email = `shared.${Date.now()}@example.com`
    const linkAs = async (person: Awaited<ReturnType<typeof signIn>>) => {
      const visited = await visitAs(world, person)
      await visited.page.goto('/account')
      await visited.page.getByRole('button', { name: 'Link Google', exact: true }).click()
      await visited.page.getByLabel(/e-?mail/i).fill(email)
      await visited.page.getByRole('button').last().click()
      return visited
    }
    const first = await linkAs(await signIn(world.service.api))
    await first.page.getByText('Linked to your account').waitFor()
    const second = await linkAs(await signIn(world.service.api))
    await second.page.getByRole('heading', { name: 'This sign-in belongs to another account' }).waitFor()
    expect(await world.inspector.inBothThemes(second.page)).toEqual([])
    await second.page.getByRole('link', { name: 'Go back' }).click()
    await second.page.getByRole('button', { name: 'Link Google', exact: true }).waitFor()
    await first.close()
    await second.close()
  })

  test('a name is saved, and a session that is ended elsewhere shows the sign-in at once', async () => {
    const person = await signIn(world.service.api)
    const elsewhere = await signIn(world.service.api, person.wallet)
    const here = await visitAs(world, person)
    const there = await visitAs(world, elsewhere)
    await there.page.goto('/beneficiaries')
    await there.page.getByRole('heading', { name: 'Beneficiaries' }).waitFor()
    await here.page.goto('/account')
    await here.page.getByLabel('Display name').fill('Achieng')
    await here.page.getByRole('button', { name: 'Save' }).click()
    await here.page.getByText('Name saved').waitFor()
    await here.page.getByRole('button', { name: 'End session' }).click()
    await here.page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
    await here.page.getByText('1 session ended').waitFor()
    await there.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await here.close()
    await there.close()
  })

  test('signing out everywhere else ends the other sessions and keeps this one', async () => {
    const person = await signIn(world.service.api)
    const others = [await signIn(world.service.api, person.wallet), await signIn(world.service.api, person.wallet)]
    const { page, close } = await visitAs(world, person)
    await page.goto('/account')
    await page
      .getByText(/, expires /)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere else' }).click()
    await page.getByText('2 sessions ended').waitFor()
    for (const other of others) expect((await other.api.get('/v1/accounts/me')).status).toBe(401)
    await expect.poll(async () => (await person.api.get('/v1/accounts/me')).status).toBe(200)
    await close()
  })
}
