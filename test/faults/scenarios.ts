import { parseId } from '../../src/lib/ids.ts'
import type { Answer, Client } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { authorizeAgent, refresh } from '../harness/oauth.ts'
import type { Person } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'

export type Stage = { service: TestService; person: Person; administrator: Person; strict: string; plain: string }

/** One act that moves money, or on which an agent's access depends. `prepare` runs without faults and returns the act, which may be cut anywhere, then repeats. */
export type Scenario = { name: string; prepare: (stage: Stage) => Promise<() => Promise<Pick<Answer, 'status' | 'body'>>> }

let serial = 0
const next = (): number => {
  serial += 1
  return serial
}
const newKey = () => `fault-${process.pid}-${next()}`

const post = (api: Client, path: string, body?: unknown) => {
  const key = newKey()
  return async () => () => api.post(path, body, { key })
}

const pay = async ({ person }: Stage, beneficiary_id: string): Promise<string> => {
  const answer = await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '100000' })
  if (answer.status !== 201) throw new Error(`no payment was made: ${answer.text}`)
  return answer.body.id
}

const approvalOf = async (stage: Stage): Promise<string> => {
  const id = await pay(stage, stage.strict)
  return (await stage.person.api.get(`/v1/payments/${id}`)).body.approval_id
}

const decide =
  (decision: 'approve' | 'reject'): Scenario['prepare'] =>
  async (stage) => {
    const approval = await approvalOf(stage)
    return () => stage.person.api.post(`/v1/approvals/${approval}/decide`, { decision })
  }

/** A payment with an unknown outcome, ready for an operator. */
const unknownPayment = async (stage: Stage): Promise<string> => {
  const destination = `25470000${5000 + (next() % 1000)}`
  const id = await pay(stage, await newBeneficiary(stage.person.api, { destination }))
  await stage.service.settle()
  await stage.service.deps.db.query(`update rail_attempts set asked_at = created_at - interval '1 day' where subject_id = $1`, [
    parseId('payment', id),
  ])
  return id
}

/** Runs due work, like a process in the background. A lost database is an error. */
const work = (stage: Stage, task: () => Promise<unknown>) => async () => {
  try {
    await task()
    return { status: 200, body: undefined }
  } catch {
    stage.service.deps.logger.debug('work was cut')
    return { status: 503, body: undefined }
  }
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'POST /v1/topups/initiate',
    prepare: ({ person }) => post(person.api, '/v1/topups/initiate', { amount_minor: '100000', phone_number: '254722000001' })(),
  },
  {
    name: 'POST /v1/payments',
    prepare: ({ person, plain }) => post(person.api, '/v1/payments', { beneficiary_id: plain, amount_minor: '100000' })(),
  },
  {
    name: 'POST /v1/payments that waits for approval',
    prepare: ({ person, strict }) => post(person.api, '/v1/payments', { beneficiary_id: strict, amount_minor: '100000' })(),
  },
  { name: 'POST /v1/approvals/:id/decide, approve', prepare: decide('approve') },
  { name: 'POST /v1/approvals/:id/decide, reject', prepare: decide('reject') },
  {
    name: 'POST /v1/approvals/:id/decide-by-signature',
    prepare: async (stage) => {
      const approval = await approvalOf(stage)
      const { message } = (await stage.person.api.get(`/v1/approvals/${approval}/message?decision=approve`)).body
      const signature = await stage.person.wallet.signMessage({ message })
      return () => stage.person.api.post(`/v1/approvals/${approval}/decide-by-signature`, { decision: 'approve', signature })
    },
  },
  {
    name: 'POST /v1/payments/:id/cancel',
    prepare: async (stage) => {
      const id = await pay(stage, stage.strict)
      return () => stage.person.api.post(`/v1/payments/${id}/cancel`)
    },
  },
  {
    name: 'POST /v1/admin/payments/:id/resolve',
    prepare: async (stage) => {
      const id = await unknownPayment(stage)
      const body = { outcome: 'failed', evidence: 'the statement does not show it' }
      return () => stage.administrator.api.post(`/v1/admin/payments/${id}/resolve`, body)
    },
  },
  {
    name: 'POST /v1/admin/adjustments',
    prepare: ({ person, administrator }) => {
      const body = { account_id: person.accountId, direction: 'credit', amount_minor: '100', reason: 'a test' }
      return post(administrator.api, '/v1/admin/adjustments', body)()
    },
  },
  {
    name: 'POST /v1/payment-batches with a new payee',
    prepare: ({ person, plain }) => {
      const named = { display_name: 'New', destination: `2547${String(60_000_000 + next())}`, amount_minor: '100000' }
      const items = [{ beneficiary_id: plain, amount_minor: '100000' }, named]
      return post(person.api, '/v1/payment-batches', { items, duplicates_intended: true })()
    },
  },
  {
    name: 'POST /v1/approvals/:id/decide, approve a batch',
    prepare: async ({ person, plain, strict }) => {
      const items = [plain, strict].map((beneficiary_id) => ({ beneficiary_id, amount_minor: '100000' }))
      const { approval_id } = (await person.api.post('/v1/payment-batches', { items, duplicates_intended: true })).body
      return () => person.api.post(`/v1/approvals/${approval_id}/decide`, { decision: 'approve' })
    },
  },
  {
    name: 'POST /v1/payment-batches/:id/cancel',
    prepare: async ({ person, strict }) => {
      const items = [{ beneficiary_id: strict, amount_minor: '100000' }]
      const { id } = (await person.api.post('/v1/payment-batches', { items, duplicates_intended: true })).body
      return () => person.api.post(`/v1/payment-batches/${id}/cancel`)
    },
  },
  {
    name: 'a scheduled payment that becomes due',
    prepare: async (stage) => {
      const { person, plain, service } = stage
      const execute_at = new Date(service.clock.now().getTime() + 60_000).toISOString()
      await person.api.post('/v1/payments', { beneficiary_id: plain, amount_minor: '100000', execute_at })
      service.clock.advance(61)
      return work(stage, async () => {
        await service.deps.jobs.sweep()
        await service.deps.jobs.drain()
      })
    },
  },
  {
    name: 'sending a payment',
    prepare: async (stage) => {
      await pay(stage, stage.plain)
      return work(stage, () => stage.service.deps.jobs.drain())
    },
  },
  {
    name: 'a callback, and the work on it',
    prepare: async (stage) => {
      await pay(stage, stage.plain)
      await stage.service.deps.jobs.drain()
      return work(stage, async () => {
        await stage.service.scheduler.runAll()
        await stage.service.deps.jobs.drain()
      })
    },
  },
  {
    name: 'POST /v1/oauth/token, refresh',
    prepare: async ({ person, service }) => {
      const { client, refreshToken } = await authorizeAgent(service.api, person)
      let current = refreshToken
      return async () => {
        const answer = await refresh(service.api, client, current)
        if (answer.status === 200) current = answer.body.refresh_token
        return answer
      }
    },
  },
  {
    name: 'asking about a payment whose callback was lost',
    prepare: async (stage) => {
      await pay(stage, await newBeneficiary(stage.person.api, { destination: '254711000001' }))
      await stage.service.settle()
      stage.service.clock.advance(31)
      return work(stage, async () => {
        await stage.service.deps.jobs.sweep()
        await stage.service.scheduler.runAll()
        await stage.service.deps.jobs.drain()
      })
    },
  },
]
