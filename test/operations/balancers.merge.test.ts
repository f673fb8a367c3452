import { afterEach, describe, expect, test } from 'vitest'
import { isFull } from '../faults/world.ts'
import { createClient } from '../harness/client.ts'
import { walletMessage } from '../harness/people.ts'
import { type Balancer, balancers, isInstalled } from './balancer.ts'
import { askAtRate, freePlaces, newPayer, startPair } from './pair.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const open = async (start: (places: Awaited<ReturnType<typeof freePlaces>>) => Promise<Balancer>) => {
  const places = await freePlaces()
  const balancer = await start(places)
  ends.push(balancer.close)
  const pair = await startPair(places, {
    PUBLIC_URL: balancer.url,
    TRUST_PROXY: '127.0.0.1',
    OPERATOR_ALLOWED_HOSTS: 'localhost',
    // A balancer that is told of the end needs no delay. Each client must use its connection once more, also if it is slow.
    ...(balancer.callbacks === null && { SHUTDOWN_DELAY_MS: '3000' }),
  })
  ends.push(pair.close)
  await Promise.all([balancer.joined(0), balancer.joined(1)])
  return { balancer, pair }
}

// Each costs ten milliseconds of processor time.
const perSecond = isFull ? 100 : 9
const clients = isFull ? 8 : 3

const needsProgram = { haproxy: true, nginx: true, 'a plain one': false } as const

for (const [name, start] of Object.entries(balancers)) {
  const missing = needsProgram[name as keyof typeof balancers] && !isInstalled(name)
  if (missing) process.stderr.write(`${name} is not installed here: its file in deploy/ is not run\n`)
  describe.skipIf(missing)(`two processes behind ${name}, restarted one after the other`, () => {
    test('refuse no request of their clients', { timeout: 240_000 }, async () => {
      const { balancer, pair } = await open(start)
      const payer = await newPayer(balancer.url)
      let restarted = false
      const atLeast = (balancer.callbacks ? 20 : 5) * perSecond
      // nginx checks no health, and may send to a process that closes the connection. It then repeats requests with a key.
      const asked = askAtRate(payer, { perSecond, clients, atLeast, mayEnd: () => restarted, keyed: name === 'nginx' })
      await pair.restartEach(balancer).finally(() => {
        restarted = true
      })
      const { sent, refused } = await asked
      expect(refused).toEqual([])
      expect(sent).toBeGreaterThanOrEqual(atLeast)
      if (balancer.callbacks === null) return

      // The client's address is the one that the balancer saw, whatever the client says.
      const message = await walletMessage(payer.person.api, payer.person.wallet)
      const signature = await payer.person.wallet.signMessage({ message })
      const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' }
      const client = createClient(balancer.url)
      expect((await client.post('/v1/auth/wallet/verify', { message, signature }, { headers })).status).toBe(200)
      const sessions = await payer.person.api.get('/v1/accounts/me/sessions')
      expect(sessions.body.data.map((session: { ip: string }) => session.ip)).toEqual(['127.0.0.1', '127.0.0.1'])
      const callbacks = createClient(balancer.callbacks)
      // The private listener accepts every delivery, but believes none without its secret. Nothing else of it is reachable.
      expect(await callbacks.post('/callbacks/none/none/result', {})).toMatchObject({ status: 200, body: { ResultCode: 0 } })
      for (const path of ['/metrics', '/healthz', '/']) expect([403, 404]).toContain((await callbacks.get(path)).status)
      const metrics = await callbacks.get('/metrics')
      expect(metrics.text).not.toContain('process_cpu')
    })
  })
}

for (const name of ['haproxy', 'nginx'] as const)
  test.skipIf(!isInstalled(name))(
    `${name} without a process behind it answers as the service does: 503 with a time to try again`,
    async () => {
      const balancer = await balancers[name](await freePlaces())
      ends.push(balancer.close)
      const client = createClient(balancer.url)
      for (const answer of [
        await client.get('/v1/payments'),
        await client.post('/v1/payments', {}),
        await client.post('/v1/payments', {}, { key: 'once' }),
      ])
        expect([answer.status, answer.body.error, answer.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
      if (name === 'haproxy') return
      const long = await client.post('/v1/payment-batches', { text: 'x'.repeat(3_000_000) })
      expect([long.status, long.body.error]).toEqual([413, 'payload_too_large'])
    },
  )
