import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { createRailSandbox } from '../../src/dev/sandbox/rail-sandbox.ts'
import { createManualScheduler } from '../../src/dev/sandbox/scheduler.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { formatId } from '../../src/lib/ids.ts'
import { b2cResult } from '../rails-flows/scene.ts'
import { type Payer, preparePayers } from './prepare.ts'
import { type Bench, startService } from './processes.ts'
import { row, save, say, spread } from './report.ts'

const perSecond = 200
const seconds = 20
const warmUp = 400
const agent = new Agent({ keepAlive: true, maxSockets: 256 })

const post = (url: string, body: unknown, credential?: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
    }
    const call = request(url, { method: 'POST', agent, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    call.once('error', reject)
    call.end(JSON.stringify(body))
  })

/** When each payment's `payment.succeeded` was on its account's stream. */
const listen = async (url: string, payers: readonly Payer[]): Promise<Map<string, number>> => {
  const heard = new Map<string, number>()
  const open = (payer: Payer) =>
    new Promise<void>((resolve, reject) => {
      const headers = { authorization: `Bearer ${payer.key}` }
      const call = request(`${url}/v1/notifications/stream`, { agent: new Agent(), headers }, (answer) => {
        if (answer.statusCode !== 200) return reject(new Error(`a stream was answered with ${answer.statusCode}`))
        resolve()
        let rest = ''
        answer.setEncoding('utf8').on('data', (text: string) => {
          const frames = (rest + text).split('\n\n')
          rest = frames.pop() ?? ''
          for (const frame of frames) {
            const id = /^event: payment\.succeeded$/m.test(frame) && /"data":\{"id":"(pay_\w+)"/.exec(frame)?.[1]
            if (id) heard.set(id, performance.now())
          }
        })
      })
      call.once('error', reject)
      call.end()
    })
  await Promise.all(payers.map(open))
  return heard
}

/**
 * The whole path of a provider's result: 200 results a second to the private listener, each for another payment, until its event is on the
 * payer's stream. The provider is in this process and sends nothing else.
 */
export const measureCallbacks = async (bench: Bench, { write }: { write: boolean }): Promise<void> => {
  const sandbox = createRailSandbox({ scheduler: createManualScheduler(), clock: systemClock, delayMs: 0 })
  const service = await startService(bench.databaseUrl, bench.folder, { JOBS: 'inline', SANDBOX_URL: await sandbox.listen() })
  try {
    const payers = await preparePayers(service.url, bench, 50)
    const total = warmUp + perSecond * seconds
    for (let from = 0; from < total; from += 50)
      await Promise.all(
        payers.map(async ({ key, beneficiary }) => {
          const { status, text } = await post(
            `${service.url}/v1/payments`,
            { beneficiary_id: beneficiary, amount_minor: '10000' },
            key,
          )
          if (status !== 201) throw new Error(`a payment was answered with ${status}: ${text}`)
        }),
      )
    while (sandbox.orders().length < total) await wait(50)
    const rows = await bench.query('select id::text as attempt, subject_id::text as payment from rail_attempts')
    const paymentOf = new Map(rows.map(({ attempt, payment }) => [String(attempt), formatId('payment', String(payment))]))
    say(`${total} payments wait for their results`)
    const heard = await listen(service.url, payers)
    const orders = sandbox.orders()
    const send = (order: (typeof orders)[number]) => post(order.resultUrl ?? '', b2cResult(order))
    for (const order of orders.slice(0, warmUp)) await send(order)
    while (heard.size < warmUp) await wait(20)
    const sentAt = new Map<string, number>()
    const began = performance.now()
    let latest = 0
    for (const [index, order] of orders.slice(warmUp, total).entries()) {
      const due = began + (index * 1_000) / perSecond
      if (due - performance.now() > 1) await wait(due - performance.now())
      latest = Math.max(latest, performance.now() - due)
      sentAt.set(paymentOf.get(order.key) ?? '', due)
      void send(order)
    }
    const ended = performance.now()
    while (heard.size < total && performance.now() - ended < 60_000) await wait(20)
    if (heard.size < total) throw new Error(`${total - heard.size} payments were not heard of`)
    // From the time when it was due, so that a delayed sender does not hide a delay.
    const times = [...sentAt].map(([payment, at]) => (heard.get(payment) ?? 0) - at).sort((a, b) => a - b)
    const at = (share: number) => times[Math.ceil(times.length * share) - 1] ?? 0
    say(`the sender was at most ${latest.toFixed(0)} ms late`)
    const name = `ms from a result to its event on the stream, ${perSecond} a second for ${seconds} s`
    const result = [
      { name: `${name}: median`, goal: '', digits: 0, ...spread([at(0.5)]) },
      { name: `${name}: p99`, goal: '≤ 1000', digits: 0, ...spread([at(0.99)]) },
      { name: `${name}: longest`, goal: '', digits: 0, ...spread([at(1)]) },
    ]
    for (const one of result) say(row(one.name, one, one.goal, one.digits))
    await save('callbacks', result, write)
  } finally {
    await service.stop()
    await sandbox.close()
  }
}
