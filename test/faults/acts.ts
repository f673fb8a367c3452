import { setTimeout as wait } from 'node:timers/promises'
import { parseId } from '../../src/lib/ids.ts'
import { type Client, createClient } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { type Person, prove } from '../harness/people.ts'
import type { Cast, Puppet, World } from './world.ts'

/**
 * `survivor` takes requests and callbacks and runs no jobs. `heir` runs jobs, and is paused during the victim's act. `atRest`:
 * waits until the heir has ended all due work.
 */
export type Stage = {
  world: World
  cast: Cast
  strict: string
  survivor: { url: string; pause: () => Promise<void>; resume: () => void }
  administrators: readonly [Person, Person]
  heir: { pause: () => Promise<void>; resume: () => void }
}

/**
 * An act that moves money, prepared for a process that is killed in the middle. `again`: the same request at another process, if
 * the act is a request. `ended`: whether any process has ended the act.
 */
export type Ready = {
  /** The victim's steps before the act, without a kill. */
  before?: (victim: Puppet) => Promise<void>
  act: (victim: Puppet) => Promise<unknown>
  again?: () => Promise<{ status: number; text: string }>
  ended: () => Promise<boolean>
}

/** The heir runs jobs during this call, and is paused when it returns. */
export type Act = { name: string; prepare: (stage: Stage) => Promise<Ready> }

let serial = 0
const newKey = () => {
  serial += 1
  return `kill-${process.pid}-${serial}`
}

const until = async (met: () => Promise<boolean>, what: string): Promise<void> => {
  const end = performance.now() + 30_000
  while (!(await met())) {
    if (performance.now() > end) throw new Error(`it was waited for in vain: ${what}`)
    await wait(25)
  }
}

const created = async (answer: Promise<{ status: number; text: string; body: { id: string } }>): Promise<string> => {
  const { status, text, body } = await answer
  if (status !== 201) throw new Error(`it was not made: ${status} ${text}`)
  return body.id
}

const endStates = ['succeeded', 'failed', 'rejected', 'cancelled', 'expired', 'returned']

/** A payment or a top-up with a final status. */
const hasEnded = (api: Client, path: string) => async (): Promise<boolean> =>
  endStates.includes((await api.get(path)).body.status)

type Body = Record<string, unknown>

/** A request by the victim, repeated with the same key at the survivor. `ended` gets the survivor's answer. */
const request = (
  { survivor }: Stage,
  api: Client,
  path: string,
  body: Body | undefined,
  ended: (answered: { id: string }) => Promise<boolean>,
): Ready => {
  const key = newKey()
  let answered = { id: '' }
  return {
    act: (victim) => createClient(victim.url, api.credentials).post(path, body, { key }),
    again: async () => {
      const answer = await createClient(survivor.url, api.credentials).post(path, body, { key })
      answered = answer.body
      return answer
    },
    ended: () => ended(answered),
  }
}

const topup = (phone = '254722000001') => ({ amount_minor: '500000', phone_number: phone })

const pay = ({ cast }: Stage, beneficiary_id: string): Promise<string> =>
  created(cast.person.api.post('/v1/payments', { beneficiary_id, amount_minor: '10000' }))
const askToPay = ({ cast }: Stage, phone?: string): Promise<string> =>
  created(cast.person.api.post('/v1/topups/initiate', topup(phone)))

const waitingApproval = async (stage: Stage): Promise<{ payment: string; approval: string }> => {
  const id = await pay(stage, stage.strict)
  return { payment: id, approval: (await stage.cast.person.api.get(`/v1/payments/${id}`)).body.approval_id }
}

const decide = (name: string, body: (stage: Stage, approval: string) => Promise<{ path: string; body: Body }>): Act => ({
  name,
  prepare: async (stage) => {
    const waiting = await waitingApproval(stage)
    const { path, body: input } = await body(stage, waiting.approval)
    await stage.heir.pause()
    return request(
      stage,
      stage.cast.person.api,
      `/v1/approvals/${waiting.approval}/${path}`,
      input,
      hasEnded(stage.cast.person.api, `/v1/payments/${waiting.payment}`),
    )
  },
})

const adjustmentIs = async ({ administrators }: Stage, id: string, status: string): Promise<boolean> => {
  const { body } = await administrators[0].api.get('/v1/admin/adjustments?limit=100')
  return body.data.some((each: { id: string; status: string }) => each.id === id && each.status === status)
}

const adjustment = ({ cast }: Stage, amount_minor: string) => ({
  account_id: cast.person.accountId,
  direction: 'credit',
  amount_minor,
  reason: 'a test',
})

/** An administrator with a fresh proof of identity: a full run takes longer than a proof holds. */
const administrator = async ({ administrators }: Stage, index: 0 | 1): Promise<Client> => {
  const person = administrators[index]
  await prove(person)
  return person.api
}

/** A payment with an unknown outcome, ready for an operator. */
const unknownPayment = async (stage: Stage): Promise<string> => {
  const { cast } = stage
  serial += 1
  const id = await pay(stage, await newBeneficiary(cast.person.api, { destination: `25470000${5000 + (serial % 1000)}` }))
  await until(async () => (await cast.api.get(`/v1/payments/${id}`)).body.status === 'unknown', 'a payment of an unlisted result')
  await stage.world.sql(`update rail_attempts set asked_at = created_at - interval '1 day' where subject_id = $1`, [
    parseId('payment', id),
  ])
  return id
}

const batchPath = '/v1/payment-batches'

/** Three payments. The last one fails at the provider, like a third of all. */
const batchOf = ({ cast }: Stage, last: string, fields: Body = {}): Body => {
  const { MPESA_B2C, MPESA_B2B } = cast.beneficiaries
  const items = [MPESA_B2C, MPESA_B2B, last].map((beneficiary_id) => ({ beneficiary_id, amount_minor: '10000' }))
  // Acts repeat these payments.
  return { items: items.map((item, n) => ({ ...item, narrative: `${newKey()} ${n}` })), duplicates_intended: true, ...fields }
}

const newBatch = (stage: Stage, last: string, fields?: Body): Promise<string> =>
  created(stage.cast.person.api.post(batchPath, batchOf(stage, last, fields)))

/** Every item has ended, and the counts add up to the number of items. */
const batchHasEnded =
  ({ cast }: Stage, id: () => string, as: readonly string[] = ['completed']) =>
  async (): Promise<boolean> => {
    const { status, counts } = (await cast.person.api.get(`${batchPath}/${id()}`)).body
    const ended = Object.entries(counts ?? {}).filter(([item]) => endStates.includes(item))
    return as.includes(status) && ended.reduce((sum, [, count]) => sum + Number(count), 0) === 3
  }

const failingPayee = ({ cast }: Stage): Promise<string> => newBeneficiary(cast.person.api, { destination: '254700000001' })

const batches: readonly Act[] = [
  {
    name: `POST ${batchPath}`,
    prepare: async (stage) => {
      const last = await failingPayee(stage)
      await stage.heir.pause()
      return request(stage, stage.cast.person.api, batchPath, batchOf(stage, last), ({ id }) => batchHasEnded(stage, () => id)())
    },
  },
  {
    name: `POST ${batchPath} with a new payee, that waits for approval`,
    prepare: async (stage) => {
      serial += 1
      await stage.heir.pause()
      const named = { display_name: 'New', destination: `2547${String(50_000_000 + serial)}`, amount_minor: '10000' }
      const body = { items: [{ beneficiary_id: stage.strict, amount_minor: '10000' }, named], duplicates_intended: true }
      const waits = async ({ id }: { id: string }) =>
        (await stage.cast.person.api.get(`${batchPath}/${id}`)).body.counts.pending_approval === 2
      return request(stage, stage.cast.person.api, batchPath, body, waits)
    },
  },
  ...(['approve', 'reject'] as const).map(
    (decision): Act => ({
      name: decision === 'approve' ? 'approving a batch' : 'rejecting a batch',
      prepare: async (stage) => {
        const { api } = stage.cast.person
        const id = await newBatch(stage, stage.strict)
        const approval = (await api.get(`${batchPath}/${id}`)).body.approval_id
        await stage.heir.pause()
        const as = decision === 'approve' ? ['completed'] : ['rejected']
        return request(
          stage,
          api,
          `/v1/approvals/${approval}/decide`,
          { decision },
          batchHasEnded(stage, () => id, as),
        )
      },
    }),
  ),
  {
    name: `POST ${batchPath}/:id/cancel`,
    prepare: async (stage) => {
      const id = await newBatch(stage, stage.strict)
      await stage.heir.pause()
      const ended = batchHasEnded(stage, () => id, ['cancelled'])
      return request(stage, stage.cast.person.api, `${batchPath}/${id}/cancel`, undefined, ended)
    },
  },
  {
    name: 'approving a batch while another process cancels it',
    prepare: async (stage) => {
      const { api } = stage.cast.person
      const id = await newBatch(stage, stage.strict)
      const approval = (await api.get(`${batchPath}/${id}`)).body.approval_id
      await stage.heir.pause()
      const ended = batchHasEnded(stage, () => id, ['completed', 'cancelled'])
      let problem: string | undefined
      return {
        act: async (victim) => {
          const approving = createClient(victim.url, api.credentials)
            .post(`/v1/approvals/${approval}/decide`, { decision: 'approve' })
            .catch(() => undefined)
          const [approved, cancelled] = await Promise.all([approving, api.post(`${batchPath}/${id}/cancel`)])
          // At most one of the two takes effect. A lost answer may be either's.
          if (approved?.status === 200 && cancelled.status === 200) problem = 'it was approved and cancelled'
          if (![200, 409].includes(cancelled.status)) problem = `cancelling: ${cancelled.text}`
        },
        ended: () => (problem === undefined ? ended() : Promise.reject(new Error(problem))),
      }
    },
  },
  {
    name: `POST ${batchPath} with one key at two processes at once`,
    prepare: async (stage) => {
      const { api } = stage.cast.person
      const [body, key] = [batchOf(stage, await failingPayee(stage)), newKey()]
      await stage.heir.pause()
      const at = (url: string) => createClient(url, api.credentials).post(batchPath, body, { key })
      let answered = { id: '' }
      let twins: string | undefined
      return {
        act: async (victim) => {
          // The survivor's request waits for the victim's, or for its end.
          const [first, twin] = await Promise.all([at(victim.url).catch(() => undefined), at(stage.survivor.url)])
          twins = twin.text
          return first
        },
        again: async () => {
          const answer = await at(stage.survivor.url)
          answered = answer.body
          if (twins !== answer.text) throw new Error(`at once: ${twins}, later: ${answer.text}`)
          return answer
        },
        ended: () => batchHasEnded(stage, () => answered.id)(),
      }
    },
  },
  {
    name: 'sending the items of a batch, of which a third fails',
    prepare: async (stage) => {
      await stage.heir.pause()
      const id = await newBatch(stage, await failingPayee(stage))
      return { act: (victim) => victim.drain(), ended: batchHasEnded(stage, () => id) }
    },
  },
  {
    name: 'a scheduled batch that becomes due',
    prepare: async (stage) => {
      await stage.heir.pause()
      const at = new Date(Date.now() + (await stage.world.provider.ahead()) + 600_000).toISOString()
      const id = await newBatch(stage, await failingPayee(stage), { execute_at: at })
      return {
        before: async () => {
          await stage.world.provider.advance(700)
          // Every process follows the provider's time within a second.
          await wait(1_500)
        },
        act: (victim) => victim.sweep(),
        ended: batchHasEnded(stage, () => id),
      }
    },
  },
]

type Kind = 'payment' | 'topup'

/** Due work for the process that runs it. The machine's send log shows an unused right to send. */
const sends = (name: string, kind: Kind, begin: (stage: Stage) => Promise<string>): Act => ({
  name,
  prepare: async (stage) => {
    await stage.heir.pause()
    const id = await begin(stage)
    return { act: (victim) => victim.drain(), ended: hasEnded(stage.cast.api, `/v1/${kind}s/${id}`) }
  },
})

/** The provider's deliveries that no process has processed. */
const books = (name: string, kind: Kind, begin: (stage: Stage) => Promise<string>): Act => ({
  name,
  prepare: async (stage) => {
    const { world, cast, heir, survivor } = stage
    await heir.pause()
    const id = await begin(stage)
    const isDelivered = async () =>
      (
        await world.sql(
          'select from callback_deliveries d join rail_attempts a on a.id = d.attempt_id where a.subject_id = $1 and d.processed_at is null',
          [parseId(kind, id)],
        )
      ).length > 0
    return {
      before: async (victim) => {
        // The receiver of deliveries is paused. Otherwise the victim would send and book in one act.
        await survivor.pause()
        await victim.drain()
        survivor.resume()
        await until(isDelivered, 'the delivery of a provider')
      },
      act: (victim) => victim.drain(),
      ended: hasEnded(cast.api, `/v1/${kind}s/${id}`),
    }
  },
})

/** All work that becomes due by time alone: expiries and queries. */
const sweep: Act = {
  name: 'a sweep: an approval and a top-up run out, a payment whose callback was lost is asked about',
  prepare: async (stage) => {
    const { world, cast, heir } = stage
    const lost = await newBeneficiary(cast.person.api, { destination: '254711000001' })
    await heir.pause()
    const paths = [
      `/v1/payments/${(await waitingApproval(stage)).payment}`,
      `/v1/topups/${await askToPay(stage, '254700004999')}`,
      `/v1/payments/${await pay(stage, lost)}`,
    ]
    return {
      before: async (victim) => {
        await victim.drain()
        await world.provider.advance(3_700)
        // Every process follows the provider's time within a second.
        await wait(1_500)
      },
      act: (victim) => victim.sweep(),
      ended: async () => (await Promise.all(paths.map((path) => hasEnded(cast.api, path)()))).every(Boolean),
    }
  },
}

const requests: readonly Act[] = [
  {
    name: 'POST /v1/topups/initiate',
    prepare: async (stage) => {
      await stage.heir.pause()
      return request(stage, stage.cast.api, '/v1/topups/initiate', topup(), ({ id }) =>
        hasEnded(stage.cast.api, `/v1/topups/${id}`)(),
      )
    },
  },
  {
    name: 'POST /v1/payments',
    prepare: async (stage) => {
      await stage.heir.pause()
      const body = { beneficiary_id: stage.cast.beneficiaries.MPESA_B2C, amount_minor: '10000' }
      return request(stage, stage.cast.api, '/v1/payments', body, ({ id }) => hasEnded(stage.cast.api, `/v1/payments/${id}`)())
    },
  },
  {
    name: 'POST /v1/payments that waits for approval',
    prepare: async (stage) => {
      await stage.heir.pause()
      const body = { beneficiary_id: stage.strict, amount_minor: '10000' }
      const waits = async ({ id }: { id: string }) =>
        (await stage.cast.api.get(`/v1/payments/${id}`)).body.status === 'pending_approval'
      return request(stage, stage.cast.api, '/v1/payments', body, waits)
    },
  },
  decide('POST /v1/approvals/:id/decide, approve', async () => ({ path: 'decide', body: { decision: 'approve' } })),
  decide('POST /v1/approvals/:id/decide, reject', async () => ({ path: 'decide', body: { decision: 'reject' } })),
  decide('POST /v1/approvals/:id/decide-by-signature', async ({ cast }, approval) => {
    const { message } = (await cast.person.api.get(`/v1/approvals/${approval}/message?decision=approve`)).body
    const signature = await cast.person.wallet.signMessage({ message })
    return { path: 'decide-by-signature', body: { decision: 'approve', signature } }
  }),
  {
    name: 'POST /v1/payments/:id/cancel',
    prepare: async (stage) => {
      const { payment } = await waitingApproval(stage)
      await stage.heir.pause()
      const { api } = stage.cast.person
      return request(stage, api, `/v1/payments/${payment}/cancel`, undefined, hasEnded(api, `/v1/payments/${payment}`))
    },
  },
  {
    name: 'POST /v1/admin/payments/:id/resolve',
    prepare: async (stage) => {
      const id = await unknownPayment(stage)
      await stage.heir.pause()
      const body = { outcome: 'failed', evidence: 'the statement does not show it' }
      const path = `/v1/admin/payments/${id}/resolve`
      return request(stage, await administrator(stage, 0), path, body, hasEnded(stage.cast.api, `/v1/payments/${id}`))
    },
  },
  {
    name: 'POST /v1/admin/adjustments',
    prepare: async (stage) => {
      await stage.heir.pause()
      const posted = ({ id }: { id: string }) => adjustmentIs(stage, id, 'posted')
      return request(stage, await administrator(stage, 0), '/v1/admin/adjustments', adjustment(stage, '100'), posted)
    },
  },
  {
    name: 'POST /v1/admin/adjustments/:id/confirm',
    prepare: async (stage) => {
      const [first, second] = [await administrator(stage, 0), await administrator(stage, 1)]
      const id = await created(first.post('/v1/admin/adjustments', adjustment(stage, '10000000001')))
      await stage.heir.pause()
      return request(stage, second, `/v1/admin/adjustments/${id}/confirm`, undefined, () => adjustmentIs(stage, id, 'posted'))
    },
  },
]

const payBy = (rail: keyof Cast['beneficiaries']) => (stage: Stage) => pay(stage, stage.cast.beneficiaries[rail])

export const acts: readonly Act[] = [
  ...requests,
  ...batches,
  sends('sending a payment by M-PESA B2C', 'payment', payBy('MPESA_B2C')),
  sends('sending a payment by M-PESA B2B', 'payment', payBy('MPESA_B2B')),
  sends('sending a payment by PesaLink', 'payment', payBy('PESALINK')),
  sends('asking a phone to pay in', 'topup', (stage) => askToPay(stage)),
  books('booking what the provider says of a payment', 'payment', payBy('MPESA_B2C')),
  books('booking what the provider says of a top-up', 'topup', (stage) => askToPay(stage)),
  sweep,
]
