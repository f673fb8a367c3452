import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import type { RequestOrigin } from '../../../src/auth/principal.ts'
import { signIn as signInAs } from '../../../src/modules/identity/sign-in/service.ts'
import { examineWallet } from '../../../src/modules/identity/sign-in/wallet.ts'
import { holdAccount } from '../../harness/account-hold.ts'
import { waitingForLock } from '../../harness/lock-waits.ts'
import { newWallet, nonceIn, type Person, signIn, walletMessage } from '../../harness/people.ts'
import { openService } from '../../harness/service.ts'

const service = await openService()

describe('sign-ins of several wallets that arrive together', () => {
  type Signed = { message: string; signature: string }
  const signed = async (wallet = newWallet(), by = wallet): Promise<Signed> => {
    const message = await walletMessage(service.api, wallet)
    return { message, signature: await by.signMessage({ message }) }
  }
  const people = (count: number): Promise<Person[]> => Promise.all(Array.from({ length: count }, () => signIn(service.api)))

  const openQueue = () => {
    return async (origin: RequestOrigin, request: Signed) =>
      signInAs(service.deps, { ...(await examineWallet(service.deps, request)), provider: 'wallet', origin, browserCookie: 'x' })
  }
  /** Calls it as the route does, all in one turn of the event loop. */
  const together = (requests: readonly Signed[], requestId: string = randomBytes(8).toString('hex')) => {
    const verify = openQueue()
    const origin = { ip: '127.0.0.1', userAgent: null, requestId }
    return Promise.all(
      requests.map((request) =>
        verify(origin, request).then(
          ({ outcome, account, session }) => ({ outcome, account: account.id, token: session.token }),
          (error: { code?: string; details?: { field?: string } }) => ({ refused: error.code, field: error.details?.field }),
        ),
      ),
    )
  }
  const tokenOf = (answer: object | undefined): string => (answer && 'token' in answer ? String(answer.token) : '')
  const accountBehind = async (token: string) =>
    (await service.api.as({ cookie: token }).get('/v1/accounts/me')).body.id as string | undefined

  test('have an event and an audit row each, in one transaction with the session, and everyone gets their own', async () => {
    const known = await people(5)
    service.clock.advance(60)
    const answers = await together(await Promise.all(known.map(({ wallet }) => signed(wallet))), 'in-one')
    expect(answers).toEqual(
      known.map(({ accountId }) => ({ outcome: 'signed_in', account: accountId, token: expect.any(String) })),
    )
    expect(new Set(answers.map(tokenOf)).size).toBe(5)
    for (const [index, { accountId }] of known.entries()) expect(await accountBehind(tokenOf(answers[index]))).toBe(accountId)
    const rows = await service.deps.db.query<{ action: string; events: number }>(
      `select a.action,
         (select count(*)::int from events e where e.xmin = a.xmin and e.type = 'session.created' and e.account_id = a.account_id) as events
       from audit_log a where a.request_id = 'in-one'`,
    )
    expect(rows).toHaveLength(5)
    for (const { action, events } of rows) expect([action, events]).toEqual(['session.create', 1])
    const used = (await known[0]?.api.get('/v1/accounts/me'))?.body.identities[0].last_used_at
    expect(used).toBe(service.clock.now().toISOString())
  })

  test('may be first sign-ins too; a wallet that signs in twice for the first time has one account', async () => {
    const [known] = await people(1)
    if (!known) throw new Error('nobody signed in')
    const twice = newWallet()
    const requests = [await signed(), await signed(twice), await signed(known.wallet), await signed(twice), await signed()]
    const answers = await together(requests, 'first')
    const outcomes = answers.map((answer) => 'outcome' in answer && answer.outcome)
    expect([outcomes[0], [outcomes[1], outcomes[3]].sort(), outcomes[2], outcomes[4]]).toEqual([
      'account_created',
      ['account_created', 'signed_in'],
      'signed_in',
      'account_created',
    ])
    const accounts = answers.map((answer) => 'account' in answer && answer.account)
    expect([accounts[2], accounts[3], new Set(accounts).size]).toEqual([known.accountId, accounts[1], 4])
    for (const [index, account] of accounts.entries()) expect(await accountBehind(tokenOf(answers[index]))).toBe(account)
    const rows = await service.deps.db.query<{ action: string }>(`select action from audit_log where request_id = 'first'`)
    const actions = rows.map(({ action }) => action).sort()
    expect(actions).toEqual([
      ...Array.from({ length: 3 }, () => 'identity.link'),
      ...Array.from({ length: 5 }, () => 'session.create'),
    ])
  })

  test('are judged alone where they differ: a first sign-in, a closed account, a used nonce, a signature by somebody else; each refusal is audited', async () => {
    const [plain, closed, frozen, twice, forged] = await people(5)
    if (!plain || !closed || !frozen || !twice || !forged) throw new Error('nobody signed in')
    const set = 'update accounts set status = $2 where id = (select account_id from identities where subject = $1)'
    await service.deps.db.query(set, [closed.wallet.address, 'closed'])
    await service.deps.db.query(set, [frozen.wallet.address, 'frozen'])
    const same = await signed(twice.wallet)
    const answers = await together(
      [
        await signed(plain.wallet),
        await signed(closed.wallet),
        await signed(frozen.wallet),
        await signed(),
        same,
        same,
        await signed(twice.wallet),
        await signed(forged.wallet, newWallet()),
      ],
      'judged',
    )
    const session = { token: expect.any(String) }
    // The order of the two that use one nonce is not defined.
    const used = answers.splice(4, 2)
    expect(used).toHaveLength(2)
    expect(used).toContainEqual({ outcome: 'signed_in', account: twice.accountId, ...session })
    expect(used).toContainEqual({ refused: 'invalid_signature', field: 'nonce' })
    expect(answers).toEqual([
      { outcome: 'signed_in', account: plain.accountId, ...session },
      { refused: 'account_frozen', field: undefined },
      { outcome: 'signed_in', account: frozen.accountId, ...session },
      { outcome: 'account_created', account: expect.any(String), ...session },
      { outcome: 'signed_in', account: twice.accountId, ...session },
      { refused: 'invalid_signature', field: 'signature' },
    ])
    const rows = await service.deps.db.query(
      `select action, account_id is not null as named, after->>'reason' as reason from audit_log
       where request_id = 'judged' and action = 'sign_in.refused' order by reason`,
    )
    expect(rows).toMatchObject([
      { named: false, reason: 'The nonce is unknown, used or expired: ask for a new one.' },
      {
        named: false,
        reason:
          'The signature is not by the key of the address in the message. Signatures of contracts on chain 1 are not checked here.',
      },
      { named: true, reason: 'This account is closed.' },
    ])
  })

  test('all succeed except one that the database refuses, and no nonce is lost', async () => {
    const known = await people(4)
    await service.deps.db.query(`create function refuse_session() returns trigger language plpgsql as $$
      begin if new.user_agent = 'poison' then raise exception 'poison' using errcode = 'integrity_constraint_violation'; end if; return new; end $$`)
    await service.deps.db.query('create trigger poison before insert on sessions for each row execute function refuse_session()')
    const requests = await Promise.all(known.map(({ wallet }) => signed(wallet)))
    const verify = openQueue()
    const outcomes = await Promise.allSettled(
      requests.map((request, index) =>
        verify({ ip: null, userAgent: index === 2 ? 'poison' : null, requestId: 'poisoned' }, request),
      ),
    )
    await service.deps.db.query('drop trigger poison on sessions')
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    const again = await together(requests)
    expect(again[2]).toMatchObject({ outcome: 'signed_in', account: known[2]?.accountId })
    expect([0, 1, 3].map((index) => again[index])).toEqual(
      Array.from({ length: 3 }, () => ({ refused: 'invalid_signature', field: 'nonce' })),
    )
  })

  test('do not wait for one whose account is busy, or whose wallet another transaction is about to give an account', async () => {
    const [busy, free] = await people(2)
    if (!busy || !free) throw new Error('nobody signed in')
    const made = newWallet()
    const [first, second, third] = [await signed(busy.wallet), await signed(free.wallet), await signed(made)]
    const hold = await holdAccount(service, busy.accountId)
    const other = new pg.Client({ connectionString: service.database.url })
    await other.connect()
    await other.query('begin')
    const name = `identity:wallet:eip155:${made.address.toLowerCase()}`
    await other.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
    const verify = openQueue()
    const origin = { ip: null, userAgent: null, requestId: 'busy' }
    const waiting = [verify(origin, first), verify(origin, third)]
    expect((await verify(origin, second)).outcome).toBe('signed_in')
    await hold.waiting(2)
    await Promise.all([hold.release(), other.end()])
    expect((await Promise.all(waiting)).map(({ outcome }) => outcome)).toEqual(['signed_in', 'account_created'])
  })

  test('go alone where the e-mail of the account may change, which needs further locks, and have used their own nonces', async () => {
    const [alone, other] = await people(2)
    if (!alone || !other) throw new Error('nobody signed in')
    // Another account had the address when this identity was linked, and has since given it up.
    await service.deps.db.query(
      `insert into identities (id, account_id, provider, issuer, subject, subject_key, email, email_verified, created_at)
       select gen_random_uuid(), account_id, 'github', 'https://github.test', '1', '1', 'freed@example.com', true, now()
       from identities where subject = $1`,
      [alone.wallet.address],
    )
    const requests = [await signed(alone.wallet), await signed(other.wallet)]
    expect(await together(requests)).toMatchObject([{ account: alone.accountId }, { account: other.accountId }])
    expect((await alone.api.get('/v1/accounts/me')).body.email).toBe('freed@example.com')
  })

  test('wait for the account that a wallet is moved to meanwhile, and open that one', async () => {
    const [before, after] = await people(2)
    if (!before || !after) throw new Error('nobody signed in')
    const holds = [await holdAccount(service, before.accountId), await holdAccount(service, after.accountId)]
    const waiting = together([await signed(before.wallet)])
    await holds[0]?.waiting(1)
    const move = `update identities set account_id = (select account_id from identities where subject = $2) where subject = $1`
    await service.deps.db.query(move, [before.wallet.address, after.wallet.address])
    await holds[0]?.release()
    await holds[1]?.waiting(1)
    // Nothing is written before the lock: transaction ids order an account's events.
    expect(await service.deps.db.query(`select from ${waitingForLock} and backend_xid is not null`)).toEqual([])
    await holds[1]?.release()
    expect(await waiting).toMatchObject([{ outcome: 'signed_in', account: after.accountId }])
  })

  test('get 503 if their connection is killed, have no effect, and can be sent again', async () => {
    const [person] = await people(1)
    if (!person) throw new Error('nobody signed in')
    const request = await signed(person.wallet)
    // Another process is about to use the nonce: the transaction waits for it, in the middle of its work.
    const other = new pg.Client({ connectionString: service.database.url })
    await other.connect()
    await other.query('begin')
    await other.query(`insert into nonces (nonce, purpose, created_at, expires_at) values ($1, 'wallet_sign_in', now(), now())`, [
      nonceIn(request.message),
    ])
    const running = together([request], 'killed')
    const waiting = `select pid from ${waitingForLock}`
    await expect.poll(async () => (await other.query(waiting)).rows).toHaveLength(1)
    await other.query(`select pg_terminate_backend(pid) from (${waiting}) as waiting`)
    expect(await running).toEqual([{ refused: 'unavailable', field: undefined }])
    await other.query('rollback')
    await other.end()
    expect(await service.deps.db.query(`select from audit_log where request_id = 'killed'`)).toEqual([])
    expect(await together([request])).toMatchObject([{ account: person.accountId }])
  })
})
