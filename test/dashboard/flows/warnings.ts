import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fact, factItemText, factShort, factTitle, factTypes, inOrder, levels } from '../../../src/lib/approval-facts.ts'
import { parseId } from '../../../src/lib/ids.ts'
import { displayAmount } from '../../../src/lib/money.ts'
import { credit, newBeneficiary } from '../../harness/money.ts'
import { createKey, type Person } from '../../harness/people.ts'
import { type PushService, startPushService } from '../../harness/push-service.ts'
import { connectAgent } from '../../mcp/connect.ts'
import { takeScreenshots } from '../screenshots.ts'
import { createTeam, type Team } from '../team.ts'
import { visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const told = factTypes.filter((type) => levels[type] !== 'info')
const money = (minor: string) => displayAmount(BigInt(minor), 'KES')
const plain = (text: string | null): string => (text ?? '').replace(/[\u00a0\u2066-\u2069]/g, ' ').replace(/ +/g, ' ')
const small = { width: 360, height: 740 }

export const warningFlows = (world: World): void => {
  let pushes: PushService
  beforeAll(async () => {
    pushes = await startPushService()
  })
  afterAll(() => pushes.close())

  /** An approver with a browser that takes notifications, and an agent that lists approvals. */
  const createScene = async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    await approver.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    const phone = pushes.browser()
    expect((await approver.api.post('/v1/accounts/me/push-subscriptions', phone.subscription)).status).toBe(201)
    const noticeOf = (id: string): string =>
      phone.received.map(({ text }) => JSON.parse(text)).find(({ tag }) => tag === id)?.body ?? ''
    return { team, approver, noticeOf }
  }

  const listedTo = async (team: Team): Promise<{ approval: { id: string }; facts: string[] }[]> => {
    await team.owner.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    const { key } = await createKey(team.owner)
    const agent = await connectAgent(world.service.api.url, { bearer: key })
    const { approvals } = await agent.call('list_approvals')
    await agent.close()
    return approvals
  }

  const isInView = async (page: Page, name: RegExp): Promise<boolean> => {
    const box = await page.getByRole('button', { name }).last().boundingBox()
    return box !== null && box.y >= 0 && box.y + box.height <= small.height
  }

  /** The texts of inbox, page, dialog and link, at the size of the smallest phone, with Approve in view. */
  const saidTo = async (person: Person, id: string) => {
    const { page, close } = await visitAs(world, person, small)
    await page.goto('/approvals')
    const row = page.locator(`#row-${id}`)
    await row.waitFor()
    const inbox = plain(await row.textContent())
    await page.goto(`/approvals/${id}`)
    await page.getByLabel('Payment to decide').waitFor()
    const onPage = plain(await page.getByLabel('Payment to decide').textContent())
    expect(await isInView(page, /^Approve( a)?$/)).toBe(true)
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    const dialog = plain(await page.getByRole('dialog').textContent())
    expect(await isInView(page, /^Approve KES/)).toBe(true)
    await page.goto(`/approve/${id}`)
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    expect(await isInView(page, /^Approve( a)?$/)).toBe(true)
    const link = plain(await page.locator('main').textContent())
    return { said: { inbox, page: onPage, dialog, link }, page, close }
  }

  test('each type of warning is told in the inbox, on the page, in the dialog, at the link, in the notice and to an agent, with Approve in view on the smallest phone', async () => {
    const { team, approver, noticeOf } = await createScene()
    // The beneficiary's name is known: no check changes the rows below.
    await world.service.settle()
    const long = 'Savannah Coffee Roasters and Green Bean Traders of Kiambu and Nairobi Limited'
    const factOf = (type: Fact['type']): Fact => {
      const about = { beneficiary: long, amount_minor: '9800000', name: long, other_amount_minor: '1000000' }
      const item = { index: null, ...about, at: '2026-11-20T08:00:00.000Z', payment_id: null }
      return { type, level: levels[type], count: 1, items: [item] }
    }
    // A notification has room for only a few.
    const parts = [told.slice(0, 3), told.slice(3, 6), told.slice(6, 9), told.slice(9), told]
    const ids = await team.hold(...parts.map((_, index) => String(110_000 + index * 100)))
    const factsOf = (index: number) => inOrder((parts[index] ?? []).map(factOf))
    for (const [index, id] of ids.entries())
      await world.service.deps.db.query('update approvals set facts = $2 where id = $1', [
        parseId('approval', id),
        JSON.stringify(factsOf(index)),
      ])
    await world.service.settle()
    const listed = await listedTo(team)
    for (const [index, id] of ids.entries()) {
      const agents = listed.find(({ approval }) => approval.id === id)?.facts.join(' ') ?? ''
      for (const fact of factsOf(index)) {
        expect(agents).toContain(factTitle(fact, 1))
        if (index < 4) expect(noticeOf(id), fact.type).toContain(factTitle(fact, 1))
      }
    }
    const all = ids.at(-1) ?? ''
    const { said, page, close } = await saidTo(approver, all)
    for (const fact of factsOf(4)) {
      expect.soft(said.inbox).toContain(factShort(fact))
      expect.soft(said.page).toContain(factTitle(fact, 1))
      expect.soft(said.dialog).toContain(fact.level === 'danger' ? factTitle(fact, 1) : factShort(fact))
      expect.soft(said.link).toContain(factTitle(fact, 1))
    }
    await page.goto(`/approvals/${all}`)
    await page.getByLabel('Payment to decide').waitFor()
    await takeScreenshots(page, 'approval-every-warning')
    await close()
  })

  test('of 1,000 rows, the one that the rail registers to another name stands in red above Approve on every surface', async () => {
    const { team, approver, noticeOf } = await createScene()
    await credit(world.service, team.workspaceId, 700_000_000n)
    const api = team.within(team.owner)
    const known = (await api.get('/v1/beneficiaries')).body.data[0].id
    await newBeneficiary(api, { display_name: 'Landlord', destination: '254722100014' })
    await team.payUsually()
    const items = Array.from({ length: 1000 }, (_, index) => ({
      ...(index < 3
        ? { beneficiary_id: known }
        : {
            display_name: index === 769 ? 'Landlord' : `Fundi ${index + 1}`,
            destination: index === 769 ? '0722100014' : `07221${String(20_000 + index)}`,
          }),
      amount_minor: String(110_000 + index * 100),
      narrative: 'Harvest wages',
    }))
    const created = await api.post('/v1/payment-batches', { name: 'Week 47', items })
    expect(created.status, created.text.slice(0, 300)).toBe(201)
    const { approval_id: id } = created.body
    await world.service.settle()
    const { facts } = (await api.get(`/v1/approvals/${id}`)).body
    const [fact] = facts as Fact[]
    expect(fact).toMatchObject({ type: 'name_mismatch', level: 'danger', count: 1 })
    if (!fact?.items[0]) throw new Error('no item')
    const title = factTitle(fact, 1000)
    const item = plain(factItemText(fact, fact.items[0], money))
    expect(item).toMatch(/^"Landlord": registered to ".+", KES 1,869\.00$/)
    for (const text of [noticeOf(id), (await listedTo(team))[0]?.facts[0] ?? ''])
      expect(plain(text)).toContain(`${title}: ${item}`)
    const { said, page, close } = await saidTo(approver, id)
    expect(said.inbox).toContain('Another name 1')
    for (const text of [said.page, said.dialog, said.link]) {
      expect.soft(text).toContain(title)
      expect.soft(text).toContain(item)
    }
    await page.goto(`/approvals/${id}`)
    await page.getByText('You approve exactly these lines').waitFor()
    const caution = page.locator('.notice.tone-bad', { hasText: title })
    const top = async (locator: typeof caution) => (await locator.boundingBox())?.y ?? Number.NaN
    expect(await top(caution.first())).toBeLessThan(await top(page.getByRole('button', { name: 'Approve', exact: true })))
    const rows = page.getByRole('row').filter({ hasText: /Fundi|Landlord/ })
    expect(plain(await rows.first().textContent())).toMatch(/^Landlord no. 770 .*Another name: registered to "/)
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThanOrEqual(3000)
    await takeScreenshots(page, 'approval-long-list')
    // On a phone, undrawn rows keep their height, so the last row is where a thousand rows end.
    await page.setViewportSize(small)
    await page.goto(`/payments/batches/${created.body.id}`)
    await page.getByRole('link', { name: '4. Fundi 4', exact: true }).waitFor()
    await expect.poll(() => page.evaluate('document.documentElement.scrollHeight')).toBeGreaterThan(40_000)
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await page.getByRole('link', { name: '1000. Fundi 1000', exact: true }).waitFor()
    expect(await page.locator('main tr').count()).toBeLessThan(400)
    await close()
  })
}
