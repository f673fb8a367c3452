import { afterEach, describe, expect, test } from 'vitest'
import { isFull } from '../faults/world.ts'
import { type Answer, createClient } from '../harness/client.ts'
import { findPatroni, startCluster } from './cluster.ts'
import { freePlaces, newPayer, startPair } from './pair.ts'

const binaries = await findPatroni()
if (isFull && !binaries)
  process.stderr.write('Patroni, etcd or PostgreSQL of Debian is not installed here: deploy/patroni is not run\n')

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

type Paid = { id: string; key: string }

type Cluster = Awaited<ReturnType<typeof startCluster>>
type Leader = Awaited<ReturnType<Cluster['leader']>>
/** Breaks the leader, and waits for the first payment after its successor can commit. Returns the old leader. */
type Act = (name: string, break_: (leader: Leader) => Promise<void> | void) => Promise<Leader>
type Scene = { cluster: Cluster; act: Act }

describe.skipIf(!isFull || !binaries)('three servers as deploy/patroni configures them', { timeout: 600_000 }, () => {
  const paidThroughout = async (play: (scene: Scene) => Promise<void>): Promise<void> => {
    if (!binaries) throw new Error('skipped')
    const cluster = await startCluster(binaries)
    ends.push(cluster.close)
    const pair = await startPair(await freePlaces(), {}, { url: cluster.url, drop: async () => undefined })
    ends.push(pair.close)
    const { person, beneficiary } = await newPayer(pair.urls[0] ?? '')
    const apis = pair.urls.map((url) => createClient(url).as({ cookie: person.cookie }))

    const acknowledged: Paid[] = []
    const successes: number[] = []
    const refusals = new Map<number, number>()
    let ended = false
    let begun = 0
    /** Repeats a request under its key until it has an answer, like the client. */
    const client = async (api = apis[0]): Promise<void> => {
      while (!ended && api) {
        begun += 1
        const key = `payment ${begun}`
        for (;;) {
          const answer = await api
            .post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' }, { key })
            .catch(() => ({ status: 0, body: undefined }))
          if (answer.status === 201) {
            acknowledged.push({ id: answer.body.id, key })
            successes.push(performance.now())
            break
          }
          refusals.set(answer.status, (refusals.get(answer.status) ?? 0) + 1)
          if (answer.status >= 400 && answer.status < 500) return
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
    }
    const clients = Array.from({ length: 6 }, (_, index) => client(apis[index % apis.length]))
    const waits: Record<string, { primary: number; firstSuccess: number }> = {}
    const act: Act = async (name, break_) => {
      await cluster.whole()
      const before = await cluster.leader()
      const from = performance.now()
      await break_(before)
      await cluster.successor(before)
      const there = performance.now()
      await expect.poll(() => successes.some((at) => at > there), { interval: 20 }).toBe(true)
      const first = successes.find((at) => at > there) ?? Number.NaN
      waits[name] = { primary: Math.round(there - from), firstSuccess: Math.round(first - there) }
      return before
    }
    await play({ cluster, act })
    ended = true
    await Promise.all(clients)

    process.stdout.write(`${JSON.stringify({ waits, acknowledged: acknowledged.length, refusals: [...refusals] })}\n`)
    // The old primary is being removed, and a page may get a 503.
    const page = async (query: string): Promise<Answer['body']> => {
      let body: Answer['body']
      const read = async () => {
        body = (await apis[0]?.get(`/v1/payments?${query}`).catch(() => undefined))?.body
        return Array.isArray(body?.data)
      }
      await expect.poll(read).toBe(true)
      return body
    }
    const listed = new Set<string>()
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, next_cursor }: Answer['body'] = await page(`limit=100${cursor && `&cursor=${cursor}`}`)
      for (const { id } of data) listed.add(id)
      cursor = next_cursor
    }
    expect(acknowledged.filter(({ id }) => !listed.has(id))).toEqual([])
    // One payment for each key.
    expect(new Set(acknowledged.map(({ id }) => id)).size).toBe(new Set(acknowledged.map(({ key }) => key)).size)
    expect(Object.values(waits).every(({ firstSuccess }) => firstSuccess <= 2_000)).toBe(true)
    // Only answers that a client may repeat: none, or "not now".
    expect([...refusals.keys()].filter((status) => status !== 0 && status !== 503)).toEqual([])
    const statuses = async () => {
      const page = await apis[0]?.get('/v1/payments?status=unknown')
      return page?.body.data.length
    }
    await expect.poll(statuses).toBe(0)
    expect((await apis[0]?.get('/readyz'))?.body.status).toBe('ok')
  }

  test('a switchover, a killed primary and a frozen one lose no acknowledged payment, pay none twice, and need no person', () =>
    paidThroughout(async ({ cluster, act }) => {
      await act('switchover', cluster.switchOver)
      const killed = await act('killed', (leader) => cluster.signal(leader, 'SIGKILL'))
      cluster.restart(killed)
      const frozen = await act('frozen', (leader) => cluster.signal(leader, 'SIGSTOP'))
      cluster.signal(frozen, 'SIGCONT')
    }))
})
