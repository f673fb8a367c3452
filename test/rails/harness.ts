import { randomUUID } from 'node:crypto'
import { fastify } from 'fastify'
import { createRailSandbox } from '../../src/dev/sandbox/rail-sandbox.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { createDaraja } from '../../src/rails/daraja/adapter.ts'
import type { DarajaOptions } from '../../src/rails/daraja/gateway.ts'
import { createPesalink } from '../../src/rails/pesalink/adapter.ts'
import type { PesalinkOptions } from '../../src/rails/pesalink/gateway.ts'
import type {
  Attempt,
  CollectionInstruction,
  DeliveryKind,
  Evidence,
  PayoutInstruction,
  Submission,
} from '../../src/rails/rail.ts'
import { createManualScheduler } from '../harness/manual-scheduler.ts'

const secret = 'Vf3k9sQpLw27ZtYbNc8RmX'

export type Received = { orderId: string; kind: DeliveryKind; authentic: boolean; body: unknown }

/** The service's operator listener for the provider: an attempt's id and a secret in the path, 200 before any processing. */
const startReceiver = async () => {
  const received: Received[] = []
  const app = fastify({ forceCloseConnections: true })
  app.post<{ Params: { orderId: string; secret: string; kind: DeliveryKind } }>(
    '/callbacks/:orderId/:secret/:kind',
    async (request) => {
      const { orderId, kind } = request.params
      received.push({ orderId, kind, authentic: request.params.secret === secret, body: request.body })
      return { ResultCode: 0, ResultDesc: 'Accepted' }
    },
  )
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { received, url, close: () => app.close() }
}

export type ManualClock = Clock & { advanceSeconds: (seconds: number) => void }

export const createManualClock = (): ManualClock => {
  let nowMs = Date.parse('2026-03-31T21:30:00Z')
  return {
    now: () => new Date(nowMs),
    advanceSeconds: (seconds) => {
      nowMs += seconds * 1000
    },
  }
}

let references = 100_000_000_000

/** The sandbox on a real port, a receiver of deliveries, and the real adapters between them. */
export const startRails = async () => {
  const clock = createManualClock()
  const scheduler = createManualScheduler()
  const sandbox = createRailSandbox({ scheduler, clock, delayMs: 1_000 })
  const baseUrl = await sandbox.listen()
  const receiver = await startReceiver()

  const darajaAt = (options: DarajaOptions) => {
    const { payout, collection, deposits, account } = createDaraja(options, { clock })
    return { payout: payout.MPESA_B2C, collection: collection.MPESA_STK, deposits: deposits.MPESA_PAYBILL, account }
  }

  const callbacks = (orderId: string) => ({
    result: `${receiver.url}/callbacks/${orderId}/${secret}/result`,
    timeout: `${receiver.url}/callbacks/${orderId}/${secret}/timeout`,
  })

  const payout = (fields: Partial<PayoutInstruction> = {}): PayoutInstruction => {
    const orderId = randomUUID()
    references += 1
    return {
      orderId,
      rail: 'MPESA_B2C',
      amountMinor: 50_000n,
      currency: 'KES',
      destination: '254722000001',
      bankCode: null,
      beneficiaryName: 'Jane Doe',
      accountReference: null,
      narrative: 'March rent',
      payer: 'acct_test',
      reference: String(references),
      at: clock.now(),
      callbacks: callbacks(orderId),
      ...fields,
    }
  }

  const collection = (fields: Partial<CollectionInstruction> = {}): CollectionInstruction => {
    const { orderId, amountMinor, currency, reference, at, callbacks: urls } = payout()
    return { orderId, amountMinor, currency, reference, at, callbacks: urls, phoneNumber: '254722000001', ...fields }
  }

  const deliveriesOf = (orderId: string) => receiver.received.filter((delivery) => delivery.orderId === orderId)

  return {
    clock,
    scheduler,
    sandbox,
    baseUrl,
    payout,
    collection,
    deliveriesOf,
    received: () => receiver.received,
    darajaAt,
    daraja: (changed: Partial<DarajaOptions> = {}) => darajaAt({ ...sandbox.options(baseUrl).MPESA, ...changed }),
    pesalink: (changed: Partial<PesalinkOptions> = {}) =>
      createPesalink({ ...sandbox.options(baseUrl).PESALINK, ...changed }, { clock }).payout.PESALINK,
    movementsTo: (party: string) => sandbox.movements().filter((movement) => movement.party === party),
    close: async () => {
      await sandbox.close()
      await receiver.close()
    },
  }
}

export type TestRails = Awaited<ReturnType<typeof startRails>>

/** The attempt as the service would store it after this submission. */
export const attemptOf = (sent: PayoutInstruction | CollectionInstruction, submission: Submission): Attempt => ({
  orderId: sent.orderId,
  rail: 'rail' in sent ? sent.rail : 'MPESA_STK',
  amountMinor: sent.amountMinor,
  reference: sent.reference,
  provider: submission.kind === 'accepted' ? submission.provider : { request: null, conversation: null },
  at: sent.at,
  callbacks: sent.callbacks,
})

/** The attempt with its rail narrowed to a payout's. */
export const payoutAttempt = (sent: PayoutInstruction, submission: Submission) => ({
  ...attemptOf(sent, submission),
  rail: sent.rail,
})

export const kinds = (evidence: readonly Evidence[]): string[] => evidence.map((each) => each.kind)
