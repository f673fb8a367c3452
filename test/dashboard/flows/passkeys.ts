import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import type { Answer } from '../../harness/client.ts'
import type { Person } from '../../harness/people.ts'
import { addAuthenticator, addPasskey, type VirtualAuthenticator } from '../authenticator.ts'
import { createTeam, type Team } from '../team.ts'
import { countSteps, phone, showOnFailure, type Visit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const approveLabel = 'Approve with Face ID, fingerprint or security key'

type Scene = Visit & { team: Team; approver: Person; device: VirtualAuthenticator }

/** An approver of a team, with a browser and a device that has their passkey. */
const visitWithPasskey = async (world: World, viewport = phone): Promise<Scene> => {
  const team = await createTeam(world.service)
  const approver = await team.join('approver', 'Amina Otieno')
  const visited = await visitAs(world, approver, viewport)
  const device = await addAuthenticator(visited.page)
  await addPasskey(visited.page, 'Amina’s phone')
  const close = async () => {
    await device.remove()
    await visited.close()
  }
  return { ...visited, close, team, approver, device }
}

const decide = (scene: Scene, id: string, passkey: unknown): Promise<Answer> =>
  scene.team.within(scene.approver).post(`/v1/approvals/${id}/decide`, { decision: 'approve', passkey })
const approvalOf = async ({ team, approver }: Scene, id: string) => (await team.within(approver).get(`/v1/approvals/${id}`)).body

/** The browser's answer on this page, whatever page it is, to a request to sign a text. */
const signOn = (page: Page, rpId: string, message: string): Promise<unknown> =>
  page.evaluate(`(async () => {
    const challenge = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(${JSON.stringify(message)}))
    const publicKey = { challenge, rpId: ${JSON.stringify(rpId)}, userVerification: 'required' }
    return navigator.credentials.get({ publicKey }).then((one) => one.toJSON(), (error) => error.name)
  })()`)

export const passkeyFlows = (world: World): void => {
  let opened: Promise<Scene> | undefined
  /** One scene for the tests of this part: adding a passkey costs a second. */
  const sceneOf = async (): Promise<Scene> => {
    opened ??= visitWithPasskey(world)
    const scene = await opened
    showOnFailure(scene.page)
    scene.complaints.length = 0
    return scene
  }
  afterAll(async () => {
    const scene = await opened?.catch(() => undefined)
    await scene?.close()
  })

  test('the page by link offers it first to a person who is signed in and has one, in whichever workspace it is asked', async () => {
    const scene = await sceneOf()
    const { page, complaints } = scene
    const [id = ''] = await scene.team.hold('450000')
    await page.goto(`/approve/${id}`)
    const approve = page.getByRole('button', { name: approveLabel })
    await approve.waitFor()
    await expect.poll(() => page.locator('.answer-bar button.button').first().textContent()).toContain(approveLabel)
    const walk = countSteps()
    await walk.press(approve)
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    expect(walk.steps).toBe(1)
    await expect.poll(async () => (await approvalOf(scene, id)).decisions).toMatchObject([{ via: 'passkey' }])
    expect(complaints).toEqual([])
  })

  test('nothing is approved by the wrong finger, by a text that was changed on its way to the page, on another origin, or by the same signature again', async () => {
    const scene = await sceneOf()
    const { page, device } = scene
    const [id = '', other = ''] = await scene.team.hold('450000', '460000')
    await page.goto(`/approvals/${id}`)
    const approve = page.getByRole('button', { name: approveLabel })
    await approve.waitFor()

    await device.setVerifies(false)
    await approve.click()
    await page.getByText(/couldn’t confirm your identity/).waitFor()
    await device.setVerifies(true)

    const api = `**/v1/approvals/${id}`
    await page.route(api, async (route) => {
      const response = await route.fetch()
      const text = (await response.text()).replaceAll('KES 4,500.00', 'KES 45.00')
      await route.fulfill({ response, body: text })
    })
    await page.reload()
    await approve.click()
    await page.getByText(/passkey's signature was not accepted/).waitFor()
    await page.unroute(api)
    await expect.poll(() => approvalOf(scene, id)).toMatchObject({ status: 'pending', decisions: [] })

    const site = new URL(world.service.api.url)
    const { signing } = await approvalOf(scene, id)
    const elsewhere = `http://evil.${site.hostname}:${site.port}/`
    await page.route(`${elsewhere}**`, (route) => route.fulfill({ contentType: 'text/html', body: '<title>Evil</title>' }))
    await page.goto(elsewhere)
    const stolen = await signOn(page, site.hostname, signing.approve)
    const refused = typeof stolen === 'string' ? stolen : (await decide(scene, id, stolen)).body.error
    expect(['SecurityError', 'invalid_signature']).toContain(refused)

    await page.goto(`/approvals/${id}`)
    const sent = page.waitForRequest((request) => request.url().endsWith('/decide'))
    await approve.click()
    const { passkey } = (await sent).postDataJSON()
    await page.getByRole('heading', { name: /KES\s4,600 to Roastery Kiambu/ }).waitFor()
    await expect.poll(async () => (await approvalOf(scene, id)).status).toBe('approved')
    const replayed = await decide(scene, other, passkey)
    expect([replayed.status, replayed.body.error]).toEqual([401, 'invalid_signature'])
    await expect.poll(async () => (await approvalOf(scene, other)).status).toBe('pending')
    await scene.team.within(scene.approver).post(`/v1/approvals/${other}/decide`, { decision: 'reject' })
    await page.unrouteAll()
  })

  test('the program of the guide approves, in the page', async () => {
    const scene = await sceneOf()
    const { page } = scene
    const [id = ''] = await scene.team.hold('450000')
    const guide = readFileSync(new URL('../../../docs/guides/passkeys.md', import.meta.url), 'utf8')
    const program = /```javascript\n([\s\S]*?)```/.exec(guide)?.[1]?.replace('apr_…', id)
    await scene.approver.api.put('/v1/workspaces/current', { workspace_id: scene.team.workspaceId })
    const status = await page.evaluate(`(async () => { ${program}; return answer.status })()`)
    expect(status).toBe(200)
    await expect.poll(async () => (await approvalOf(scene, id)).decisions).toMatchObject([{ via: 'passkey' }])
  })

  test('a passkey is added with its name and stays on the device, is offered first, and what it approved counts no more once it is removed', async () => {
    const scene = await sceneOf()
    const { page, device, complaints } = scene
    await page.goto('/account')
    await page.getByText('Amina’s phone').waitFor()
    expect(await device.credentials()).toMatchObject([{ isResidentCredential: true }])
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click()
    await page.getByText('This device already has a passkey of your account.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

    await scene.team.within(scene.team.owner).post('/v1/spending-policies', { name: 'Two', required_approval_count: 2 })
    await scene.team.join('approver', 'Juma')
    const [id = ''] = await scene.team.hold('450000')
    await page.goto(`/approvals/${id}`)
    const approve = page.getByRole('button', { name: approveLabel })
    await approve.waitFor()
    await expect.poll(() => page.locator('.decide-bar button').first().textContent()).toContain(approveLabel)
    await expect.poll(async () => (await approve.boundingBox())?.y).toBeGreaterThan((phone.height * 2) / 3)
    await expect
      .poll(() => page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'))
      .toBe(true)
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    await approve.click()
    await page.getByText('Signed with a passkey').waitFor()
    await expect
      .poll(async () => (await approvalOf(scene, id)).decisions)
      .toMatchObject([{ decision: 'approve', via: 'passkey', voided_at: null }])

    await page.goto('/account')
    await page.getByRole('button', { name: 'Remove Amina’s phone' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No passkeys yet').waitFor()
    await expect
      .poll(() => approvalOf(scene, id))
      .toMatchObject({ approvals_given: 0, decisions: [{ voided_at: expect.any(String) }] })
    expect(complaints).toEqual([])
  })

  test('where only signatures count an approver without one is sent to add it, and a session’s approval is not offered', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    await team.within(team.owner).post('/v1/spending-policies', { name: 'Signed', approval_proof: 'signature' })
    const [id] = await team.hold('450000')
    const { page, close } = await visitAs(world, approver)
    await page.goto(`/approvals/${id}`)
    await page.getByText('Only an approval by passkey or wallet counts', { exact: true }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0)
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.getByRole('button', { name: 'Add a passkey' }).waitFor()
    await close()
  })
}
