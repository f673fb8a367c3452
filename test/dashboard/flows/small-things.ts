import { expect, test } from 'vitest'
import { newBeneficiary } from '../../harness/money.ts'
import { follow, phone, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

/** The contrast of the first field's border with its background (WCAG 1.4.11 requires 3). */
const borderContrast = `(() => {
  const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d')
  const luminance = (color) => {
    context.fillStyle = color
    context.fillRect(0, 0, 1, 1)
    const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const field = document.querySelector('main input:not([type=radio], [type=checkbox])')
  const pair = [getComputedStyle(field).borderTopColor, getComputedStyle(field).backgroundColor].map(luminance).sort((a, b) => b - a)
  return (pair[0] + 0.05) / (pair[1] + 0.05)
})()`

const isInView = (selector: string) => `(() => {
  const { top, left, right, bottom } = document.querySelector('${selector}').getBoundingClientRect()
  const { clientWidth, clientHeight } = document.documentElement
  return top >= 0 && left >= 0 && right <= clientWidth && bottom <= clientHeight
})()`

export const smallThings = (world: World): void => {
  test('menus are complete, fields have a border, the first field has the focus, and a cancellation cancels one thing', async () => {
    world.service.clock.set(new Date())
    const home = await world.household()
    const { page, complaints, close } = await visitAs(world, home.person)
    await page.goto('/beneficiaries/new')
    await page.getByLabel('Name', { exact: true }).waitFor()
    await expect.poll(() => page.evaluate("document.activeElement.closest('main form') !== null")).toBe(true)
    expect(Number(await page.evaluate(borderContrast))).toBeGreaterThanOrEqual(3)
    for (const menu of [/^Account /, /^Workspace /]) {
      await page.getByRole('button', { name: menu }).first().click()
      await page.locator('.menu-list').first().waitFor()
      await expect.poll(() => page.evaluate(isInView('.menu-list'))).toBe(true)
      await page.keyboard.press('Escape')
    }
    await follow(page, `/payments/${home.heldPaymentId}`)
    await page.getByRole('button', { name: 'Cancel payment' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel this payment?' })
    await expect
      .poll(() => dialog.locator('.dialog-footer').getByRole('button').allTextContents())
      .toEqual(['Keep payment', 'Cancel payment'])
    await dialog.getByRole('button', { name: 'Keep payment' }).click()
    await dialog.waitFor({ state: 'detached' })
    await expect
      .poll(async () => (await home.person.api.get(`/v1/payments/${home.heldPaymentId}`)).body.status)
      .toBe('pending_approval')
    expect(complaints).toEqual([])
    await close()
  })

  test("on a phone the emergency stop and a payment's timeline are on the first two screens", async () => {
    const home = await world.household()
    const { page, close } = await visitAs(world, home.person, phone)
    const depth = async (name: string | RegExp) =>
      (await page.getByRole('heading', { name, exact: true }).first().boundingBox())?.y ?? Number.POSITIVE_INFINITY
    await page.goto('/workspace')
    await page.getByRole('button', { name: 'Freeze workspace' }).waitFor()
    await expect.poll(() => depth('Emergency stop')).toBeLessThan(phone.height)
    const pay = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Pay', exact: true })
    await expect.poll(async () => (await pay.boundingBox())?.y).toBeGreaterThan((phone.height * 2) / 3)
    await pay.click()
    await page.getByRole('heading', { name: 'New payment' }).waitFor()
    await follow(page, `/payments/${home.paymentId}`)
    await page.getByLabel('What happened').waitFor()
    await expect.poll(() => depth(/^(Timeline|What happened)$/)).toBeLessThan(2 * phone.height)
    await close()
  })

  test('one long word in a name or a purpose makes no page wider than a phone', async () => {
    const { person } = await world.household()
    const { api } = person
    const name = 'N'.repeat(100)
    const beneficiary_id = await newBeneficiary(api, { display_name: name })
    const fields = { amount_minor: '1500000', narrative: 'P'.repeat(140) }
    const held = await api.post('/v1/payments', { beneficiary_id, ...fields })
    expect(held.body.status).toBe('pending_approval')
    const { page, close } = await visitAs(world, person, phone)
    await page.goto('/approvals')
    for (const path of [
      '/approvals',
      `/approvals/${held.body.approval_id}`,
      `/payments/${held.body.id}`,
      '/payments',
      `/beneficiaries/${beneficiary_id}`,
      '/beneficiaries',
      '/',
      `/approve/${held.body.approval_id}`,
    ]) {
      await follow(page, path)
      await page.getByText(name).first().waitFor()
      const fits = () => page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')
      await expect.poll(fits, { message: path }).toBe(true)
    }
    await close()
  })

  test('an address of nothing leads on to the overview, and a dialog that a key opened gives the keyboard back to the page', async () => {
    const home = await world.household()
    const { page, close } = await visitAs(world, home.person)
    await page.goto(`/payments/${home.paymentId.slice(0, -4)}zzzz`)
    await page.getByText('There is no such resource').waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Go to overview' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.goto(`/approvals/${home.approvalId}`)
    await page.getByLabel('Payment to decide').waitFor()
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('r')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main')
    await close()
  })
}
