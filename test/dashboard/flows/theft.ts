import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { statementOf } from '../../../src/modules/identity/sign-in/siwe-message.ts'
import { addPasskey } from '../../harness/authenticator.ts'
import type { Client, Json } from '../../harness/client.ts'
import { createKey, newWallet, type Person, signIn, walletMessage } from '../../harness/people.ts'
import { newPerson } from '../../identity/sign-in/providers.ts'
import { standIn } from '../../workspaces/team.ts'
import { addAuthenticator } from '../authenticator.ts'
import { takeScreenshots } from '../screenshots.ts'
import { createTeam } from '../team.ts'
import { loseFirstAnswer, type Visit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const link = async (api: Client) => {
  const wallet = newWallet()
  const message = await walletMessage(api, wallet)
  const body = { provider: 'wallet', message, signature: await wallet.signMessage({ message }) }
  const { status, text } = await api.post('/v1/accounts/me/identities', body)
  if (status !== 201) throw new Error(text)
  return wallet
}

/** Adds everything that outlives a session. */
const addAll = async (world: World, { api }: Person) => {
  const wallet = await link(api)
  await addPasskey(api, world.service.deps.config.publicUrl)
  const key = await createKey({ api }, { name: 'Night job' })
  const invitation = (await api.post('/v1/workspaces/current/invitations', { role: 'approver', email: 'eve@example.com' })).body
  return { wallet, key, invitation }
}

const namesIn = (page: Page) => page.getByRole('dialog').locator('.item-title > :first-child').allTextContents()

/** None of the additions signs in, approves, calls the API or is accepted. */
const expectGone = async (world: World, owner: Person, { wallet, key, invitation }: Awaited<ReturnType<typeof addAll>>) => {
  await expect.poll(async () => (await key.api.get('/v1/accounts/me')).body.error).toBe('api_key_revoked')
  expect((await signIn(world.service.api, wallet)).accountId).not.toBe(owner.accountId)
  await expect.poll(async () => (await owner.api.get('/v1/accounts/me/passkeys')).body.data).toEqual([])
  const invitations: Json[] = (await owner.api.get('/v1/workspaces/current/invitations')).body.data
  expect(invitations.find(({ id }) => id === invitation.id)?.status).toBe('revoked')
}

const signInLater = async (world: World, person: Person): Promise<Person> => {
  world.service.clock.advance(1)
  return signIn(world.service.api, person.wallet)
}

export const theftFlows = (world: World): void => {
  /** A team member presses "Create key" in an eleven-minute-old session, and is asked to prove their identity. */
  const askedFor = async (member: Person, visited: Visit, name: string) => {
    world.service.clock.advance(11 * 60)
    const { page } = visited
    await page.goto('/developers/keys/new')
    await page.getByText('It acts for you in Savannah Coffee only.').waitFor()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm your identity' })
    await dialog.waitFor()
    const keys = async (): Promise<string[]> =>
      (await member.api.get('/v1/accounts/me/api-keys')).body.data.map((key: Json) => key.name)
    await expect.poll(() => keys()).not.toContain(name)
    return { page, dialog, keys }
  }

  test('in an old session a member confirms with the wallet, and the key that was being made is made, with what was typed', async () => {
    const team = await createTeam(world.service)
    const member = await team.join('member', 'Amina Otieno')
    await standIn(member, team.workspaceId)
    const visited = await visitAs(world, member)
    const { page, dialog, keys } = await askedFor(member, visited, 'Till')
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    await takeScreenshots(page, 'confirm-wallet')
    visited.wallet.declineNext()
    await dialog.getByRole('button', { name: 'Confirm with Test Wallet' }).click()
    await dialog.getByText(/declined/i).waitFor()
    await expect.poll(() => keys()).not.toContain('Till')
    await dialog.getByRole('button', { name: 'Confirm with Test Wallet' }).click()
    await page.getByRole('dialog').locator('[data-secret]').waitFor()
    await expect.poll(() => keys()).toContain('Till')
    expect(visited.complaints).toEqual([])
    world.service.clock.set(new Date())
    await visited.close()
  })

  test('or with a passkey from before the session; to close the dialog makes nothing', async () => {
    const team = await createTeam(world.service)
    const member = await team.join('member', 'Njeri Mwangi')
    // The browser keeps its first page's workspace.
    await standIn(member, team.workspaceId)
    const before = await visitAs(world, member)
    const device = await addAuthenticator(before.page)
    await before.page.goto('/account')
    await before.page.getByRole('button', { name: 'Add a passkey' }).click()
    await before.page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click()
    await before.page.getByText('Passkey added').waitFor()
    const later = await signInLater(world, member)
    await standIn(later, team.workspaceId)
    const cookie = { name: 'service_session', value: later.cookie, url: world.service.api.url }
    await before.context.addCookies([{ ...cookie, httpOnly: true, sameSite: 'Lax' }])
    const { page, dialog, keys } = await askedFor(later, before, 'Kiosk')
    await dialog.getByRole('button', { name: 'Confirm with a passkey' }).waitFor()
    await takeScreenshots(page, 'confirm-passkey')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page
      .getByText(/Confirm your identity/)
      .first()
      .waitFor()
    await expect.poll(() => keys()).not.toContain('Kiosk')
    await page.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByRole('button', { name: 'Confirm with a passkey' }).click()
    await page.getByRole('dialog').locator('[data-secret]').waitFor()
    await expect.poll(() => keys()).toContain('Kiosk')
    expect(before.complaints).toEqual([])
    world.service.clock.set(new Date())
    await device.remove()
    await before.close()
  })

  test('in an old session a new wallet is linked by the signature that it gave before a linked one confirmed', async () => {
    const person = await signIn(world.service.api)
    const visited = await visitAs(world, person)
    const { page, wallet } = visited
    const added = newWallet()
    wallet.accounts = [added, person.wallet]
    await page.goto('/account')
    await page.getByRole('button', { name: 'Link wallet', exact: true }).waitFor()
    world.service.clock.advance(11 * 60)
    await page.getByRole('button', { name: 'Link wallet', exact: true }).click()
    await page.getByRole('button', { name: 'Link Test Wallet' }).click()
    const asked = page.getByRole('dialog', { name: 'Confirm your identity' })
    // The page offers only the account's methods. Others sign nothing.
    await asked.getByRole('button', { name: 'Confirm with Test Wallet' }).click()
    await asked.getByText('is not linked to your account').waitFor()
    await expect.poll(() => asked.getByRole('button', { name: /Google|GitHub|passkey/ }).count()).toBe(0)
    expect(wallet.signed).toHaveLength(1)
    await asked.getByRole('button', { name: 'Choose another account in Test Wallet' }).click()
    await page.getByText('Wallet linked').waitFor()
    expect(wallet.signed.map((text) => text.split('\n')[3])).toEqual(Array(2).fill(statementOf('link')))
    const linked = await person.api.get('/v1/accounts/me/identities')
    expect(linked.body.data.map((identity: Json) => identity.subject)).toContain(added.address)
    expect(visited.complaints).toEqual([])
    world.service.clock.set(new Date())
    await visited.close()
  })

  test('in an old session Google is linked once a linked method has confirmed, without a page between', async () => {
    const visited = await visitAs(world, await signIn(world.service.api))
    const { page } = visited
    await page.goto('/account')
    await page.getByRole('button', { name: 'Link Google', exact: true }).waitFor()
    world.service.clock.advance(11 * 60)
    await page.getByRole('button', { name: 'Link Google', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Confirm with Test Wallet' }).click()
    const { email } = newPerson()
    await page.getByLabel('Another email').fill(email)
    await page.getByRole('button', { name: 'Sign in as this person' }).click()
    await page.getByText('Linked to your account').waitFor()
    await page.getByText(email).first().waitFor()
    expect(visited.complaints).toEqual([])
    world.service.clock.set(new Date())
    await visited.close()
  })

  test('after a session was ended the page lists what began there, and a second press ends all of it', async () => {
    const thief = await signIn(world.service.api)
    const added = await addAll(world, thief)
    const owner = await signInLater(world, thief)
    const { page, complaints, close } = await visitAs(world, owner)
    await page.goto('/account')
    await page.getByRole('button', { name: 'End session' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /^No/ }).waitFor()
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    await takeScreenshots(page, 'end-session')
    await dialog.getByRole('button', { name: 'End session' }).click()
    await page.getByText('1 session ended').waitFor()
    await dialog.getByText('still work').waitFor()
    await expect.poll(async () => (await thief.api.get('/v1/accounts/me')).status).toBe(401)
    await expect.poll(async () => (await added.key.api.get('/v1/accounts/me')).status).toBe(200)
    const names = await namesIn(page)
    expect(names).toEqual([expect.stringMatching(/^Wallet 0x/), expect.any(String), 'Night job', 'eve@example.com'])
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    await takeScreenshots(page, 'began-here')
    await dialog.getByRole('button', { name: 'End all of it' }).click()
    await page.getByRole('heading', { name: 'Also ended' }).waitFor()
    await expect.poll(() => namesIn(page)).toEqual(names)
    await expect.poll(() => dialog.getByText('Ended', { exact: true }).count()).toBe(4)
    await takeScreenshots(page, 'ended-session')
    await expectGone(world, owner, added)
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByText('No passkeys yet').waitFor()
    await page.getByText('This is your only sign-in method').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a stolen wallet is asked about before it is unlinked, and takes with it what its sessions added; a member that came by it is named', async () => {
    const owner = await signIn(world.service.api)
    const stolen = await link(owner.api)
    const rule = { name: 'Careful', daily_limit_minor: '5000' }
    const policy = (await owner.api.post('/v1/spending-policies', rule)).body
    const archived = (await owner.api.post('/v1/spending-policies', { name: 'Nightly', daily_limit_minor: '7000' })).body
    const thief = await signIn(world.service.api, stolen)
    const added = await addAll(world, thief)
    const looser = { version: 1, daily_limit_minor: null }
    expect((await thief.api.patch(`/v1/spending-policies/${policy.id}`, looser)).status).toBe(200)
    expect((await thief.api.delete(`/v1/spending-policies/${archived.id}`)).status).toBe(200)
    const open = (await thief.api.post('/v1/workspaces/current/invitations', { role: 'approver' })).body
    const accomplice = await signIn(world.service.api)
    expect((await accomplice.api.post('/v1/workspaces/invitations/accept', { token: open.token })).status).toBe(200)
    const { page, complaints, close } = await visitAs(world, await signInLater(world, owner))
    await page.goto('/account')
    const row = page.locator('.item', { hasText: stolen.address.slice(-4) }).first()
    await row.getByRole('button', { name: /^Unlink Wallet/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /^Yes/ }).check()
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    await takeScreenshots(page, 'unlink-stolen')
    await dialog.getByRole('button', { name: 'Unlink and end all of it' }).click()
    await page.getByRole('heading', { name: 'Also ended' }).waitFor()
    await expect.poll(() => dialog.getByText('Ended', { exact: true }).count()).toBe(4)
    await expect.poll(() => dialog.getByText('Suspended', { exact: true }).count()).toBe(1)
    const undo = (name: string) => dialog.locator('.item', { hasText: name }).getByRole('button', { name: 'Undo', exact: true })
    await undo('Careful').click()
    await expect.poll(async () => (await owner.api.get(`/v1/spending-policies/${policy.id}`)).body.daily_limit_minor).toBe('5000')
    // A repeat after a lost answer makes no second policy.
    await loseFirstAnswer(page, '/v1/spending-policies')
    await undo('Nightly').click()
    await page.getByText('The service could not be reached').waitFor()
    await undo('Nightly').click()
    await expect.poll(() => dialog.getByRole('button', { name: 'Undone' }).count()).toBe(2)
    const policies: Json[] = (await owner.api.get('/v1/spending-policies?status=active')).body.data
    expect(policies.map(({ name }) => name).sort()).toEqual(['Careful', 'Nightly'])
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    await takeScreenshots(page, 'ended-wallet')
    await expect.poll(async () => (await thief.api.get('/v1/accounts/me')).status).toBe(401)
    await expectGone(world, owner, added)
    expect(complaints).toEqual([])
    await close()
  })

  test('a wallet that was not stolen leaves what it added, and the page names it; signing out everywhere asks the same', async () => {
    const owner = await signIn(world.service.api)
    const old = await link(owner.api)
    const before = await signIn(world.service.api, old)
    const kept = await createKey({ api: before.api }, { name: 'Payroll' })
    const stolen = await signIn(world.service.api, owner.wallet)
    const added = await createKey({ api: stolen.api }, { name: 'Not mine' })
    const { page, complaints, close } = await visitAs(world, await signInLater(world, owner))
    await page.goto('/account')
    const row = page.locator('.item', { hasText: old.address.slice(-4) }).first()
    await row.getByRole('button', { name: /^Unlink Wallet/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Unlink', exact: true }).click()
    await page.getByRole('heading', { name: 'Still active' }).waitFor()
    await expect.poll(() => namesIn(page)).toEqual(['Payroll'])
    await expect.poll(async () => (await kept.api.get('/v1/accounts/me')).status).toBe(200)
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await dialog.getByRole('radio', { name: /^Yes/ }).check()
    await dialog.getByRole('button', { name: 'End all of it' }).click()
    await page.getByRole('heading', { name: 'Also ended' }).waitFor()
    await expect.poll(() => namesIn(page)).toContain('Not mine')
    await expect.poll(async () => (await added.api.get('/v1/accounts/me')).body.error).toBe('api_key_revoked')
    expect(complaints).toEqual([])
    await close()
  })

  test('what began in an ended session is listed, although another session could not be ended at first', async () => {
    const owner = await signIn(world.service.api)
    const stolen = await signIn(world.service.api, owner.wallet)
    const added = await createKey({ api: stolen.api }, { name: 'Not mine' })
    const { page, close } = await visitAs(world, await signInLater(world, owner))
    await page.goto('/account')
    let ends = 0
    await page.route('**/v1/accounts/me/sessions/*', (route) => {
      ends += 1
      return ends === 2 ? route.abort() : route.continue()
    })
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    const dialog = page.getByRole('dialog')
    const end = dialog.getByRole('button', { name: 'Sign out everywhere else' })
    await end.click()
    await dialog.getByText('The service could not be reached').waitFor()
    await expect.poll(async () => (await stolen.api.get('/v1/accounts/me')).status).toBe(401)
    await end.click()
    await page.getByText('These were added with it and still work', { exact: false }).waitFor()
    await expect.poll(() => namesIn(page)).toEqual(['Not mine'])
    await expect.poll(async () => (await added.api.get('/v1/accounts/me')).status).toBe(200)
    await close()
  })
}
