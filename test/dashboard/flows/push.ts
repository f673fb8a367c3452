import { afterAll, beforeAll, expect, test } from 'vitest'
import { signIn } from '../../harness/people.ts'
import { type PushService, startPushService } from '../../harness/push-service.ts'
import { emulatePush, subscribing } from '../push-browser.ts'
import { takeScreenshots } from '../screenshots.ts'
import { createTeam } from '../team.ts'
import { countSteps, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const noBreak = (text: string | undefined) => text?.replaceAll('\u00a0', ' ')

export const pushFlows = (world: World): void => {
  let pushes: PushService
  beforeAll(async () => {
    pushes = await startPushService()
  })
  afterAll(() => pushes.close())

  test('switched on in the account, a notice comes with each approval, opens its link, and is gone when it is decided', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    const { page, context, complaints, close } = await visitAs(world, approver)
    await page.goto('/account')
    const phone = pushes.browser()
    const push = await emulatePush(context, page, phone)
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Approval notifications' }) })
    await card.getByText('Off on every device').waitFor()
    await card.getByRole('button', { name: 'Switch on in this browser' }).click()
    await card.getByText('This browser', { exact: true }).waitFor()
    await takeScreenshots(page, 'account-notices')
    await expect.poll(() => page.evaluate('subscribedBy')).toBe((await world.service.api.get('/v1/push/key')).body.public_key)

    const [first = '', second = '', third = ''] = await team.hold('150000', '450000', '460000')
    await world.service.settle()
    expect([phone.received.length, pushes.refused]).toEqual([3, []])
    await push.deliver()
    await expect
      .poll(async () => (await push.shown()).map(({ tag }) => tag).toSorted())
      .toEqual([first, second, third].toSorted())
    const notice = (await push.shown()).find(({ tag }) => tag === first)
    expect(noBreak(notice?.title)).toBe('KES 1,500.00 to "Roastery Kiambu"')
    expect(notice?.body).toMatch(/^Needs your decision\. Registered name: /)
    // Without this, a browser removes a notification after 25 seconds.
    expect(notice?.requireInteraction).toBe(true)

    // A press opens the approval.
    expect(await push.press(first)).toBe(`${world.service.api.url}/approve/${first}`)
    await expect.poll(async () => (await push.shown()).map(({ tag }) => tag).toSorted()).toEqual([second, third].toSorted())
    const opened = await context.newPage()
    await opened.goto(await push.press(second))
    const walk = countSteps()
    await walk.press(opened.getByRole('button', { name: /^Approve( a)?$/ }))
    await walk.press(opened.getByRole('dialog').getByRole('button', { name: /^Approve KES/ }))
    await opened.getByRole('heading', { name: 'Approved' }).waitFor()
    expect(walk.steps).toBe(2)
    await opened.close()
    // After a decision elsewhere, the notification disappears by itself.
    await team.within(approver).post(`/v1/approvals/${third}/decide`, { decision: 'reject' })
    await world.service.settle()
    await push.deliver()
    await expect.poll(push.shown).toEqual([])

    await card.getByRole('button', { name: /^Switch off/ }).click()
    await card.getByText('Off on every device').waitFor()
    await team.hold('470000')
    await world.service.settle()
    const before = phone.received.length
    await world.service.settle()
    expect([phone.received.length, pushes.refused]).toEqual([before, []])
    expect(complaints).toEqual([])
    await close()
  })

  test('nobody is asked about notices before the first approval, then once', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    const [first = '', second = ''] = await team.hold('150000', '160000')
    const { page, context, close } = await visitAs(world, approver)
    await page.goto(`/approve/${first}`)
    const phone = pushes.browser()
    await emulatePush(context, page, phone)
    const offer = page.getByText('Get notified of the next approval on this device?')
    const approve = async () => {
      await page.getByRole('button', { name: /^Approve( a)?$/ }).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Approve KES/ })
        .click()
      await page.getByRole('heading', { name: 'Approved' }).waitFor()
    }
    await page.getByRole('button', { name: /^Approve( a)?$/ }).waitFor()
    await expect.poll(() => offer.count()).toBe(0)
    await takeScreenshots(page, 'approval-link')
    await approve()
    await offer.waitFor()
    await takeScreenshots(page, 'approval-offer')
    await page.getByRole('button', { name: 'Not now' }).click()
    await offer.waitFor({ state: 'detached' })
    await page.goto(`/approve/${second}`)
    await approve()
    await expect.poll(() => offer.count()).toBe(0)
    await close()
  })

  test('who signs in again in the same browser gets notices again, and who signs out gets none', async () => {
    const approver = await signIn(world.service.api)
    const { context, close } = await visitAs(world, approver)
    await context.grantPermissions(['notifications'])
    const page = await context.newPage()
    await page.addInitScript(subscribing(pushes.browser().subscription))
    await page.goto('/account')
    await page.getByRole('button', { name: 'Switch on in this browser' }).click()
    await page.getByRole('button', { name: /^Switch off/ }).waitFor()
    await approver.api.post('/v1/auth/logout')
    const again = await signIn(world.service.api, approver.wallet)
    const count = async () => (await again.api.get('/v1/accounts/me/push-subscriptions')).body.data.length
    await expect.poll(() => count()).toBe(0)
    await context.addCookies([{ name: 'service_session', value: again.cookie, url: world.service.api.url }])
    await page.goto('/account')
    await expect.poll(count).toBe(1)
    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(JSON.parse(await page.evaluate("localStorage.getItem('notify')"))).toMatchObject({ push: null })
    await close()
  })

  test('notices that were switched off in another browser stay off, and are offered again', async () => {
    const approver = await signIn(world.service.api)
    const { context } = await visitAs(world, approver)
    await context.grantPermissions(['notifications'])
    const page = await context.newPage()
    await page.addInitScript(subscribing(pushes.browser().subscription))
    await page.goto('/account')
    await page.getByRole('button', { name: 'Switch on in this browser' }).click()
    await page.getByRole('button', { name: /^Switch off/ }).waitFor()
    const other = await signIn(world.service.api, approver.wallet)
    const subscriptions = async () => (await other.api.get('/v1/accounts/me/push-subscriptions')).body.data
    const [{ id }] = await subscriptions()
    expect((await other.api.delete(`/v1/accounts/me/push-subscriptions/${id}`)).status).toBe(200)
    await page.reload()
    const chosen = async () => JSON.parse(await page.evaluate("localStorage.getItem('notify')"))
    await expect.poll(async () => [(await chosen()).push?.id !== id, await subscriptions()]).toEqual([true, []])
    expect(await chosen()).toMatchObject({ push: null, asked: false })
    await context.close()
  })

  test('a browser that blocks notices says how to allow them', async () => {
    const { page, context, close } = await visitAs(world, (await world.household()).person)
    await context.clearPermissions()
    await page.goto('/account')
    await page.getByRole('button', { name: 'Switch on in this browser' }).click()
    await page.getByText('Blocked by your browser').waitFor()
    await close()
  })

  test('an iPhone that offers no notices is told what to do, in order', async () => {
    const { context, close } = await visitAs(world, (await world.household()).person)
    const page = await context.newPage()
    await page.addInitScript(`Object.defineProperty(navigator, 'userAgent', { value: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1)' })
      delete window.PushManager`)
    await page.goto('/account')
    const steps = page.locator('.card', { hasText: 'Approval notifications' }).getByRole('listitem')
    await steps.first().waitFor()
    const texts = await steps.allTextContents()
    expect(texts.map((text) => /iOS 16|Add to Home Screen|sign in there|Switch on/.exec(text)?.[0])).toEqual([
      'iOS 16',
      'Add to Home Screen',
      'sign in there',
      'Switch on',
    ])
    expect(await page.getByRole('button', { name: 'Switch on in this browser' }).count()).toBe(0)
    await page.close()
    await close()
  })
}
