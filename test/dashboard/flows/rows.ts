import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newBeneficiary } from '../../harness/money.ts'
import { createKey } from '../../harness/people.ts'
import { createHousehold } from '../household.ts'
import { createTeam } from '../team.ts'
import { follow, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const names = [
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerk',
  'شركة القهوة السافانا للتجارة والاستيراد والتصدير المحدودة',
  `Mkulima ${'🌽'.repeat(12)} Cooperative`,
]
const notes = [
  'What these desks, chairs and lamps are for, for whom, and when they should come. '.repeat(2).trim(),
  '🎉'.repeat(40),
]

const widths = [
  { width: 1280, height: 800 },
  { width: 360, height: 740 },
]

/** Finds cut or squeezed parts: a page wider than its window, a table whose figures scroll out of view, a title too narrow. */
const broken = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement
  const found = scrollWidth > clientWidth ? ['the page is ' + scrollWidth + ' wide'] : []
  for (const table of document.querySelectorAll('main .table-scroll'))
    if (table.checkVisibility() && table.scrollWidth > table.clientWidth) found.push('a table is cut at ' + table.clientWidth + ' of ' + table.scrollWidth)
  const isFolded = clientWidth < 720
  for (const [row, title, part] of [['.rows > li', '.item-main', 0.6], ['.palette-entry', '.palette-title', 0.6], ['.pay-row', '.pay-payee', isFolded ? 0.6 : 0.33]])
    for (const each of document.querySelectorAll(row)) {
      const main = each.querySelector(title)
      if (!main || !main.checkVisibility()) continue
      const inner = main.querySelector('.item-title') ?? main
      const share = inner.getBoundingClientRect().width / each.getBoundingClientRect().width
      if (share < part) found.push('"' + inner.textContent + '" has ' + Math.round(share * 100) + ' % of its row')
    }
  return found
})()`

const brokenAt = async (page: Page): Promise<string[]> => {
  const found: string[] = []
  for (const size of widths) {
    await page.setViewportSize(size)
    found.push(
      ...(await page.evaluate<string[]>(broken)).map((what) => `${new URL(page.url()).pathname} at ${size.width}: ${what}`),
    )
  }
  return found
}

const brokenOn = async (page: Page, paths: readonly string[]): Promise<string[]> => {
  const found: string[] = []
  for (const path of paths) {
    await follow(page, path)
    await page.locator('main h1').first().waitFor()
    await page.locator('.skeleton, main[aria-busy="true"]').first().waitFor({ state: 'detached' })
    found.push(...(await brokenAt(page)))
  }
  return found
}

export const rowFlows = (world: World): void => {
  test('with long names and notes, right to left and in emoji, no list cuts its amounts and each title keeps 60 % of its row', async () => {
    const home = await createHousehold(world.service)
    const { api } = home.person
    for (const display_name of names) {
      const beneficiary_id = await newBeneficiary(api, { display_name })
      for (const narrative of notes)
        await api.post('/v1/payments', {
          beneficiary_id,
          amount_minor: '123400',
          narrative,
          account_reference: 'INV-2026-000123456',
        })
      const agent = await createKey(home.person, {
        name: display_name,
        spending_controls: { per_payment_limit_minor: '4000000' },
      })
      await agent.api.post('/v1/payments', { beneficiary_id, amount_minor: '4100000', narrative: notes[0] })
    }
    await world.service.settle()
    const { page, close } = await visitAs(world, home.person)
    await page.goto('/')
    await page.getByText('Recent payments').waitFor()
    const lists = [
      ...['/', '/payments', '/payments/refused', '/payments/batches', '/approvals', '/beneficiaries', '/policies', '/mandates'],
      ...['/history', '/statements', '/spending', '/top-up', '/agents', `/agents/${home.agent.grantId}`, '/developers'],
      ...['/developers/events', '/developers/requests', '/account', '/workspace', '/workspace/activity'],
    ]
    const found = await brokenOn(page, lists)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('Mkulima')
    await page
      .getByRole('option', { name: /Cooperative/ })
      .first()
      .waitFor()
    found.push(...(await brokenAt(page)))
    expect(found, found.join('\n')).toEqual([])
    await close()
  })

  test('a batch of payments that waits for an approval shows its amounts whole at both widths', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    await approver.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    await team.payUsually()
    const api = team.within(team.owner)
    const known = (await api.get('/v1/beneficiaries')).body.data[0].id
    const items = [
      { beneficiary_id: known, amount_minor: '1500000' },
      ...names.map((display_name, index) => ({ display_name, destination: `25472213001${index}`, amount_minor: '1100000' })),
    ]
    const list = await api.post('/v1/payment-batches', {
      name: names[0],
      items: items.map((item) => ({ ...item, narrative: notes[0] })),
    })
    const { page, close } = await visitAs(world, approver)
    await page.goto('/')
    const found = await brokenOn(page, [
      '/approvals',
      `/approvals/${list.body.approval_id}`,
      '/payments',
      `/payments/batches/${list.body.id}`,
    ])
    expect(found, found.join('\n')).toEqual([])
    await close()
  })
}
