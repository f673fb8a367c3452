import { beforeEach, expect, test } from 'vitest'
import { createVault } from '../../src/auth/vault.ts'
import { inTx, type Statement } from '../../src/db/client.ts'
import { secondsAfter } from '../../src/lib/clock.ts'
import { parseKeyRing } from '../../src/lib/key-ring.ts'
import { createTokenSharing, forgetTokens } from '../../src/modules/provider-tokens/service.ts'
import type { ShareToken } from '../../src/rails/rail.ts'
import { openService } from '../harness/service.ts'

const service = await openService()

const credentials = ['https://provider.example', 'a key', 'a secret']
let issued = 0
beforeEach(async () => {
  issued = 0
  await service.deps.db.query('delete from provider_tokens')
})

/** A process's own share. */
const shareOf = (db = service.deps.db): ShareToken => createTokenSharing({ ...service.deps, db })
const fetch = async () => {
  issued += 1
  return { value: `token ${issued}`, until: secondsAfter(service.clock.now(), 3_540) }
}
const asked = (more: Partial<Parameters<ShareToken>[0]> = {}) =>
  ({ provider: 'MPESA', credentials, refused: undefined, fetch, ...more }) as const
const stored = async () => {
  const [row] = await service.deps.db.query<{ ciphertext: Buffer; keyId: string }>(
    `select token_ciphertext as ciphertext, token_key_id as "keyId" from provider_tokens where provider = 'MPESA'`,
  )
  return row && service.deps.vault.open(row, ['provider_token', 'MPESA', ...credentials])
}
/** Three processes that have each looked for a token before any of them continues. */
const askAtOnce = (more: Parameters<typeof asked>[0] = {}) => {
  const { db } = service.deps
  const looked = Promise.withResolvers<void>()
  let looks = 0
  const query = (async (statement: Statement, values?: readonly unknown[]) => {
    const rows = await db.query(statement, values)
    if (statement.name === 'provider_tokens.read') looks += 1
    if (looks >= 3) looked.resolve()
    await looked.promise
    return rows
  }) as typeof db.query
  return Promise.all([1, 2, 3].map(() => shareOf({ ...db, query })(asked(more))))
}
const threeTimes = (value: string) => [1, 2, 3].map(() => expect.objectContaining({ value }))

test('processes that need a token at once share one fetch, and those that are refused at once the next one', async () => {
  expect([await askAtOnce(), issued]).toEqual([threeTimes('token 1'), 1])
  expect([await askAtOnce({ refused: 'token 1' }), issued]).toEqual([threeTimes('token 2'), 2])
  // A late refusal, after the token was replaced.
  expect(await shareOf()(asked({ refused: 'token 1' }))).toMatchObject({ value: 'token 2' })
  expect([await stored(), issued]).toEqual(['token 2', 2])
})

test('a process that needs a token while another one fetches waits for that one', async () => {
  const looked = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const first = shareOf()(
    asked({
      fetch: async () => {
        started.resolve()
        await looked.promise
        return fetch()
      },
    }),
  )
  await started.promise
  const { db } = service.deps
  const query = (async (statement: Statement, values?: readonly unknown[]) => {
    const rows = await db.query(statement, values)
    looked.resolve()
    return rows
  }) as typeof db.query
  const both = await Promise.all([first, shareOf({ ...db, query })(asked())])
  expect([both, issued]).toEqual([both.map(() => expect.objectContaining({ value: 'token 1' })), 1])
})

test('a token ends by the time of the service, and is none for other credentials', async () => {
  const share = shareOf()
  await share(asked())
  expect(await share(asked({ credentials: [...credentials.slice(0, 2), 'another secret'] }))).toMatchObject({ value: 'token 2' })
  await share(asked())
  expect(issued).toBe(3)
  service.clock.advance(3_539)
  await share(asked())
  expect(issued).toBe(3)
  service.clock.advance(1)
  await share(asked())
  expect(issued).toBe(4)
})

test('a process that ended while it fetched keeps nobody waiting for long, and one that was only slow does not replace the newer token', async () => {
  const slow = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const first = shareOf()(
    asked({
      fetch: async () => {
        const token = await fetch()
        started.resolve()
        await slow.promise
        return token
      },
    }),
  )
  await started.promise
  await service.deps.db.query(`update provider_tokens set begun_at = begun_at - interval '3 seconds'`)
  expect(await shareOf()(asked())).toMatchObject({ value: 'token 2' })
  slow.resolve()
  expect(await first).toMatchObject({ value: 'token 1' })
  expect(await stored()).toBe('token 2')
})

test('where a fetch fails, the next process fetches at once', async () => {
  const none = { code: 'token_unavailable', message: 'none' }
  const { db } = service.deps
  const names: string[] = []
  const query = ((statement: Statement, values?: readonly unknown[]) => {
    names.push(statement.name)
    return db.query(statement, values)
  }) as typeof db.query
  expect(await shareOf()(asked({ fetch: async () => none }))).toEqual(none)
  expect(await shareOf({ ...db, query })(asked())).toMatchObject({ value: 'token 1' })
  expect(names).toEqual(['provider_tokens.read', 'provider_tokens.begin'])
})

test('without the database, or with one that does not answer, a process fetches for itself', async () => {
  const answers = [() => Promise.reject(new Error('away')), () => new Promise<never>(() => undefined)]
  for (const query of answers) {
    const away = { ...service.deps.db, query: query as typeof service.deps.db.query }
    expect(await shareOf(away)(asked())).toMatchObject({ value: `token ${issued}` })
  }
  expect(issued).toBe(2)
})

test('a rotation of the keys forgets what older ones sealed', async () => {
  const share = shareOf()
  await share(asked())
  const vault = createVault(parseKeyRing(`newer:${Buffer.alloc(32, 7).toString('base64')}`))
  expect(await inTx(service.deps.db, (tx) => forgetTokens(tx, vault))).toBe(1)
  await share(asked())
  expect(issued).toBe(2)
})
