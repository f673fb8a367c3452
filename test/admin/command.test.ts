import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { getAddress } from 'viem'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { realRails } from '../../src/app-rails.ts'
import { createDerivations, createVault } from '../../src/auth/vault.ts'
import type { Tx } from '../../src/db/client.ts'
import { checkInstallation } from '../../src/db/installation.ts'
import { formatId, newId, parseId } from '../../src/lib/ids.ts'
import { parseKeyRing } from '../../src/lib/key-ring.ts'
import { registerDeposits } from '../../src/modules/deposits/registration.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { readCommand } from '../../src/operate/admin/commands.ts'
import { accountConditions } from '../../src/operate/admin/persons.ts'
import { findPgbouncer, startPgbouncer } from '../db/between.ts'
import type { Json } from '../harness/client.ts'
import { waitingForLock } from '../harness/lock-waits.ts'
import { credit, fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { compiledOnce, programs } from '../harness/programs.ts'
import { startPushService } from '../harness/push-service.ts'
import { openService, startService } from '../harness/service.ts'
import { findBreaches, findBreachesOf } from '../harness/verify.ts'
import { balanceOf, deliver, lastOrder, pay, paymentOf, transferCallback } from '../rails-flows/scene.ts'
import { patience } from '../start/process.ts'
import { createTeam, join as joinTeam } from '../workspaces/team.ts'

const ring = () => `first:${randomBytes(32).toString('base64')}`
const keys = { ENCRYPTION_KEYS: ring(), TOKEN_SECRETS: ring(), ORDER_KEY: ring(), RECEIPT_KEYS: ring() }
const folder = await mkdtemp(join(tmpdir(), 'admin-'))
const service = await openService({ env: { ...keys, ADJUSTMENT_CONFIRM_MINOR: '10000' } })
const person = await signIn(service.api)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The output of the command, run in this process by the named operator. */
const as =
  (user: string) =>
  async (...args: string[]): Promise<Json> =>
    JSON.parse(
      JSON.stringify(
        await readCommand(args).run({
          deps: service.deps,
          databaseUrl: service.database.url,
          operator: shellOperator(user),
          close: async () => undefined,
        }),
      ),
    )
const admin = as('amina')

/** Runs the program itself, in a process of its own. */
const run = promisify(execFile)
const spawnWith = (env: Record<string, string>, ...args: string[]) =>
  run(process.execPath, [programs.admin, ...args], {
    env: { PATH: process.env.PATH, ...compiledOnce, DATABASE_URL: service.database.url, DATA_DIR: folder, ...keys, ...env },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      stdout: error.stdout,
      stderr: error.stderr,
    }),
  )
const spawnAdmin = (...args: string[]) => spawnWith({}, ...args)

test('behind a pooler a command works on Postgres itself, and asks for its address where none is set', async ({ skip }) => {
  const program = findPgbouncer()
  if (program === undefined) return skip('PgBouncer is not installed')
  const bouncer = await startPgbouncer(program, service.database.url)
  try {
    const find = (env: Record<string, string>) =>
      spawnWith({ DATABASE_URL: bouncer.url, ...env }, 'accounts', 'find', person.wallet.address)
    expect(await find({})).toMatchObject({ code: 1, stderr: expect.stringContaining('set DATABASE_DIRECT_URL') })
    const found = await find({ DATABASE_DIRECT_URL: service.database.url })
    expect([found.code, found.stderr]).toEqual([0, ''])
    expect(JSON.parse(found.stdout)).toMatchObject([{ id: person.accountId }])
  } finally {
    await bouncer.stop()
  }
})

test('grant makes an account an administrator from the next request on, and revoke undoes it', async () => {
  expect((await person.api.get('/v1/admin/accounts')).status).toBe(403)
  expect(await admin('grant', person.wallet.address)).toMatchObject([{ id: person.accountId, is_admin: true }])
  expect((await person.api.get('/v1/admin/accounts')).status).toBe(200)
  expect(await admin('revoke', person.accountId)).toMatchObject([{ is_admin: false }])
  expect((await person.api.get('/v1/admin/accounts')).body.error).toBe('admin_required')
})

test('finds, freezes, reactivates and closes accounts, and switches what they may do', async () => {
  const someone = await signIn(service.api)
  expect(await admin('accounts', 'find', someone.wallet.address.toLowerCase())).toMatchObject([{ id: someone.accountId }])
  expect(await admin('accounts', 'find', 'nobody@example.com')).toEqual([])
  expect(await admin('accounts', 'freeze', someone.accountId, '--reason', 'a call')).toMatchObject([{ status: 'frozen' }])
  expect((await someone.api.patch('/v1/accounts/me', { display_name: 'Other' })).body.error).toBe('account_frozen')
  expect(await admin('accounts', 'unfreeze', someone.accountId)).toMatchObject([{ status: 'active' }])
  expect(await admin('accounts', 'disable', someone.accountId, 'oauth')).toMatchObject([{ capabilities: { oauth: 'disabled' } }])
  expect(await admin('accounts', 'close', someone.accountId)).toMatchObject([{ status: 'closed' }])
  expect((await someone.api.get('/v1/accounts/me')).status).toBe(401)
  await expect(admin('accounts', 'freeze', 'nobody@example.com')).rejects.toThrow('No account is called "nobody@example.com".')
  await expect(admin('accounts', 'disable', person.accountId, 'mining')).rejects.toThrow('mining')
})

test('adjusts a balance; above the limit a second operator or an administrator confirms', async () => {
  const someone = await signIn(service.api)
  const { accountId } = someone
  expect(await admin('adjustments', 'create', accountId, 'credit', '10000', '--reason', 'goodwill')).toMatchObject({
    status: 'posted',
    requested_by: 'shell:amina',
  })
  const { id, status } = await as('carol')('adjustments', 'create', accountId, 'debit', '10000', '--reason', 'taken back')
  expect([id.slice(0, 4), status]).toEqual(['led_', 'posted'])
  const large = await admin('adjustments', 'create', accountId, 'credit', '10001', '--reason', 'a refund')
  expect(await admin('adjustments', 'list', '--status', 'pending')).toMatchObject([{ id: large.id }])
  await expect(admin('adjustments', 'confirm', large.id)).rejects.toThrow('second administrator')
  expect(await as('bruno')('adjustments', 'confirm', large.id)).toMatchObject({ status: 'posted', decided_by: 'shell:bruno' })
  expect((await balanceOf(someone)).available).toBe('10001')
  await expect(admin('adjustments', 'create', accountId, 'credit', '1')).rejects.toThrow('reason')
  expect(await admin('trial-balance')).toMatchObject({ balanced: true })
})

test(
  'people at the shell of one system user are different operators: by the login name before sudo, or by --as',
  patience,
  async () => {
    const { accountId } = await signIn(service.api)
    const run = async (env: Record<string, string>, ...args: string[]) =>
      spawnWith({ ADJUSTMENT_CONFIRM_MINOR: '10000', ...env }, 'adjustments', ...args)
    const dora = { SUDO_USER: 'dora' }
    const asked = JSON.parse((await run(dora, 'create', accountId, 'credit', '10001', '--reason', 'a refund')).stdout)
    expect(asked).toMatchObject({ status: 'pending', requested_by: 'shell:dora' })
    const own = await run({}, 'confirm', asked.id, '--as', 'dora')
    expect([own.code, own.stderr]).toEqual([1, expect.stringContaining('needs a second administrator')])
    const second = await run(dora, 'confirm', asked.id, '--as', 'emil')
    expect(JSON.parse(second.stdout)).toMatchObject({ status: 'posted', decided_by: 'shell:emil' })
    await expect(admin('rails', 'paused', '--as', 'Emil, on call')).rejects.toThrow('--as must be a name')
  },
)

test('a repeated adjustment moves the money once: the operator repeats a command whose answer was lost', async () => {
  const someone = await signIn(service.api)
  const create = (...more: string[]) =>
    as('fatma')('adjustments', 'create', someone.accountId, 'credit', '1000', '--reason', 'ticket 4711', ...more)
  const [first, second] = await Promise.all([create(), create()])
  expect([first.id, [first.replayed, second.replayed].sort()]).toEqual([second.id, [false, true]])
  expect((await balanceOf(someone)).available).toBe('1000')
  const another = await create('--key', 'a second one')
  expect([another.replayed, (await create('--key', 'a second one')).id]).toEqual([false, another.id])
  expect((await balanceOf(someone)).available).toBe('2000')
  await expect(
    as('fatma')('adjustments', 'create', someone.accountId, 'debit', '1', '--reason', 'x', '--key', 'a second one'),
  ).rejects.toThrow('was used with another request')
})

test('lists late successes and books them', async () => {
  const someone = await signIn(service.api)
  await credit(service, someone.accountId, 1_000_000n)
  const id = await pay(someone, { payment_rail: 'PESALINK', destination: '99990001', bank_code: '01' })
  await service.settle()
  const order = lastOrder(service)
  await deliver(order.resultUrl, transferCallback(order))
  await service.settle()
  expect(await admin('payments', 'list', '--attention', 'late_success')).toMatchObject([{ id, status: 'failed' }])
  await admin('payments', 'resolve', id, 'charged', '--evidence', 'statement of 5 March, line 3')
  expect(await admin('payments', 'list', '--attention', 'late_success')).toEqual([])
  expect((await balanceOf(someone)).available).toBe('850000')
})

test('resolves a payment whose outcome is unknown', async () => {
  await credit(service, person.accountId, 1_000_000n)
  const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: '254722000301' })
  service.sandbox.failNext({ kind: 'reset', takesEffect: false })
  await service.deps.jobs.drain()
  const found = { reference: expect.stringMatching(/^\d+$/), order_id: expect.any(String) }
  expect(await admin('payments', 'unknown')).toMatchObject([{ id, attempts: [found] }])
  await expect(admin('payments', 'resolve', id, 'succeeded')).rejects.toThrow('evidence')
  const resolved = await admin('payments', 'resolve', id, 'succeeded', '--evidence', 'the statement', '--receipt', 'QX301')
  expect(resolved).toMatchObject({ status: 'succeeded', provider_receipt: 'QX301' })
  expect((await paymentOf(person, id)).status).toBe('succeeded')
  const [entry] = await admin('audit-log', '--subject', id, '--action', 'admin.payment_resolve')
  expect(entry).toMatchObject({
    account_id: null,
    credential: { kind: 'command' },
    user_agent: 'shell:amina',
    after: { evidence: 'the statement' },
  })
})

test("finds the payment behind a statement's line, by its receipt and by the reference that the provider got", async () => {
  await credit(service, person.accountId, 1_000_000n)
  const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: '254722000302' })
  await service.settle()
  const { provider_receipt: receipt } = await paymentOf(person, id)
  const [attempt] = await service.deps.db.query<{ reference: string }>(
    `select t.reference from rail_attempts t join payments p on p.id = t.subject_id where p.provider_receipt = $1`,
    [receipt],
  )
  const found = { kind: 'payment', id, account_id: person.accountId, provider_receipt: receipt }
  expect(await admin('payments', 'find', receipt)).toMatchObject([found])
  expect(await admin('payments', 'find', attempt?.reference ?? '')).toMatchObject([found])
  expect(await admin('payments', 'find', 'QX0000000')).toEqual([])
})

test('finds whose a leaked key is by its first characters, and ends it with what it had made', async () => {
  const leaked = await createKey(person)
  const child = await createKey({ ...person, api: leaked.api })
  const start = leaked.key.slice(0, 24)
  expect(await admin('keys', 'find', leaked.key)).toMatchObject([{ id: leaked.id, account_id: person.accountId }])
  expect(await admin('keys', 'find', `${start}…`)).toMatchObject([{ id: leaked.id }])
  const another = `${start}${'0'.repeat(leaked.key.length - start.length)}`
  expect(await admin('keys', 'find', another)).toEqual([])
  await expect(admin('keys', 'find', 'service_live_')).rejects.toThrow('at least six digits')
  expect(await admin('keys', 'revoke', leaked.id, '--reason', 'seen in a repository')).toMatchObject({ status: 'revoked' })
  expect((await leaked.api.get('/v1/credentials/current')).status).toBe(401)
  expect((await child.api.get('/v1/credentials/current')).status).toBe(401)
  const [entry] = await admin('audit-log', '--subject', leaked.id)
  expect(entry).toMatchObject({ action: 'api_key.revoke', user_agent: 'shell:amina', after: { reason: 'seen in a repository' } })
  expect(await findBreaches(service)).toEqual([])
})

test("an end of a key by the operator cancels at once what it asked for from a team's balance", async () => {
  const team = await createTeam(service)
  await credit(service, team.id, 1_000_000n)
  await team.owner.api.post('/v1/spending-policies', { name: 'Ask', required_approval_count: 1 })
  const key = await createKey(team.owner)
  const input = { beneficiary_id: await newBeneficiary(team.owner.api), amount_minor: '1000' }
  const { body: payment } = await key.api.post('/v1/payments', input)
  expect(payment.status).toBe('pending_approval')
  await admin('keys', 'revoke', key.id, '--reason', 'leaked')
  expect((await team.owner.api.get(`/v1/payments/${payment.id}`)).body.status).toBe('cancelled')
})

test(
  'as a process of its own, verify prints every promise and fails when one is broken; a wrong command line prints the usage',
  patience,
  async () => {
    await service.deps.jobs.sweep()
    const [sound, wrongUsage, refused] = await Promise.all([
      spawnAdmin('verify'),
      spawnAdmin('accounts', 'feed', 'x'),
      spawnAdmin('keys', 'revoke', 'key_01h455vb4pex5vsknk084sn02q'),
    ])
    expect([sound.code, sound.stdout]).toEqual([0, expect.stringMatching(/\n[0-9]+ promises kept, 0 broken\n$/)])
    expect(sound.stdout).toMatch(/ok {5}I1 {3}debits equal credits/)
    const feed =
      /^Usage:\n {2}npm run admin -- accounts find <account>\n[\s\S]*\n\nunknown command "accounts feed x"; did you mean "accounts find"\?\n$/
    expect([wrongUsage.code, wrongUsage.stderr]).toEqual([2, expect.stringMatching(feed)])
    expect([refused.code, refused.stderr.trim()]).toEqual([1, 'There is no such resource.'])
    const counter = "('policy', gen_random_uuid(), gen_random_uuid(), 'day', '2026-03-04', 7, 1)"
    await service.deps.db.query(
      `insert into usage_counters (subject, subject_id, account_id, period, period_start, used_minor, payments) values ${counter}`,
    )
    const broken = await spawnAdmin('verify')
    await service.deps.db.query('delete from usage_counters where used_minor = 7')
    expect(broken.code).toBe(1)
    expect(broken.stdout).toMatch(/BROKEN I9 {3}every usage counter equals the sum.*\n +policy .* day 2026-03-04/)
  },
)

test(
  'as a process of its own, reconcile prints what a statement lists and the books do not, and fails; an unreadable file is named',
  patience,
  async () => {
    const file = join(folder, 'march.csv')
    await writeFile(
      file,
      'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,A/C No.\nQWW0000001,2026-03-04 10:00:00,Business Payment,Completed,,-250.00,\n',
    )
    const [differs, missing] = await Promise.all([spawnAdmin('reconcile', file), spawnAdmin('reconcile', `${file}.none`)])
    expect([differs.code, JSON.parse(differs.stdout)]).toEqual([
      1,
      expect.objectContaining({
        source: 'march.csv',
        lines: 1,
        matched: 0,
        differences: 1,
        items: [expect.objectContaining({ kind: 'not_in_our_books', provider_receipt: 'QWW0000001', stated_minor: '-25000' })],
      }),
    ])
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringMatching(/cannot read the file .*march\.csv\.none/)])
  },
)

test('a list that ends before its last row says so', patience, async () => {
  const file = join(folder, 'many.csv')
  const rows = Array.from({ length: 1001 }, (_, index) => `QMANY${10_000 + index},2026-03-04 10:00:00,Completed,250.00,\n`)
  await writeFile(file, `Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn\n${rows.join('')}`)
  const { code, stdout, stderr } = await spawnAdmin('reconcile', file)
  const { differences, items } = JSON.parse(stdout)
  expect([code, differences, items.length]).toEqual([1, 1001, 1000])
  expect(stderr).toContain('There are more than 1000 rows. Only the newest 1000 are shown.')
})

test('the audit log is exported whole and in order, as NDJSON, and goes on after a cursor', patience, async () => {
  for (let count = 0; count < 130; count += 1) await person.api.patch('/v1/accounts/me', { display_name: `Name ${count}` })
  const rowsOf = (text: string) => text.trimEnd().split('\n')
  const whole = await spawnAdmin('audit-log', 'export')
  expect([whole.code, whole.stderr]).toEqual([0, ''])
  const entries = rowsOf(whole.stdout).map((line) => JSON.parse(line))
  const stored = await service.deps.db.query<{ id: string }>('select id from audit_log order by transaction, id')
  expect(entries.map(({ id }) => id)).toEqual(stored.map(({ id }) => formatId('audit', id)))
  expect(entries.length).toBeGreaterThan(130)
  expect(entries[0]).toMatchObject({ action: expect.stringContaining('.'), created_at: expect.stringMatching(/Z$/) })
  const [first, rest, wrong] = await Promise.all([
    spawnAdmin('audit-log', 'export', '--limit', '100'),
    spawnAdmin('audit-log', 'export', '--cursor', entries[99].cursor),
    spawnAdmin('audit-log', 'export', '--cursor', 'aud_1'),
  ])
  expect(first.stdout + rest.stdout).toBe(whole.stdout)
  expect(rowsOf(first.stdout)).toHaveLength(100)
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--cursor must be the cursor of the last exported row')])
})

describe('what is stored about a person', () => {
  const exported = async (account: string) => {
    const { code, stdout, stderr } = await spawnAdmin('persons', 'export', account)
    expect([code, stderr]).toEqual([0, ''])
    return { text: stdout, document: JSON.parse(stdout) }
  }

  test('is exported as one document: all of it, nothing of others, and no secret', patience, async () => {
    const someone = await signIn(service.api)
    const stranger = await signIn(service.api)
    const key = await createKey(someone)
    await fund(service, someone, 100_000n)
    const paid = await pay(someone, { payment_rail: 'MPESA_B2C', destination: '254722000377' }, '1000')
    await service.settle()
    await service.deps.requestLog.flush()
    const { text, document } = await exported(someone.accountId)
    expect(document.account_id).toBe(someone.accountId)
    expect(document.identities).toMatchObject([{ subject: someone.wallet.address }])
    expect(document.payments).toMatchObject([{ id: parseId('payment', paid), amount_minor: 1000 }])
    const created = document.events.find(({ type }: Json) => type === 'payment.created')
    expect(created.data).toMatchObject({ id: paid, amount_minor: '1000', decision: { outcome: expect.any(String) } })
    expect(document.topups[0].phone_number).toMatch(/^2547/)
    for (const table of [
      'accounts',
      'sessions',
      'workspaces',
      'members',
      'api_keys',
      'grants',
      'beneficiaries',
      'events',
      'audit_log',
    ])
      expect([table, document[table].length > 0]).toEqual([table, true])
    expect(document.withheld.sessions).toEqual(['browser_hash', 'token_hash'])
    for (const secret of [
      key.key,
      someone.cookie,
      '254722000377',
      stranger.wallet.address,
      String(parseId('account', stranger.accountId)),
    ])
      expect([secret, text.includes(secret)]).toEqual([secret, false])
    const [entry] = await admin('audit-log', '--subject', someone.accountId, '--action', 'admin.export_person')
    expect(entry).toMatchObject({ credential: { kind: 'command' }, user_agent: expect.stringMatching(/^shell:/) })
  })

  test('includes what others addressed to it: invitations of its wallet, and policies that name it', patience, async () => {
    const team = await createTeam(service)
    const [invited, named] = [await signIn(service.api), await joinTeam(service, team, 'admin')]
    const invitation = { role: 'viewer', wallet_address: getAddress(invited.wallet.address) }
    expect((await team.owner.api.post('/v1/workspaces/current/invitations', invitation)).status).toBe(201)
    const policy = { name: 'Named', approval_threshold_minor: '0', approver_ids: [named.accountId] }
    const { body } = await team.owner.api.post('/v1/spending-policies', policy)
    const ofInvited = (await exported(invited.accountId)).document
    expect(ofInvited.invitations).toMatchObject([{ accepted_at: null, wallet_address: expect.stringMatching(/^0x/i) }])
    const ofNamed = (await exported(named.accountId)).document
    expect(ofNamed.spending_policies.map(({ id }: Json) => id)).toEqual([parseId('policy', body.id)])
  })

  test('is in the audit log as exported even if the export does not run to its end', patience, async () => {
    const { accountId } = await signIn(service.api)
    await service.deps.db.query('alter table payees rename workspace_id to workspace_id_away')
    const stopped = await spawnAdmin('persons', 'export', accountId).finally(() =>
      service.deps.db.query('alter table payees rename workspace_id_away to workspace_id'),
    )
    expect([stopped.code, stopped.stdout]).toEqual([1, expect.stringContaining('"identities": [')])
    expect(await admin('audit-log', '--subject', accountId, '--action', 'admin.export_person')).toHaveLength(1)
  })

  test('waits for a reader that takes no output for longer than other transactions may be idle', async () => {
    const { accountId } = await signIn(service.api)
    const { db } = service.deps
    let transactions = 0
    // The second transaction reads. In it, a millisecond is too long.
    const transaction = <Result>(work: (tx: Tx) => Promise<Result>) =>
      db.transaction((tx) => {
        transactions += 1
        if (transactions === 2) tx.defer(tx.query('set local idle_in_transaction_session_timeout = 1'))
        return work(tx)
      })
    const deps = { ...service.deps, db: { ...db, transaction } }
    const reader = vi.spyOn(process.stdout, 'write').mockImplementation(((_text: string, taken?: () => void) => {
      const slowly = async () => {
        for (let count = 0; count < 20 && reader.mock.calls.length < 5; count += 1) await db.query('select 1')
        taken?.()
      }
      void slowly()
      return true
    }) as typeof process.stdout.write)
    const at = { deps, databaseUrl: service.database.url, operator: shellOperator('amina'), close: async () => undefined }
    await readCommand(['persons', 'export', accountId])
      .run(at)
      .finally(() => reader.mockRestore())
    expect(transactions).toBe(2)
  })

  test('is looked for in every table that names an account', patience, async () => {
    const named = await service.deps.db.query<{ table: string }>(
      `select distinct c.table_name::text as table from information_schema.columns c join pg_class t on t.oid = c.table_name::regclass
       where c.table_schema = 'public' and not t.relispartition and t.relkind in ('r', 'p')
         and c.column_name in ('account_id', 'owner_id', 'owning_account_id', 'customer_account_id', 'initiator_account_id', 'created_by')`,
    )
    const { document } = await exported(person.accountId)
    const tables = [...named.map(({ table }) => table), ...Object.keys(accountConditions)]
    expect(tables.filter((table) => !Object.hasOwn(document, table))).toEqual([])
  })
})

test('after a restore into a server whose transaction ids are behind, new rows are ordered after the old ones', async () => {
  await service.deps.db.query(
    `insert into audit_log (id, transaction, at, action) select $2, (pg_current_xact_id()::text::bigint + 60000)::text::xid8, $1, 'test.restored'`,
    [service.clock.now(), newId()],
  )
  expect((await findBreaches(service)).join('\n')).toContain('a database that was restored elsewhere')
  const { transaction_ids_used_up: used } = await admin('after-restore')
  expect(Number(used)).toBeGreaterThan(0)
  expect(await admin('after-restore')).toMatchObject({ transaction_ids_used_up: '0', rails: 'paused' })
  const paused = await admin('rails', 'paused')
  expect(Object.keys(paused[0])).toEqual(['rail', 'cause', 'reason', 'paused_by', 'paused_at'])
  for (const { rail } of paused) await admin('rails', 'resume', rail)
  expect(await admin('rails', 'paused')).toEqual([])
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
})

test('what is wrong with a command line is its last line, below the syntax of its own command alone', patience, async () => {
  const grant = 'Usage:\n  npm run admin -- grant <account>\n      gives administrator rights\n\n'
  const wrong = [
    [['grant'], `${grant}<account> is missing\n`],
    [['grant', 'nobody@example.com'], `${grant}No account is called "nobody@example.com".\n`],
    [['grant', 'x', '--reasn', 'y'], `${grant}grant has no option --reasn\n`],
    [['accounts', 'freeze', 'x', '--reasn', 'y'], expect.stringMatching(/no option --reasn; did you mean "--reason"\?\n$/)],
    [['account', 'find', 'x'], expect.stringMatching(/unknown command "account find x"; did you mean "accounts find"\?\n$/)],
    [['payments', 'resolve', 'pay_1', 'failed'], expect.stringMatching(/\n\n--evidence is missing\n$/)],
    [['frobnicate'], expect.stringMatching(/^npm run admin -- <command>[\s\S]*\n\nunknown command "frobnicate"\n$/)],
    [[], expect.stringMatching(/^npm run admin -- <command>/)],
  ] as const
  await Promise.all(
    wrong.map(async ([args, stderr]) =>
      expect([args, await spawnAdmin(...args)]).toEqual([args, { code: 2, stdout: '', stderr }]),
    ),
  )
})

test('rails check in a sandbox says that there is nothing to check', async () => {
  await expect(admin('rails', 'check')).rejects.toThrow(
    'Nothing to check: RAILS names no real provider, so payments are simulated and no money moves.',
  )
})

test('what is wrong with a command line is said in words', async () => {
  await expect(admin('audit-log', '--limit', 'many')).rejects.toThrow('limit: must be a number')
  await expect(admin('verify', '--scope', 'some')).rejects.toThrow(
    '--scope must be recent or unfinished; omit it to check everything',
  )
  await expect(admin('accounts', 'freeze', person.accountId, '--reason', '')).rejects.toThrow('reason: must not be empty')
})

test('a command takes no word or option that it would ignore', async () => {
  const [one, other] = [await createKey(person), await createKey(person)]
  await expect(admin('keys', 'revoke', one.id, other.id)).rejects.toThrow(`unexpected "${other.id}" after keys revoke`)
  await expect(admin('reconcile', 'march.csv', 'april.csv')).rejects.toThrow('unexpected "april.csv" after reconcile')
  await expect(admin('audit-log', 'exprot')).rejects.toThrow('unexpected "exprot" after audit-log')
  await expect(admin('audit-log', 'export', '--after', '2026-03-01')).rejects.toThrow('audit-log export has no option --after')
  await expect(admin('verify', '--reason', 'x')).rejects.toThrow('verify has no option --reason')
  await expect(admin('migrate', 'now')).rejects.toThrow('unexpected "now" after migrate')
  expect((await one.api.get('/v1/credentials/current')).status).toBe(200)
  for (const right of [
    ['accounts', 'disable', 'a', 'oauth', '--reason', 'x'],
    ['adjustments', 'create', 'a', 'credit', '1', '--reason', 'x', '--key', 'y'],
    ['audit-log', '--account', 'a', '--limit', '1'],
    ['differences', 'resolve', 'a', 'b', 'c', '--reason', 'x'],
    ['grant', 'a'],
    ['invite', 'a'],
    ['migrate', '--serve-as', 'a', '--minutes', '1'],
    ['payments', 'resolve', 'a', 'succeeded', '--evidence', 'x', '--receipt', 'y'],
    ['rails', 'check', '--duplicate', 'a'],
    ['rails', 'pause', 'PESALINK', '--reason', 'x'],
    ['suspense', 'resolve', 'a', 'b', 'c', 'explained', '--reason', 'x'],
    ['verify', '--scope', 'recent', '--head', 'x'],
  ])
    expect(() => readCommand(right)).not.toThrow()
})

describe('after the keys were replaced', () => {
  const rings = { ENCRYPTION_KEYS: keys.ENCRYPTION_KEYS, TOKEN_SECRETS: keys.TOKEN_SECRETS }
  /** Puts a new key first in both rings and starts with them, as an operator does. */
  const replaceKeys = async (id: string) => {
    for (const name of ['ENCRYPTION_KEYS', 'TOKEN_SECRETS'] as const)
      rings[name] = `${id}:${randomBytes(32).toString('base64')},${rings[name]}`
    const [encryption, secrets] = [parseKeyRing(rings.ENCRYPTION_KEYS), parseKeyRing(rings.TOKEN_SECRETS)]
    await checkInstallation(service.database.url, {
      currency: 'KES',
      rings: { ENCRYPTION_KEYS: encryption, TOKEN_SECRETS: secrets, ORDER_KEY: parseKeyRing(keys.ORDER_KEY) },
    })
    const config = { ...service.deps.config, ENCRYPTION_KEYS: encryption, TOKEN_SECRETS: secrets }
    const deps = { ...service.deps, config, vault: createVault(encryption), derivations: createDerivations(secrets) }
    return { deps, databaseUrl: service.database.url, operator: shellOperator('amina'), close: async () => undefined }
  }
  const requiredKeys = async () =>
    (
      await service.deps.db.query<{ name: string }>(
        `select ring || ' ' || key_id as name from installation_keys where ring in ('ENCRYPTION_KEYS', 'TOKEN_SECRETS') order by 1`,
      )
    ).map(({ name }) => name)

  test('rotate-keys finishes although a closed account had two payees on one rail; one that it added again keeps its identity', async () => {
    const someone = await signIn(service.api)
    const [again, ...others] = ['254722000303', '254722000304', '254722000305']
    for (const destination of [again, ...others]) await newBeneficiary(someone.api, { destination })
    await admin('accounts', 'close', someone.accountId)
    await admin('accounts', 'unfreeze', someone.accountId)
    await newBeneficiary((await signIn(service.api, someone.wallet)).api, { destination: again })
    const at = await replaceKeys('closed')
    await readCommand(['rotate-keys']).run(at)
    expect(await service.deps.db.query(`select from payees where fingerprint_key_id <> 'closed'`)).toEqual([])
    expect(await requiredKeys()).toEqual(['ENCRYPTION_KEYS closed', 'TOKEN_SECRETS closed'])
    const promises = 'the destination of every beneficiary matches its payee|every payee fingerprint has a configured secret'
    expect(await findBreachesOf({ ...service, deps: at.deps }, service.deps.db, promises)).toEqual([])
  })

  test('rotate-keys waits for a row that a payment has locked, and requires the old keys until then', async () => {
    const id = parseId('beneficiary', await newBeneficiary((await signIn(service.api)).api, { destination: '254722000306' }))
    const before = await requiredKeys()
    const at = await replaceKeys('locked')
    const keyOf = `select destination_key_id as key from beneficiaries where id = $1`
    let rotation: Promise<unknown> | undefined
    await service.deps.db.transaction(async (tx) => {
      await tx.query(`${keyOf} for update`, [id])
      rotation = readCommand(['rotate-keys']).run(at)
      await expect.poll(() => service.deps.db.query(`select from ${waitingForLock}`)).toHaveLength(1)
      expect(await requiredKeys()).toEqual(expect.arrayContaining(before))
    })
    await rotation
    expect(await service.deps.db.query(keyOf, [id])).toEqual([{ key: 'locked' }])
    expect(await requiredKeys()).toEqual(['ENCRYPTION_KEYS locked', 'TOKEN_SECRETS locked'])
  })

  test('rotate-keys requires the old secrets until the address for deposits is registered under the new one', async () => {
    const { source, ...bank } = service.sandbox.options(service.sandboxUrl).PESALINK
    const config = {
      ...service.deps.config,
      RAILS: ['pesalink' as const],
      PESALINK_URL: bank.baseUrl,
      PESALINK_API_KEY: bank.apiKey,
      PESALINK_MERCHANT_CODE: bank.merchantCode,
      PESALINK_CONSUMER_SECRET: bank.consumerSecret,
      PESALINK_PRIVATE_KEY: bank.privateKeyPem,
      PESALINK_ACCOUNT_NUMBER: source.accountNumber,
      PESALINK_ACCOUNT_NAME: source.name,
      PESALINK_DEPOSIT_BANK_CODE: '68',
    }
    const startWith = async (id: string) => {
      const at = await replaceKeys(id)
      return { ...at, deps: { ...at.deps, config } }
    }
    const register = ({ deps }: Awaited<ReturnType<typeof startWith>>) =>
      registerDeposits({ ...deps, rails: realRails(config, service.clock) }, 'PESALINK')
    await register(await startWith('registered'))
    const at = await startWith('unregistered')
    const asked = await readCommand(['rotate-keys']).run(at)
    expect(asked).toMatchObject({ still_needed: expect.stringMatching(/deposits over PESALINK .*rails register/) })
    expect(await requiredKeys()).toEqual(expect.arrayContaining(['TOKEN_SECRETS registered', 'TOKEN_SECRETS unregistered']))
    await register(at)
    expect(await readCommand(['rotate-keys']).run(at)).not.toHaveProperty('still_needed')
    expect(await requiredKeys()).toEqual(['ENCRYPTION_KEYS unregistered', 'TOKEN_SECRETS unregistered'])
  })

  test('rotate-keys encrypts and fingerprints everything with the current keys, so the old ones can be removed', async () => {
    const owner = await signIn(service.api)
    const destination = '254722000302'
    await newBeneficiary(owner.api, { destination })
    const pushes = await startPushService()
    const phone = pushes.browser()
    expect((await owner.api.post('/v1/accounts/me/push-subscriptions', phone.subscription)).status).toBe(201)
    const at = await replaceKeys('second')
    expect(await readCommand(['rotate-keys']).run(at)).toMatchObject({
      payees: expect.any(Number),
      beneficiaries: expect.any(Number),
    })
    const left = await service.deps.db.query(`select from beneficiaries where destination_key_id <> 'second' union all
      select from payees where fingerprint_key_id <> 'second' union all select from topups where phone_key_id <> 'second' union all select from callback_bodies where body_key_id <> 'second'
      union all select from push_subscriptions where endpoint_key_id <> 'second'`)
    expect(left).toEqual([])
    // With the new keys alone, the payee is still the same one, and can be paid.
    const [encryption = '', secret = ''] = [rings.ENCRYPTION_KEYS.split(',')[0], rings.TOKEN_SECRETS.split(',')[0]]
    const next = await startService({
      database: service.database,
      clock: service.clock,
      env: { ENCRYPTION_KEYS: encryption, TOKEN_SECRETS: secret, ORDER_KEY: keys.ORDER_KEY, RECEIPT_KEYS: keys.RECEIPT_KEYS },
    })
    try {
      const api = next.api.as({ cookie: owner.cookie })
      await credit(next, owner.accountId, 1_000_000n)
      const beneficiary_id = await newBeneficiary(api, { destination })
      const [payees] = await service.deps.db.query<{ payees: bigint }>(
        `select count(distinct payee_id) as payees from beneficiaries where workspace_id = (select workspace_id from beneficiaries order by id desc limit 1)`,
      )
      expect(payees?.payees).toBe(1n)
      const payment = await api.post('/v1/payments', { beneficiary_id, amount_minor: '100000' })
      await next.settle()
      expect((await api.get(`/v1/payments/${payment.body.id}`)).body.status).toBe('succeeded')
      await api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100' })
      await api.post('/v1/payments', { beneficiary_id, amount_minor: '120000' })
      await next.settle()
      expect([phone.received.length, pushes.refused]).toEqual([1, []])
      expect(await findBreaches(next)).toEqual([])
    } finally {
      await next.close()
      await pushes.close()
    }
  })
})
