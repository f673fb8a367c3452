import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { registerAtEmulator } from '../../src/modules/deposits/registration.ts'
import { workAfterAnswers } from '../harness/at-work.ts'
import { createClient } from '../harness/client.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { compiledOnce, programs } from '../harness/programs.ts'
import { openService } from '../harness/service.ts'
import { startFaultyProxy } from './faulty-proxy.ts'

const service = await openService()
const person = await signIn(service.api)
const beneficiary = await newBeneficiary(person.api)
await fund(service, person, 10_000_000n)
const folder = await mkdtemp(join(tmpdir(), 'payments-cli-'))
const running = new Set<Run>()
afterEach(async () => {
  for (const run of running) run.kill()
  await Promise.all([...running].map((run) => run.ended))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type Run = {
  out: () => string
  err: () => string
  waitForOutput: (pattern: RegExp) => Promise<RegExpExecArray>
  ended: Promise<number>
  kill: () => void
}

/** Runs a person's command in a process of its own. */
const payments = (args: string[], env: Record<string, string> = {}): Run => {
  const child = spawn(process.execPath, [programs.client, ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      ...compiledOnce,
      PAYMENTS_URL: service.api.url,
      PAYMENTS_LOGIN_FILE: join(folder, 'login.json'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { out: '', err: '' }
  const watchers = new Set<() => void>()
  const take = (name: 'out' | 'err') => (chunk: string) => {
    text[name] += chunk
    for (const watcher of watchers) watcher()
  }
  child.stdout.setEncoding('utf8').on('data', take('out'))
  child.stderr.setEncoding('utf8').on('data', take('err'))
  const run: Run = {
    out: () => text.out,
    err: () => text.err,
    kill: () => void child.kill('SIGINT'),
    ended: once(child, 'close').then(([code]) => {
      running.delete(run)
      return code as number
    }),
    waitForOutput: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(text.out + text.err)
          if (match) resolve(match)
        }
        watchers.add(look)
        look()
        void run.ended.then(() => reject(new Error(`ended without ${pattern}: ${text.out}${text.err}`)))
      }),
  }
  running.add(run)
  return run
}

/** Exit codes of the commands. */
const exit = { done: 0, failed: 1, usage: 2, alreadySent: 3, undelivered: 4 } as const

const outcomeOf = async (args: string[], env?: Record<string, string>) => {
  const run = payments(args, env)
  return [await run.ended, run.out() + run.err()] as const
}

const withKey = async (fields: Record<string, unknown> = {}) => ({ PAYMENTS_API_KEY: (await createKey(person, fields)).key })

describe('payments login', () => {
  test('pays within the limits that a person authorized, until it logs out', async () => {
    const login = payments(['login', '--scope', 'payment.create payment.read policy.read'])
    const [, code] = await login.waitForOutput(/compare the code: (\S+)/)
    const decided = await person.api.post(`/v1/oauth/device/${code}/decision`, {
      decision: 'approve',
      spending_controls: { per_payment_limit_minor: '2000' },
    })
    expect(decided.status).toBe(200)
    expect(await login.ended, login.err()).toBe(exit.done)
    const file = join(folder, 'login.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)

    const paid = payments(['pay', beneficiary, '15.00', '--key', 'an order'])
    expect(await paid.ended, paid.err()).toBe(exit.done)
    const payment = JSON.parse(paid.out())
    expect(payment).toMatchObject({ status: 'processing', amount_minor: '1500' })
    const again = payments(['pay', beneficiary, '15.00', '--key', 'an order'])
    expect(await again.ended).toBe(exit.done)
    expect(JSON.parse(again.out()).id).toBe(payment.id)

    const denied = payments(['pay', beneficiary, '30.00'])
    expect(await denied.ended).toBe(exit.failed)
    expect(denied.err()).toMatch(/^policy_denied: .*20\.00/)

    const { tokens } = JSON.parse(await readFile(file, 'utf8'))
    expect(await payments(['logout']).ended).toBe(exit.done)
    expect((await service.api.get('/v1/payments', { bearer: tokens.accessToken })).status).toBe(401)
    const after = payments(['whoami'])
    expect([await after.ended, after.err()]).toEqual([exit.usage, expect.stringMatching(/payments login/)])
  })

  test('replaces an earlier login, under whose access payments may wait: it lasts, and the command says so', async () => {
    const file = join(folder, 'twice.json')
    const login = async () => {
      const run = payments(['login', '--scope', 'payment.read'], { PAYMENTS_LOGIN_FILE: file })
      const [, code] = await run.waitForOutput(/compare the code: (\S+)/)
      expect((await person.api.post(`/v1/oauth/device/${code}/decision`, { decision: 'approve' })).status).toBe(200)
      expect(await run.ended, run.err()).toBe(exit.done)
      const { accessToken } = JSON.parse(await readFile(file, 'utf8')).tokens
      return { accessToken: accessToken as string, said: run.out() + run.err() }
    }
    const [first, second] = [await login(), await login()]
    const read = async (bearer: string) => (await service.api.get('/v1/payments', { bearer })).status
    expect(await Promise.all([first, second].map(({ accessToken }) => read(accessToken)))).toEqual([200, 200])
    expect(first.said).not.toContain('earlier login')
    expect(second.said).toContain('The access of the earlier login lasts.')
  })
})

describe('with an API key', () => {
  test('simulate says what would be decided, and moves nothing', async () => {
    const env = await withKey({ spending_controls: { approval_threshold_minor: '5000' } })
    const run = payments(['simulate', beneficiary, '60.00'], env)
    expect(await run.ended, run.err()).toBe(exit.done)
    expect(JSON.parse(run.out())).toMatchObject({ outcome: 'require_approval', required_approvals: 1 })
  })

  test('the same payment again is asked about, and paid a second time only with --again', async () => {
    const env = await withKey()
    const order = ['pay', beneficiary, '21.00']
    const first = payments(order, env)
    expect(await first.ended, first.err()).toBe(exit.done)
    expect(first.err()).toMatch(/^KES 21\.00 to .* \(\*{4}\d{4}\): processing$/m)
    const { id } = JSON.parse(first.out())
    const second = payments(order, env)
    expect(await second.ended).toBe(exit.usage)
    expect(second.err()).toContain(`this looks like ${id}. To pay again, add --again.`)
    const meant = payments([...order, '--again'], env)
    expect(await meant.ended, meant.err()).toBe(exit.done)
    expect(JSON.parse(meant.out()).id).not.toBe(id)
  })

  test('an intended second payment has a key of its own: the same command shows it again and pays nothing', async () => {
    const env = await withKey()
    const order = ['pay', beneficiary, '22.00']
    const pay = async (...more: string[]) => {
      const run = payments([...order, ...more], env)
      expect(await run.ended, run.err()).toBe(exit.done)
      return JSON.parse(run.out()).id
    }
    const first = await pay('--key', 'the first')
    const second = await pay('--key', 'the second', '--again')
    expect(second).not.toBe(first)
    expect(await pay('--key', 'the second', '--again')).toBe(second)
    const other = payments(['pay', beneficiary, '23.00', '--key', 'the second', '--again'], env)
    expect([await other.ended, other.err()]).toEqual([exit.failed, expect.stringContaining('used with another request')])
  })

  test('lists show names, amounts and where a person decides', async () => {
    const env = await withKey({ spending_controls: { approval_threshold_minor: '5000' } })
    const held = payments(['pay', beneficiary, '61.00'], env)
    expect(await held.ended, held.err()).toBe(exit.done)
    const { approval_id } = JSON.parse(held.out())
    const address = `${service.api.url}/approve/${approval_id}`
    expect(held.err()).toContain(`A person must approve it: ${address}`)
    const show = async (...args: string[]) => {
      const run = payments(args, env)
      expect(await run.ended, run.err()).toBe(exit.done)
      return run.out()
    }
    expect(await show('approvals')).toMatch(new RegExp(`KES 61\\.00  .* pending  ${address}`))
    expect(await show('payees')).toContain(beneficiary)
    expect(await show('payments', '--status', 'pending_approval')).toMatch(
      /^ID +CREATED +AMOUNT +PAYEE +PURPOSE +STATUS\n[\s\S]*pay_\S+ .* KES 61\.00 .* pending_approval/,
    )
    expect(await show('balance')).toMatch(/^Personal: KES [\d,]+\.\d\d available; KES [\d,]+\.\d\d is held/)
    await person.api.post('/v1/spending-policies', { name: 'Calm', daily_limit_minor: '90000000' })
    expect(await show('policies')).toMatch(/pol_\S+ +Calm +active +a day 900,000\.00/)
    expect(JSON.parse((await show('policies', '--json')).trim())).toMatchObject({ name: 'Calm' })
    expect(await show('logs', '--status', '2xx')).toContain('POST  /v1/payments')
  })

  test('payees are added, checked and archived, one or all that a key made; only a person confirms them', async () => {
    const { key, grantId, api } = await createKey(person)
    const env = { PAYMENTS_API_KEY: key }
    const run = async (...args: string[]) => {
      const command = payments(['payees', ...args], env)
      const code = await command.ended
      return { code, out: command.out(), err: command.err() }
    }
    const added = await run('add', 'Landlord', '0722100001', '--json')
    expect(added.code, added.err).toBe(exit.done)
    const { id } = JSON.parse(added.out)
    expect(added.err).toContain(`A person must confirm it: ${service.api.url}/beneficiaries/${id}`)
    const again = await run('add', 'Kenya Power', '0722100001')
    expect([again.code, again.err]).toEqual([
      exit.done,
      expect.stringContaining(`"Landlord" is paid at the same number. (${id})`),
    ])
    await service.settle()
    service.clock.advance(60)
    const checking = payments(['payees', 'verify', id], env)
    const atWork = workAfterAnswers(service)
    expect(await checking.ended.finally(atWork.stop), checking.err()).toBe(exit.done)
    expect(checking.out()).toContain('WANJIRU N**** K**** (ANOTHER NAME)')
    const confirmed = await run('confirm', id)
    expect([confirmed.code, confirmed.err]).toEqual([exit.failed, expect.stringContaining('A person confirms a beneficiary')])
    const made = await run('--made-by', grantId)
    expect(made.out.match(/made by/g)).toHaveLength(2)
    const renamed = await newBeneficiary(person.api, { destination: '254722000478' })
    expect((await api.patch(`/v1/beneficiaries/${renamed}`, { display_name: 'Other' })).status).toBe(200)
    const archived = await run('archive', '--made-by', grantId)
    expect(archived.out.match(/archived, proposed/g)).toHaveLength(2)
    // A key that renamed a beneficiary did not make it.
    expect(archived.err).toContain(`${renamed} Other: only renamed by it`)
    expect((await person.api.get(`/v1/beneficiaries/${renamed}`)).body.status).toBe('active')
    expect((await run('archive')).code).toBe(exit.usage)
  })

  test('logs --follow prints what is logged later, each request once', async () => {
    const follower = await createKey(person, { permissions: ['account.read', 'payment.create', 'payment.read'] })
    const log = payments(['logs', '--follow', '--status', '4xx'], { PAYMENTS_API_KEY: follower.key })
    const refuse = (amount: string) => follower.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: amount })
    // Nothing is logged yet, and this machine's clock is months ahead of the service's.
    await log.waitForOutput(/listening/)
    expect((await refuse('one')).status).toBe(400)
    await log.waitForOutput(/ 400 {2}POST {2}\/v1\/payments {2}invalid_request: /)
    expect((await refuse('two')).status).toBe(400)
    await log.waitForOutput(/ 400 [\s\S]* 400 /)
    log.kill()
    await log.ended
    expect(log.out().match(/ 400 {2}POST/g)).toHaveLength(2)
  })

  test('--version and the --help of each command need no service', async () => {
    const nowhere = { PAYMENTS_URL: 'http://127.0.0.1:9' }
    const version = payments(['--version'], nowhere)
    expect([await version.ended, version.out()]).toEqual([
      exit.done,
      `${JSON.parse(await readFile('client/package.json', 'utf8')).version}\n`,
    ])
    const names = ['pay', 'approvals', 'top-up', 'verify-receipt']
    const helps = names.map((name) => payments([name, '--help'], nowhere))
    for (const [index, help] of helps.entries()) {
      expect(await help.ended).toBe(exit.done)
      expect(help.out()).toMatch(new RegExp(`^payments ${names[index]} .*\n\n\\S`))
    }
  })

  test('pay --wait ends when the payment has ended, with its record as the output and its result as the last line for a person', async () => {
    const run = payments(['pay', beneficiary, '10.00', '--wait'], await withKey())
    const wait = async () => {
      while (run.out() === '') {
        await service.settle()
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    await Promise.race([wait(), run.ended])
    expect(await run.ended, run.err()).toBe(exit.done)
    const payment = JSON.parse(run.out())
    expect(payment.status).toBe('succeeded')
    expect(run.err()).toMatch(new RegExp(`\n.*, succeeded: ${payment.provider_receipt}\n$`))
  })

  test('pay --at takes a day or a time of the workspace, or an instant; simulate --at says what would be decided', async () => {
    const env = await withKey({ permissions: ['payment.create', 'payment.read'] })
    const day = new Date(service.clock.now().getTime() + 7 * 86_400_000).toISOString().slice(0, 10)
    const dayBefore = new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)
    const order = ['pay', beneficiary, '34.00', '--again']
    for (const [at, instant, words] of [
      [day, `${dayBefore}T21:00:00.000Z`, `${day} 00:00, Africa/Nairobi`],
      [`${day} 09:30`, `${day}T06:30:00.000Z`, `${day} 09:30, Africa/Nairobi`],
      [`${day}T09:30:00+01:00`, `${day}T08:30:00.000Z`, `${day}T09:30:00+01:00`],
    ] as const) {
      const run = payments([...order, '--at', at], env)
      expect(await run.ended, run.err()).toBe(exit.done)
      expect(JSON.parse(run.out())).toMatchObject({ status: 'scheduled', execute_at: instant })
      expect(run.err()).toContain(`: scheduled for ${words}\n`)
    }
    const dry = payments(['simulate', beneficiary, '34.00', '--at', day], await withKey())
    expect(await dry.ended, dry.err()).toBe(exit.done)
    expect(JSON.parse(dry.out()).outcome).toBe('allow')
  })

  test('pay --at reads a time in the zone that the workspace has then, while a new zone waits for its month', async () => {
    const mover = await signIn(service.api)
    const changed = await mover.api.patch('/v1/workspaces/current', { time_zone: 'Asia/Tokyo' })
    const from = Date.parse(changed.body.workspace.time_zone_from)
    const [dayBefore, dayAfter] = [from, from + 86_400_000].map((at) => new Date(at).toISOString().slice(0, 10))
    const payee = await newBeneficiary(mover.api)
    await fund(service, mover, 1_000_000n)
    const env = { PAYMENTS_API_KEY: (await createKey(mover, {})).key }
    for (const [at, hour, words] of [
      [`${dayBefore} 12:00`, '09', 'Africa/Nairobi'],
      [`${dayAfter} 12:00`, '03', 'Asia/Tokyo'],
    ] as const) {
      const run = payments(['pay', payee, '34.00', '--again', '--at', at], env)
      expect(await run.ended, run.err()).toBe(exit.done)
      expect(JSON.parse(run.out()).execute_at).toBe(`${at.slice(0, 10)}T${hour}:00:00.000Z`)
      expect(run.err()).toContain(`: scheduled for ${at}, ${words}\n`)
    }
  })

  test('pay --purpose says what a payment is for, and the list of payments shows it and finds it', async () => {
    const env = await withKey()
    const run = payments(['pay', beneficiary, '36.00', '--purpose', 'SALA'], env)
    expect(await run.ended, run.err()).toBe(exit.done)
    const { id, purpose_code } = JSON.parse(run.out())
    expect(purpose_code).toBe('SALA')
    const found = payments(['payments', '--purpose', 'SALA'], env)
    expect(await found.ended, found.err()).toBe(exit.done)
    expect(found.out()).toMatch(new RegExp(`\\n${id} .* SALA +\\w+\\n$`))
    const others = payments(['payments', '--purpose', 'SUPP'], env)
    expect([await others.ended, others.out()]).toEqual([exit.done, ''])
  })

  test('pay --at refuses what is no time, a time that has passed or is more than 90 days ahead, and --wait, in a sentence', async () => {
    const env = await withKey()
    const at = async (time: string, ...more: string[]) => {
      const run = payments(['pay', beneficiary, '35.00', '--at', time, ...more], env)
      return [await run.ended, run.err()]
    }
    const noTime = expect.stringContaining('is not a time: write 2026-12-01, "2026-12-01 09:00"')
    expect(await at('tomorrow')).toEqual([exit.usage, noTime])
    expect(await at('2027-02-30')).toEqual([exit.usage, noTime])
    expect(await at('2026-01-01')).toEqual([exit.failed, expect.stringContaining('must be in the future')])
    expect(await at('2099-01-01')).toEqual([exit.failed, expect.stringContaining('must be at most 90 days from now')])
    expect(await at('2027-01-01', '--wait')).toEqual([
      exit.usage,
      expect.stringContaining('--wait is only for a payment that is sent at once'),
    ])
  })

  test('batch pays a list in CSV, names the rows that are wrong, and with --dry-run creates nothing', async () => {
    const env = await withKey({ permissions: ['payment.create', 'payment.read', 'beneficiary.manage'] })
    const list = join(folder, 'salaries.csv')
    await writeFile(list, 'name,phone,amount\nAchieng,0722000901,10\nBaraka,0722000902,ten\n')
    const wrong = payments(['batch', list, '--dry-run'], env)
    expect([await wrong.ended, wrong.err()]).toEqual([
      exit.failed,
      expect.stringMatching(
        /^row 3 \("ten"\), amount: is not an amount: .*\ninvalid_request: 1 of 2 items cannot be paid\. Nothing/,
      ),
    ])
    expect(wrong.out()).toBe('')
    await writeFile(list, 'name,phone,amount\nAchieng,0722000901,10\nBaraka,0722000902,20\n')
    const shown = payments(['batch', list, '--dry-run'], env)
    expect(await shown.ended, shown.err()).toBe(exit.done)
    expect(shown.out()).toBe(
      [
        'row 2  Achieng  ********0901  KES 10.00  new payee; no person has confirmed this payee',
        'row 3  Baraka   ********0902  KES 20.00  new payee; no person has confirmed this payee',
        '2 payments, KES 30.00 in all. Approval: 1 needed.',
        '',
      ].join('\n'),
    )
    const checked = payments(['batch', list, '--dry-run', '--json'], env)
    expect(await checked.ended, checked.err()).toBe(exit.done)
    expect(JSON.parse(checked.out())).toMatchObject({ items_count: 2, total_minor: '3000', new_payees_count: 2 })
    const sent = payments(['batch', list, '--name', 'March', '--key', 'march', '--json'], env)
    expect(await sent.ended, sent.err()).toBe(exit.done)
    expect(JSON.parse(sent.out())).toMatchObject({ name: 'March', items_count: 2, status: 'pending_approval' })
    expect(sent.err()).toContain('A person must approve it')
    const run = async (...args: string[]) => {
      const own = payments(['batch', list, ...args], env)
      const code = await own.ended
      return [code, own.err() + own.out()]
    }
    const refused = expect.stringMatching(
      /^rows 2 \(pay_\w+\) and 3 \(pay_\w+\): looks like an earlier payment.*\nIf these payments are intended, add --dup.*\nconflict: .* Nothing was created\./,
    )
    expect(await run()).toEqual([exit.failed, refused])
    expect(await run('--period', '2026-04')).toEqual([exit.failed, refused])
    const seen = expect.stringContaining('looks like pay_')
    expect(await run('--dry-run')).toEqual([exit.done, seen])
    expect(await run('--duplicates-intended')).toEqual([exit.done, expect.stringContaining('A person must approve it')])
    const again = expect.stringMatching(
      /^A person must approve it: \S+\nSent on 20\d\d-\d\d-\d\d as pba_\w+; nothing new was paid\.[\s\S]*pending approval/,
    )
    expect(await run('--duplicates-intended')).toEqual([exit.alreadySent, again])
    expect(await run('--name', 'March', '--key', 'march')).toEqual([exit.alreadySent, again])
    expect(await run('--duplicates-intended', '--period', '2026-04')).toEqual([exit.done, expect.stringContaining('approve it')])
    // A resent batch shows its current state, not the original answer.
    const cancelled = payments(['cancel', JSON.parse(sent.out()).id], env)
    expect([await cancelled.ended, cancelled.out()]).toEqual([exit.done, expect.stringMatching(/^pba_\w+: cancelled\n$/)])
    expect(await run('--name', 'March', '--key', 'march')).toEqual([
      exit.alreadySent,
      expect.stringContaining('cancelled. 2 of 2 have ended'),
    ])
    // The same holds if its first attempt has to be repeated.
    const proxy = await startFaultyProxy(service.api.url)
    proxy.faults.push({ kind: 'none' }, { kind: 'none' }, { kind: 'answer', status: 429, headers: { 'retry-after': '0' } })
    const repeated = payments(['batch', list, '--name', 'March', '--key', 'march'], { ...env, PAYMENTS_URL: proxy.url })
    const ended = await repeated.ended
    expect([proxy.seen.filter(({ key }) => key === 'march').length, ended]).toEqual([2, exit.alreadySent])
    expect(repeated.err() + repeated.out()).toContain('nothing new was paid')
    await proxy.close()
  })

  test('payment and statement show one payment and its booking', async () => {
    const env = await withKey({ permissions: ['payment.create', 'payment.read', 'beneficiary.read', 'account.read'] })
    const run = (args: string[]) => outcomeOf(args, env)
    const paid = JSON.parse(
      (await run(['pay', beneficiary, '71.00', '--key', 'order-71', '--again']))[1].replace(/^KES.*\n/m, ''),
    )
    await service.settle()
    const line = new RegExp(`^${paid.id}: KES 71.00 to .*, succeeded: \\S+\n$`)
    expect(await run(['payment', paid.id])).toEqual([exit.done, expect.stringMatching(line)])
    expect(await run(['payment', '--key', 'order-71', '--wait'])).toEqual([exit.done, expect.stringMatching(line)])
    expect(await run(['payment', '--key', 'order-72'])).toEqual([exit.usage, 'No payment was sent with the key order-72.\n'])
    expect(await run(['cancel', paid.id])).toEqual([exit.failed, expect.stringMatching(/^conflict: /)])
    expect(await run(['cancel', paid.id, '--wait'])).toEqual([exit.failed, `${paid.id}: succeeded\n`])
    const [code, statement] = await run(['statement'])
    expect([code, statement]).toEqual([
      exit.done,
      expect.stringMatching(/payment +-71\.00 .* order-71\n[\s\S]*from KES \S+ to KES \S+\n$/),
    ])
    expect(await run(['statement', '--csv'])).toEqual([exit.done, expect.stringContaining('order-71')])
    const all = JSON.parse((await run(['statement', '--json']))[1])
    expect(all.entries).toContainEqual(expect.objectContaining({ payment_id: paid.id, idempotency_key: 'order-71' }))
  })

  test('keys lists, rotates and revokes the keys of a manager', async () => {
    const manager = await withKey({ permissions: ['key.manage', 'payment.read'] })
    const run = (args: string[]) => outcomeOf(args, manager)
    const child = await createKey({ api: createClient(service.api.url, { bearer: manager.PAYMENTS_API_KEY }) } as typeof person, {
      name: 'Till 4',
      permissions: ['payment.read'],
    })
    expect(await run(['keys'])).toEqual([exit.done, expect.stringMatching(/Till 4 +service_live_\S+ +active +never/)])
    const rotated = await run(['keys', 'rotate', child.id])
    expect(rotated).toEqual([exit.done, expect.stringMatching(/^key_\w+ {2}Till 4 {2}active {2}service_live_[0-9a-f]{64}\n$/)])
    const renewed = rotated[1].split(' ')[0] ?? ''
    expect(await run(['keys', 'revoke', renewed])).toEqual([exit.done, `${renewed}  Till 4  revoked\n`])
  })

  test('keys rotate says so if the answer with the new key was lost', async () => {
    const manager = await withKey({ permissions: ['key.manage', 'payment.read'] })
    const child = await createKey({ api: createClient(service.api.url, { bearer: manager.PAYMENTS_API_KEY }) } as typeof person, {
      name: 'Till 5',
      permissions: ['payment.read'],
    })
    const proxy = await startFaultyProxy(service.api.url)
    try {
      proxy.faults.push({ kind: 'answer lost' })
      const [code, said] = await outcomeOf(['keys', 'rotate', child.id], { ...manager, PAYMENTS_URL: proxy.url })
      const [renewed = ''] = /^key_\w+/.exec(said) ?? []
      expect([code, said]).toEqual([exit.failed, expect.stringContaining(`was lost. Run payments keys rotate ${renewed}.`)])
      expect(await outcomeOf(['keys', 'rotate', renewed], manager)).toEqual([exit.done, expect.stringContaining('service_live_')])
    } finally {
      await proxy.close()
    }
  })

  test('completion names all commands', async () => {
    const run = (args: string[]) => outcomeOf(args)
    const file = join(folder, 'completion.sh')
    await writeFile(file, (await run(['completion', 'bash']))[1])
    const complete = (...words: string[]) =>
      execFileSync('bash', [
        '-c',
        `. ${file}; COMP_WORDS=(payments ${words.join(' ')}); COMP_CWORD=${words.length}; _payments; echo "\${COMPREPLY[*]}"`,
      ])
        .toString()
        .trim()
    expect(complete('stat')).toBe('statement')
    expect(complete('statement', '--f')).toBe('--from')
    for (const shell of ['zsh', 'fish'])
      expect(await run(['completion', shell])).toEqual([exit.done, expect.stringContaining('statement')])
    expect(await run(['completion'])).toEqual([exit.usage, expect.stringContaining('Name a shell (bash, zsh, fish)')])
  })

  test('batch says the two names of a row whose name is not that of its payee, also where nobody has to approve', async () => {
    const permissions = { permissions: ['payment.create', 'payment.read', 'beneficiary.manage'] }
    const env = await withKey({ ...permissions, spending_controls: { new_payees: 'allow' } })
    const list = join(folder, 'names.csv')
    await writeFile(list, 'name,phone,amount\nAchieng Otieno,0722000921,10\nAnother Person,0722000921,20\n')
    const run = payments(['batch', list], env)
    expect(await run.ended, run.err()).toBe(exit.done)
    expect(run.err()).toBe('row 3: the file has "Another Person", the payee is "Achieng Otieno"\n')
    const others = payments(['batch', list], await withKey(permissions))
    expect(await others.ended).toBe(exit.alreadySent)
    expect(others.err()).toMatch(
      /^Sent before as pba_\w+, with another credential; nothing new was paid\. For another period, add/,
    )
  })

  test('batch --watch says how far the list is, and then what became of each of its rows', async () => {
    const env = await withKey({
      permissions: ['payment.create', 'payment.read', 'beneficiary.manage'],
      spending_controls: { new_payees: 'allow' },
    })
    const list = join(folder, 'rents.csv')
    await writeFile(list, 'name,phone,amount\nAchieng Otieno,0722000911,10\n\nBaraka,0700000001,2000\n')
    const run = payments(['batch', list, '--watch'], env)
    await run.waitForOutput(/0 of 2 have ended/)
    const atWork = workAfterAnswers(service)
    expect(await run.ended, run.err()).toBe(exit.done)
    await atWork.stop()
    expect(run.err()).toContain('[--------------------] 0 of 2 have ended: 2 processing')
    expect(run.err()).toContain('[####################] 2 of 2 have ended:')
    expect(run.out()).toMatch(
      /^row 2 {2}Achieng Otieno {2}\*{8}0911 {5}KES 10\.00 {2}succeeded: \w+\nrow 4 {2}Baraka {10}\*{8}0001 {2}KES 2,000\.00 {2}failed: .+\nrents \(pba_\w+\): 2 payments, KES 2,010\.00 in all, completed\. 2 of 2 have ended: /,
    )
  })

  test('deposit says where to pay in, and ends when the money has arrived', async () => {
    const env = await withKey({ permissions: ['topup.create', 'topup.read'] })
    const run = payments(['deposit', '--wait'], env)
    const [, account = ''] = await run.waitForOutput(/account number: (\S+)/)
    await registerAtEmulator(service.deps)
    await fetch(`${service.sandboxUrl}/control/deposits`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ reference: account, amount_minor: '50000' }),
    })
    const settle = async () => {
      while (run.out() === '') {
        await service.settle()
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    await Promise.race([settle(), run.ended])
    expect(await run.ended, run.err()).toBe(exit.done)
    const topup = JSON.parse(run.out())
    expect(topup).toMatchObject({ status: 'succeeded', received_minor: '50000' })
    expect(run.err()).toMatch(new RegExp(`\nKES 500.00, succeeded: ${topup.provider_receipt}\n$`))
  })

  test('events --follow prints each event as a line, until it is stopped', async () => {
    const run = payments(['events', '--follow'], await withKey())
    await run.waitForOutput(/listening/)
    await person.api.patch('/v1/workspaces/current', { name: 'Renamed' })
    await run.waitForOutput(/workspace\.updated/)
    run.kill()
    await run.ended
    const lines = run
      .out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toEqual([expect.objectContaining({ type: 'workspace.updated', id: expect.stringMatching(/^evt_/) })])
  })

  test('events --follow goes on over connections that break and a service that does not answer, and misses nothing', async () => {
    const proxy = await startFaultyProxy(service.api.url)
    const run = payments(['events', '--follow'], { ...(await withKey()), PAYMENTS_URL: proxy.url })
    await run.waitForOutput(/listening/)
    proxy.cutStreams()
    for (const fault of ['lost', 'lost'] as const) proxy.faults.push({ kind: fault })
    proxy.faults.push({ kind: 'answer', status: 503 })
    await person.api.patch('/v1/workspaces/current', { name: 'While it was away' })
    await run.waitForOutput(/reconnecting/)
    await run.waitForOutput(/While it was away/)
    await person.api.patch('/v1/workspaces/current', { name: 'When it was back' })
    await run.waitForOutput(/When it was back/)
    run.kill()
    await run.ended
    await proxy.close()
    expect(run.out().match(/workspace\.updated/g)).toHaveLength(2)
  })

  test('a payee is named by its name: a part of one is not enough without a person, and one of several is never chosen', async () => {
    const env = await withKey()
    for (const destination of ['0722000701', '0722000702'])
      await newBeneficiary(person.api, { display_name: 'Amani Twins', destination })
    await newBeneficiary(person.api, { display_name: 'Zuhura Stores', destination: '0722000703' })
    const tried = async (...args: string[]) => {
      const run = payments(args, env)
      return [await run.ended, run.out() + run.err()] as const
    }
    const [code, paid] = await tried('pay', 'zuhura stores', '12.00')
    expect([code, paid]).toEqual([exit.done, expect.stringContaining('KES 12.00 to Zuhura Stores (****0703)')])
    expect(await tried('simulate', 'Zuhura', '12.00')).toEqual([exit.usage, expect.stringMatching(/give the whole name or ben_/)])
    expect(await tried('pay', 'Amani Twins', '12.00')).toEqual([
      exit.usage,
      expect.stringMatching(/2 payees match[\s\S]*\*{4}0701[\s\S]*/),
    ])
    for (const destination of ['0722000704', '+254722000704'])
      await newBeneficiary(person.api, { display_name: 'Baraka Again', destination })
    expect(await tried('pay', 'Baraka Again', '12.00')).toEqual([
      exit.done,
      expect.stringContaining('KES 12.00 to Baraka Again (****0704)'),
    ])
    expect(await tried('pay', 'Nobody Here', '12.00')).toEqual([
      exit.usage,
      expect.stringContaining('No payee is called "Nobody Here"'),
    ])
    expect(await tried('payees', 'archive', 'Zuhura Stores')).toEqual([exit.done, expect.stringContaining('archived')])
  })

  test('an unknown command, a file that is not there and a service that does not answer are named', async () => {
    expect(await outcomeOf(['foo'])).toEqual([exit.usage, 'Unknown command "foo". "payments help" lists the commands.\n'])
    const dead = 'http://127.0.0.1:9'
    const env = { ...(await withKey()), PAYMENTS_URL: dead }
    expect(await outcomeOf(['batch', 'nope.csv'], env)).toEqual([
      exit.usage,
      'Cannot read the file nope.csv: no such file or directory.\n',
    ])
    expect(await outcomeOf(['balance'], env)).toEqual([exit.failed, expect.stringMatching(`^No answer from ${dead}: .*bad port`)])
    expect(await outcomeOf(['login', '--url', dead])).toEqual([exit.failed, expect.stringContaining(`No answer from ${dead}: `)])
  })

  test('a wrong command line prints the usage and has its own exit status', async () => {
    for (const args of [
      ['pay'],
      ['pay', beneficiary],
      ['pay', beneficiary, '1.00', '--tyop'],
      ['pay', beneficiary, '100'],
      ['listen'],
      ['nonsense'],
      ['constructor'],
      // Options that would be ignored.
      ['refusals', '--status', 'denied'],
      ['payments', '--limit', 'many'],
      ['payment', 'pay_1', '--key', 'an order'],
      ['statement', '--csv', '--json'],
      ['batch', 'list.csv', '--key', 'an order', '--period', '2026-03'],
      ['keys', 'revoke', 'key_1', '--overlap', '60'],
      ['payees', 'constructor'],
      ['completion', 'bash', 'zsh'],
    ]) {
      const run = payments(args, { PAYMENTS_API_KEY: 'none' })
      expect([await run.ended, run.err().length > 0], args.join(' ')).toEqual([exit.usage, true])
    }
  })
})

describe('payments listen', () => {
  type Delivery = { headers: IncomingHttpHeaders; body: string }
  const startReceiver = async (statuses: number[]) => {
    const got: Delivery[] = []
    const watchers = new Set<() => void>()
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request.setEncoding('utf8')) body += chunk
      got.push({ headers: request.headers, body })
      response.writeHead(statuses.shift() ?? 204).end()
      for (const watcher of watchers) watcher()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const until = (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => got.length >= count && resolve()
        watchers.add(look)
        look()
      })
    return { got, until, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, close: () => server.close() }
  }

  test('posts every event with a signature that a Standard Webhooks library accepts, and posts it again if it was not accepted', async () => {
    const receiver = await startReceiver([500, 204, 204])
    try {
      const secret = `whsec_${Buffer.from('a secret of the test, long enough').toString('base64')}`
      const run = payments(['listen', '--forward', receiver.url, '--secret', secret], await withKey())
      await run.waitForOutput(/listening/)
      await person.api.patch('/v1/workspaces/current', { name: 'Once' })
      await person.api.patch('/v1/workspaces/current', { name: 'Twice' })
      await receiver.until(3)
      const webhook = new Webhook(secret)
      const bodies = receiver.got.map(({ body, headers }) => webhook.verify(body, headers as Record<string, string>))
      expect(bodies).toMatchObject([
        { type: 'workspace.updated', data: { name: 'Once' } },
        { type: 'workspace.updated', data: { name: 'Once' } },
        { type: 'workspace.updated', data: { name: 'Twice' } },
      ])
      const ids = receiver.got.map(({ headers }) => headers['webhook-id'])
      expect(ids[0]).toBe(ids[1])
      expect(ids[2]).not.toBe(ids[1])
    } finally {
      receiver.close()
    }
  })

  test('with a state it goes on after a restart where it was, with the same secret, and passes no event that was not accepted', async () => {
    const state = join(folder, 'listen.json')
    const env = await withKey()
    const first = await startReceiver([204])
    const args = (url: string) => ['listen', '--forward', url, '--state', state, '--events', 'workspace.*']
    const run = payments(args(first.url), env)
    await run.waitForOutput(/listening/)
    await person.api.patch('/v1/workspaces/current', { name: 'Before' })
    await run.waitForOutput(/workspace\.updated .*→ 204/)
    run.kill()
    await run.ended
    first.close()
    // No listener runs: events that were requested, and others.
    await person.api.patch('/v1/workspaces/current', { name: 'Missed' })
    await newBeneficiary(person.api)
    const second = await startReceiver([500, 500, 500, 500, 500, 500, 204, 204])
    try {
      const again = payments(args(second.url), env)
      await again.waitForOutput(/is not accepted: 500/)
      await person.api.patch('/v1/workspaces/current', { name: 'Later' })
      await second.until(8)
      const webhook = new Webhook(JSON.parse(await readFile(state, 'utf8')).secret)
      for (const { body, headers } of [...first.got, ...second.got]) webhook.verify(body, headers as Record<string, string>)
      expect(second.got.map(({ body }) => JSON.parse(body).data.name)).toEqual([...Array(7).fill('Missed'), 'Later'])
      expect((await stat(state)).mode & 0o777).toBe(0o600)
    } finally {
      second.close()
    }
  })

  test('with a state it also passes what happened before its first event, while it was stopped', async () => {
    const owner = await signIn(service.api)
    const { key } = await createKey(owner, { permissions: ['beneficiary.read'] })
    const receiver = await startReceiver([])
    const args = ['listen', '--forward', receiver.url, '--state', join(folder, 'first.json')]
    const run = payments(args, { PAYMENTS_API_KEY: key })
    await run.waitForOutput(/listening/)
    run.kill()
    await run.ended
    const ids = [await newBeneficiary(owner.api), await newBeneficiary(owner.api)]
    payments(args, { PAYMENTS_API_KEY: key })
    await receiver.until(2)
    receiver.close()
    expect(receiver.got.map(({ body }) => JSON.parse(body).data.id)).toEqual(ids)
  })

  test('keeps a refused event for replay, and delivers the others in order over moves, slowness and outages', async () => {
    const owner = await signIn(service.api)
    const { key } = await createKey(owner, { permissions: ['beneficiary.read'] })
    const names: string[] = []
    const answers = { refuses: true, moved: false, slow: Promise.resolve() }
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request.setEncoding('utf8')) body += chunk
      if (answers.moved) return response.writeHead(308, { location: 'http://127.0.0.1:9/hook' }).end()
      const { display_name: name } = JSON.parse(body).data
      if (name === 'Slow') await answers.slow
      if (name.startsWith('Poison') && answers.refuses) return response.writeHead(422).end()
      names.push(name)
      return response.writeHead(204).end()
    })
    const open = (port = 0) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    await open()
    const { port } = server.address() as AddressInfo
    const state = join(folder, 'one.json')
    const args = ['listen', '--forward', `http://127.0.0.1:${port}/hook`, '--state', state, '--events', 'beneficiary.*']
    const env = { PAYMENTS_API_KEY: key }
    const run = payments([...args, '--tries', '2', '--health', '0'], env)
    const waitForDelivered = (count: number) => run.waitForOutput(new RegExp(`(→ 204[\\s\\S]*){${count}}`))
    const health = await run.waitForOutput(/http:\/\/127\.0\.0\.1:\d+/)
    const read = async (path: string) => {
      const answer = await fetch(`${health[0]}${path}`)
      return { status: answer.status, text: await answer.text() }
    }
    try {
      await run.waitForOutput(/listening/)
      const poison = await newBeneficiary(owner.api, { display_name: 'Poison' })
      await newBeneficiary(owner.api, { display_name: 'Fine' })
      await owner.api.patch(`/v1/beneficiaries/${poison}`, { display_name: 'Cured' })
      await run.waitForOutput(/beneficiary\.created +evt_\w+ is not accepted: 422 \(1 of 2 tries\)/)
      const [, event] = await run.waitForOutput(/beneficiary\.created +(evt_\w+) → 422: not delivered after 2 tries/)
      await run.waitForOutput(/beneficiary\.updated +evt_\w+ → 204/)
      expect(names).toEqual(['Fine', 'Cured'])
      const kept = JSON.parse(await readFile(`${state}.undelivered`, 'utf8'))
      expect(kept).toMatchObject({ event: { id: event }, status: '422', tries: 2 })
      expect((await stat(`${state}.undelivered`)).mode & 0o777).toBe(0o600)
      expect(await read('/healthz')).toMatchObject({ status: 200, text: expect.stringContaining('"undelivered":1') })
      expect((await read('/metrics')).text).toMatch(/^payments_listen_delivered_total 2$/m)

      answers.moved = true
      await newBeneficiary(owner.api, { display_name: 'While moved' })
      await run.waitForOutput(/is not accepted: 308 \(moved to http:\/\/127\.0\.0\.1:9\/hook: forward there instead\)/)
      answers.moved = false
      await waitForDelivered(3)

      const slow = Promise.withResolvers<void>()
      answers.slow = slow.promise
      await newBeneficiary(owner.api, { display_name: 'Slow' })
      await newBeneficiary(owner.api, { display_name: 'Meanwhile' })
      await waitForDelivered(4)
      expect(names.at(-1)).toBe('Meanwhile')
      slow.resolve()
      await waitForDelivered(5)

      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await newBeneficiary(owner.api, { display_name: 'While away' })
      await run.waitForOutput(/is not accepted: fetch failed/)
      await open(port)
      await waitForDelivered(6)
      expect(names).toEqual(['Fine', 'Cured', 'While moved', 'Meanwhile', 'Slow', 'While away'])
      run.kill()
      expect(await run.ended).toBe(exit.done)

      const again = payments([...args, '--replay'], env)
      expect(await again.ended).toBe(exit.undelivered)
      answers.refuses = false
      expect(await payments([...args, '--replay'], env).ended).toBe(exit.done)
      expect(names.at(-1)).toBe('Poison')
      expect(await payments([...args, '--replay'], env).ended).toBe(exit.done)
      await owner.api.delete(`/v1/accounts/me/api-keys/${(await owner.api.get('/v1/accounts/me/api-keys')).body.data[0].id}`)
      expect(await payments(args, env).ended).toBe(exit.failed)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
