import { expect, test } from 'vitest'
import { pagesOfPdf } from '../pdf-text.ts'
import { createTeam } from '../team.ts'
import { visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const statementFlows = (world: World): void => {
  test('a month of the account is shown with its balances and by payee, other months are one step away, and print and export take all of it', async () => {
    const home = await world.household()
    const { page, complaints, close } = await visitAs(world, home.person)
    const row = (payee: string, sum: string) => page.getByRole('row').filter({ hasText: payee }).filter({ hasText: sum }).first()
    await page.goto('/')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Statements' }).click()
    const facts = page.locator('main .facts').first()
    await facts.getByText('Opening balance').waitFor()
    const { body } = await home.person.api.get('/v1/accounts/me/statement')
    const shown = (await facts.textContent())?.replaceAll(/[^\d]/g, ' ').trim().split(/\s\s+/) ?? []
    expect(shown.map((text) => text.replaceAll(' ', ''))).toEqual([
      body.opening_balance_minor === '0' ? '000' : body.opening_balance_minor,
      body.in_minor,
      body.out_minor,
      body.closing_balance_minor,
    ])
    await row('Brian Otieno', '9,450.00').waitFor()
    await page.evaluate('window.print = () => { document.title = "printed" }')
    await page.getByRole('button', { name: 'Print' }).click()
    await expect.poll(() => page.title()).toBe('printed')
    const period = (await page.locator('.page-header p').textContent())?.replaceAll(/\s/g, '') ?? ''
    const printed = pagesOfPdf(await page.pdf({ format: 'A6' })).map((text) => text.replaceAll(/\s/g, ''))
    expect(printed.length).toBeGreaterThan(2)
    for (const [index, text] of printed.entries()) {
      expect(text).toContain(period)
      expect(text).toContain(`${index + 1}/${printed.length}`)
    }
    const file = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    expect((await file).suggestedFilename()).toBe(`statement-${body.from.slice(0, 7)}.csv`)
    await page.getByRole('button', { name: 'Previous month' }).click()
    await page.getByText('No bookings this month').waitFor()
    await page.getByRole('button', { name: 'Next month' }).click()
    await row('Kenya Power', '3,840.00').waitFor()
    await page.getByRole('button', { name: 'Previous month' }).click()
    await page.getByText('No bookings this month').waitFor()
    await page.getByLabel('Month', { exact: true }).selectOption(body.from.slice(0, 7))
    await row('Kenya Power', '3,840.00').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a statement whose next page cannot be read is not printed: the page asks for it once and says why', async () => {
    const home = await world.household()
    const { page, complaints, close } = await visitAs(world, home.person)
    let asked = 0
    await page.route('**/v1/accounts/me/statement?*', async (route) => {
      if (new URL(route.request().url()).searchParams.has('cursor')) {
        asked += 1
        return route.fulfill({ status: 403, json: { error: 'permission_denied', message: 'Not now.' } })
      }
      const response = await route.fetch()
      return route.fulfill({ response, json: { ...(await response.json()), next_cursor: 'more' } })
    })
    await page.goto('/statements')
    await page.getByRole('button', { name: 'Show more' }).waitFor()
    await page.evaluate('window.print = () => { document.title = "printed" }')
    await page.getByRole('button', { name: 'Print' }).click()
    await page.getByRole('alert').getByText('Not now').waitFor()
    expect(asked).toBe(1)
    expect(await page.title()).not.toBe('printed')
    expect(complaints).toEqual([])
    await close()
  })

  test('a viewer of a workspace has its payments by payee: with its own balance, without that of an owner who shares one', async () => {
    const team = await createTeam(world.service, { isShared: true })
    await team.payUsually()
    const viewer = await team.join('viewer', 'Vera Viewer')
    await viewer.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    const { page, complaints, close } = await visitAs(world, viewer)
    await page.goto('/statements')
    await page.getByRole('row').filter({ hasText: 'Roastery Kiambu' }).filter({ hasText: '900.00' }).first().waitFor()
    await expect.poll(() => page.getByText(/Opening balance|Closing balance|Balance so far|Balance after/).count()).toBe(0)
    const separate = await createTeam(world.service)
    await separate.payUsually()
    const member = await separate.join('viewer', 'Vera Viewer')
    await member.api.put('/v1/workspaces/current', { workspace_id: separate.workspaceId })
    const itsOwn = await visitAs(world, member)
    await itsOwn.page.goto('/statements')
    await itsOwn.page.getByText('Opening balance').waitFor()
    await itsOwn.page.getByText(/Closing balance|Balance so far/).waitFor()
    expect([...complaints, ...itsOwn.complaints]).toEqual([])
    await itsOwn.close()
    await close()
  })
}
