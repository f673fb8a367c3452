import { expect, test } from 'vitest'
import { newWallet, sessionCookieOf, signIn, walletMessage } from '../../harness/people.ts'
import { openService } from '../../harness/service.ts'

const service = await openService()

const day = 86_400

test('the list has every session, newest first, and marks the current one', async () => {
  const first = await signIn(service.api)
  const second = await signIn(service.api, first.wallet)
  const answer = await second.api.get('/v1/accounts/me/sessions')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.body.data.map((session: { current: boolean }) => session.current)).toEqual([true, false])
  expect(answer.body.data[0]).toMatchObject({ status: 'active', ip: expect.any(String), revoked_at: null })
  expect(answer.text).not.toContain(second.cookie)
})

test('through a dashboard token, the session that issued it is the current one', async () => {
  const other = await signIn(service.api)
  const person = await signIn(service.api, other.wallet)
  const { token } = (await person.api.post('/v1/auth/dashboard-tokens')).body
  const api = service.api.as({ bearer: token })
  const { data } = (await api.get('/v1/accounts/me/sessions')).body
  expect(data.map(({ current }: { current: boolean }) => current)).toEqual([true, false])
  expect((await api.delete(`/v1/accounts/me/sessions/${data[0].id}`)).body).toMatchObject({ status: 'revoked', current: true })
})

test('a session has one end: where it begins, where its credential is read and in the list; each use moves it', async () => {
  const wallet = newWallet()
  const message = await walletMessage(service.api, wallet)
  const begun = await service.api.post('/v1/auth/wallet/verify', { message, signature: await wallet.signMessage({ message }) })
  const api = service.api.as({ cookie: sessionCookieOf(begun.headers) })
  const inDays = (days: number) => new Date(service.clock.now().getTime() + days * day * 1000).toISOString()
  const ends = async () => [
    (await api.get('/v1/credentials/current')).body.expires_at,
    (await api.get('/v1/accounts/me/sessions')).body.data[0].expires_at,
  ]
  expect([begun.body.session.expires_at, ...(await ends())]).toEqual(Array(3).fill(inDays(7)))
  service.clock.advance(6 * day)
  await api.get('/v1/accounts/me')
  expect(await ends()).toEqual(Array(2).fill(inDays(7)))
  for (const days of [6, 6, 6]) {
    service.clock.advance(days * day)
    await api.get('/v1/accounts/me')
  }
  // Thirty days after its start, however it is used.
  expect(await ends()).toEqual(Array(2).fill(inDays(6)))
})

test('a long list of sessions comes in pages that miss and repeat nothing', async () => {
  const { wallet, api } = await signIn(service.api)
  for (let count = 0; count < 4; count += 1) await signIn(service.api, wallet)
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await api.get(`/v1/accounts/me/sessions?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
    seen.push(...page.body.data.map((session: { id: string }) => session.id))
    cursor = page.body.next_cursor
  }
  expect(new Set(seen).size).toBe(5)
  expect(seen).toEqual([...seen].sort().reverse())
})

test('a revoked session is refused with its next request, and revoking it again has the same answer', async () => {
  const kept = await signIn(service.api)
  const lost = await signIn(service.api, kept.wallet)
  const list = await lost.api.get('/v1/accounts/me/sessions')
  const { id } = list.body.data.find((session: { current: boolean }) => session.current)
  const revoked = await kept.api.delete(`/v1/accounts/me/sessions/${id}`)
  expect([revoked.status, revoked.body.status]).toEqual([200, 'revoked'])
  const refused = await lost.api.get('/v1/accounts/me')
  expect([refused.status, refused.body.error]).toEqual([401, 'session_revoked'])
  service.clock.advance(5)
  expect((await kept.api.delete(`/v1/accounts/me/sessions/${id}`)).body).toEqual(revoked.body)
})

test("another account's session can be neither seen nor ended: the same 404 as for one that does not exist", async () => {
  const owner = await signIn(service.api)
  const stranger = await signIn(service.api)
  const [session] = (await owner.api.get('/v1/accounts/me/sessions')).body.data
  const foreign = await stranger.api.delete(`/v1/accounts/me/sessions/${session.id}`)
  const unknown = await stranger.api.delete('/v1/accounts/me/sessions/ses_01h455vb4pex5vsknk084sn02q')
  expect([foreign.status, unknown.status]).toEqual([404, 404])
  expect({ ...foreign.body, details: null }).toEqual({ ...unknown.body, details: null })
  expect((await owner.api.get('/v1/accounts/me')).status).toBe(200)
})

test('listing and ending sessions needs a sign-in: 401 without one', async () => {
  expect((await service.api.get('/v1/accounts/me/sessions')).body.error).toBe('authentication_required')
  expect((await service.api.delete('/v1/accounts/me/sessions/ses_01h455vb4pex5vsknk084sn02q')).status).toBe(401)
})

test('a session that is not used for seven days ends, and one in use continues', async () => {
  const idle = await signIn(service.api)
  const busy = await signIn(service.api)
  service.clock.advance(6 * day)
  expect((await busy.api.get('/v1/accounts/me')).status).toBe(200)
  service.clock.advance(1 * day)
  const refused = await idle.api.get('/v1/accounts/me')
  expect([refused.status, refused.body.error]).toEqual([401, 'token_expired'])
  expect((await busy.api.get('/v1/accounts/me')).status).toBe(200)
})

test('a session in constant use ends after thirty days as well', async () => {
  const person = await signIn(service.api)
  for (let days = 6; days < 30; days += 6) {
    service.clock.advance(6 * day)
    expect((await person.api.get('/v1/accounts/me')).status).toBe(200)
  }
  service.clock.advance(6 * day)
  expect((await person.api.get('/v1/accounts/me')).body.error).toBe('token_expired')
})

test('every sign-in creates its own session, also with an old cookie', async () => {
  const first = await signIn(service.api)
  const planted = 'A'.repeat(43)
  const second = await signIn(service.api.as({ cookie: planted }), first.wallet)
  expect(second.cookie).not.toBe(planted)
  expect(second.cookie).not.toBe(first.cookie)
  expect((await service.api.get('/v1/accounts/me', { cookie: planted })).status).toBe(401)
  expect((await first.api.get('/v1/accounts/me')).status).toBe(200)
})

test('two cookies of our name, of which one may be a sibling site’s, are both ignored', async () => {
  const [person, attacker] = [await signIn(service.api), await signIn(service.api)]
  const statusWith = async (cookie: string) =>
    (await service.api.get('/v1/accounts/me', { cookie: undefined, headers: { cookie } })).status
  const [own, other] = [`service_session=${person.cookie}`, `service_session=${attacker.cookie}`]
  expect(await statusWith(own)).toBe(200)
  expect(await statusWith(`theme=dark; ${own}; lang=en`)).toBe(200)
  expect(await statusWith(`my_service_session=x; ${own}`)).toBe(200)
  for (const cookies of [
    `${own}; ${other}`,
    `${other};${own}`,
    `${own}; a=b; ${own}`,
    `${own}; service_session=`,
    `service_session=; ${own}`,
  ])
    expect([cookies, await statusWith(cookies)]).toEqual([cookies, 401])
})
