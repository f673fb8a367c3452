import { expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { answered } from './authority-scene.ts'

const service = await openService({ env: { FEES: JSON.stringify({ MPESA_B2C: [{ up_to_minor: null, fee_minor: '1000' }] }) } })
const hour = 3_600_000
const at = (hours: number): string => new Date(service.clock.now().getTime() + hours * hour).toISOString()
const later = async (hours: number) => {
  service.clock.advance(hours * 3600)
  await service.deps.jobs.sweep()
}
const eventsOf = async ({ api }: Person): Promise<Json[]> =>
  answered(await api.get('/v1/notifications?type=balance.short&limit=100')).data.map(({ data }: Json) => data)
const needOf = async ({ api }: Pick<Person, 'api'>): Promise<Json> =>
  answered(await api.get('/v1/payments/attention')).needs.find(({ kind }: Json) => kind === 'balance_short')?.shortage
const again = async (person: Person): Promise<Person> => signIn(service.api, person.wallet)

test('money that is short for what is scheduled is told 48 and 4 hours before, once each, with its fees, summed by workspace', async () => {
  const owner = await signIn(service.api)
  await credit(service, owner.accountId, 500_000n)
  const beneficiary_id = await newBeneficiary(owner.api)
  const due = at(72)
  answered(await owner.api.post('/v1/payments', { beneficiary_id, amount_minor: '300000', execute_at: due }), 201)
  const items = [{ beneficiary_id: await newBeneficiary(owner.api), amount_minor: '250000' }]
  answered(await owner.api.post('/v1/payment-batches', { items, execute_at: due }), 201)
  await later(20)
  let person = await again(owner)
  expect([await eventsOf(person), await needOf(person)]).toEqual([[], undefined])
  await later(5)
  await later(1)
  person = await again(owner)
  const workspace_id = (await person.api.get('/v1/workspaces/current')).body.workspace.id
  // Both payments with their fees, less the balance.
  const shortage = { workspace_id, missing_minor: '52000', scheduled_minor: '552000', due_at: due }
  expect([await eventsOf(person), await needOf(person)]).toEqual([[shortage], shortage])
  await later(42)
  await later(1)
  person = await again(owner)
  expect(await eventsOf(person)).toEqual([shortage, shortage])
  // An announced shortage is forgotten a week after its time.
  const remembered = async () => {
    const rows = await service.deps.db.query<{ dueAt: string }>(
      `select to_json(due_at)#>>'{}' as "dueAt" from balance_shortages where workspace_id = $1 order by due_at`,
      [parseId('workspace', workspace_id)],
    )
    return rows.map(({ dueAt }) => Date.parse(dueAt))
  }
  expect(await remembered()).toEqual([Date.parse(due), Date.parse(due)])
  await later(8 * 24)
  const next = at(2)
  const order = { beneficiary_id, amount_minor: '9000000', execute_at: next }
  answered(await (await again(owner)).api.post('/v1/payments', order), 201)
  await later(0)
  expect(await remembered()).toEqual([Date.parse(next)])
})

test('what is covered before four hours is not told again; what is nearer is told at once; another workspace has its own balance', async () => {
  const owner = await signIn(service.api)
  const stranger = await signIn(service.api)
  await credit(service, stranger.accountId, 10_000_000n)
  const beneficiary_id = await newBeneficiary(owner.api)
  const theirs = await newBeneficiary(stranger.api)
  const viewer = await signIn(service.api)
  const { token } = answered(await owner.api.post('/v1/workspaces/current/invitations', { role: 'viewer' }), 201)
  answered(await viewer.api.post('/v1/workspaces/invitations/accept', { token }))
  const soon = at(2)
  answered(await stranger.api.post('/v1/payments', { beneficiary_id: theirs, amount_minor: '300000', execute_at: soon }), 201)
  answered(await owner.api.post('/v1/payments', { beneficiary_id, amount_minor: '20000', execute_at: soon }), 201)
  await later(0)
  await later(0)
  const told = await eventsOf(owner)
  expect(told).toMatchObject([{ missing_minor: '21000', scheduled_minor: '21000', due_at: soon }])
  // Every member who may read payments gets the event.
  expect(await eventsOf(viewer)).toEqual(told)
  // The amount due less the amount missing is the balance.
  const { workspace } = (await owner.api.get('/v1/workspaces/current')).body
  answered(await viewer.api.put('/v1/workspaces/current', { workspace_id: workspace.id }))
  const hidden = { workspace_id: workspace.id, missing_minor: null, scheduled_minor: '21000', due_at: soon }
  expect(await needOf(viewer)).toEqual(hidden)
  for (const [permissions, missing_minor] of [
    [['payment.read'], null],
    [['payment.read', 'account.read'], '21000'],
  ] as const)
    expect(await needOf(await createKey(owner, { permissions: [...permissions] }))).toEqual({ ...hidden, missing_minor })
  expect(await eventsOf(stranger)).toEqual([])
  const day = at(24)
  await credit(service, owner.accountId, 21_000n)
  answered(await owner.api.post('/v1/payments', { beneficiary_id, amount_minor: '40000', execute_at: day }), 201)
  await later(0)
  expect(await eventsOf(owner)).toHaveLength(2)
  await credit(service, owner.accountId, 500_000n)
  expect(await needOf(owner)).toBeUndefined()
  await later(21)
  expect(await eventsOf(await again(owner))).toHaveLength(2)
})
