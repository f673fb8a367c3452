import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { guideNames } from '../../src/http/guides.ts'
import { parseId } from '../../src/lib/ids.ts'
import { registerAtEmulator } from '../../src/modules/topups/deposits/register.ts'
import { type FaultyProxy, startFaultyProxy } from '../client/faulty-proxy.ts'
import { createTestClock } from '../harness/clock.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { authorizationIdOf, decide } from '../harness/oauth.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { compiledOnce } from '../harness/programs.ts'
import { openService } from '../harness/service.ts'
import { guides, type Language, patternOf, type Snippet, snippets, written } from './snippets.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'guides-'))
const done = new AbortController()
// Readers of a new approval wait for the first check of its payee's name, as in a real process.
const clock = { ...createTestClock(), sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)) }
const service = await openService({ clock })
await registerAtEmulator(service.deps)
// A reader's installation: the client by the first line of the quickstart, and what the guides for wallets and MCP name.
writeFileSync(join(folder, 'package.json'), '{}')
const install = ['install', '--no-audit', '--no-fund', `${service.api.url}/client.tgz`]
await promisify(execFile)('npm', install, { cwd: folder })
for (const name of ['viem', '@modelcontextprotocol'])
  symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
const paymentsPy = await (await fetch(`${service.api.url}/payments.py`)).text()
const work = async () => {
  while (!done.signal.aborted) {
    await service.settle()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
const providers = work()
afterAll(async () => {
  done.abort()
  await providers
  rmSync(folder, { recursive: true, force: true })
})

const python = (() => {
  try {
    execFileSync('python3', ['--version'])
    return true
  } catch {
    console.warn('There is no python3 here: the Python of the guides is NOT tested.')
    return false
  }
})()

const programs: Readonly<Record<Language, { command: string; args: string[]; file: string; before: string }>> = {
  sh: { command: 'bash', args: [], file: 'program.sh', before: 'set -euo pipefail\n' },
  ts: { command: process.execPath, args: [], file: 'program.ts', before: '' },
  js: { command: process.execPath, args: [], file: 'program.mjs', before: '' },
  python: { command: 'python3', args: ['-u'], file: 'program.py', before: '' },
}

/**
 * The person beside the program: when it has printed something, approves what is waiting in the dashboard, follows an address that it is asked
 * to open, and pays in under an account number that it is told.
 */
const startPerson = (person: Person, output: () => string) => {
  let acted = ''
  const stop = new AbortController()
  const opened = new Set<string>()
  const open = async () => {
    const [, path] = /^Open \S+?(\/v1\/oauth\/authorize\?\S+)$/m.exec(output()) ?? []
    if (path === undefined || opened.has(path)) return
    opened.add(path)
    const id = authorizationIdOf(await person.api.get(path))
    await fetch((await decide(person, id)).body.redirect_to)
  }
  let paid = false
  const payIn = async () => {
    const [, reference] = /account number (\S+)$/m.exec(output()) ?? []
    if (reference === undefined || paid) return
    paid = true
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ reference, amount_minor: '500000' })
    await fetch(`${service.sandboxUrl}/control/deposits`, { method: 'POST', headers, body })
  }
  const act = async () => {
    for (let looks = 0; !stop.signal.aborted; looks += 1) {
      // Most approvals are printed with their address; once a second the test looks for those that are not.
      if (output() !== '' && (output() !== acted || looks % 10 === 0)) {
        acted = output()
        const { data } = (await person.api.get('/v1/approvals?status=pending')).body
        for (const { id } of data) await person.api.post(`/v1/approvals/${id}/decide`, { decision: 'approve' })
        await open()
        await payIn()
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const ended = act()
  return () => {
    stop.abort()
    return ended
  }
}

/** A few at a time: they mostly wait, but an overloaded service refuses requests. */
let free = 8
const waiting: (() => void)[] = []
const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
  if (free > 0) free -= 1
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }
}

const fundedMinor = 10_000_000n

/** A reader of a guide: with money, and the key that the guide creates. */
const newReader = async (guide: string): Promise<{ person: Person; key: string }> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, fundedMinor)
  await newBeneficiary(person.api, { display_name: 'Wanjiru Kamau' })
  // The guides create a key that pays new beneficiaries without asking, and needs approval from KES 200.00 on; the README's has no threshold.
  const threshold = guide === 'README' ? {} : { approval_threshold_minor: '20000' }
  const { key } = await createKey(person, { spending_controls: { new_payees: 'allow', ...threshold } })
  return { person, key }
}

/** A guide's program in a folder of its own, which finds the service at `url`. */
const place = ({ guide, language, code }: Snippet, url = service.api.url): string => {
  const { file, before } = programs[language]
  const folderOfIt = mkdtempSync(join(folder, `${guide}-${language}-`))
  writeFileSync(join(folderOfIt, file), before + code.replaceAll(written, url))
  if (language === 'python') writeFileSync(join(folderOfIt, 'payments.py'), paymentsPy)
  return folderOfIt
}

const start = (language: Language, place: string, key: string) => {
  const { command, args, file } = programs[language]
  return spawn(command, [...args, join(place, file)], {
    cwd: place,
    env: { PATH: process.env.PATH ?? '', PAYMENTS_API_KEY: key, NODE_NO_WARNINGS: '1', ...compiledOnce },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

const run = async (snippet: Snippet) => {
  const { person, key } = await newReader(snippet.guide)
  const child = start(snippet.language, place(snippet), key)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk))
  const leave = startPerson(person, () => out)
  const [code_] = await once(child, 'close')
  await leave()
  return { code: code_, out: out.replaceAll(service.api.url, written), err }
}

describe.concurrent('every program of the guides runs as it is written, and prints what the guide shows', () => {
  const runnable = snippets.filter(({ language }) => python || language !== 'python')
  test.each(runnable.map((snippet) => [snippet.guide, snippet.language, snippet] as const))(
    '%s in %s',
    async (_guide, _language, snippet) => {
      const { code, out, err } = await inTurn(() => run(snippet))
      expect(code, out + err).toBe(0)
      expect(snippet.printed.length).toBeGreaterThan(0)
      expect(out).toMatch(patternOf(snippet.printed))
    },
  )
})

describe.concurrent('the payroll of the guide, killed in the middle and run again', () => {
  const payroll = snippets.find(({ guide, language }) => guide === 'salaries' && language === 'ts')
  if (!payroll) throw new Error('the guide has no payroll')

  /** Runs it until it has sent this many requests, and kills it; without a number until it ends. */
  const runUntil = async (folderOfIt: string, key: string, proxy: FaultyProxy, requests?: number) => {
    const child = start('ts', folderOfIt, key)
    let out = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        out += chunk
      })
    const closed = once(child, 'close')
    if (requests !== undefined) await expect.poll(() => proxy.seen.length, { interval: 2 }).toBeGreaterThanOrEqual(requests)
    if (requests !== undefined) child.kill('SIGKILL')
    const [code] = await closed
    return { code, out }
  }

  test.each([
    ['before the list has been checked', 1, { kind: 'lost' }],
    ['before the service has its list', 2, { kind: 'lost' }],
    ['when the service has created the payments, and the answer is lost', 2, { kind: 'answer lost' }],
    ['while it waits for the approval and the end', 3, { kind: 'none' }],
    ['when it has waited for a while', 5, { kind: 'none' }],
  ] as const)('%s: every person is paid once', async (_when, requests, fault) => {
    const proxy = await startFaultyProxy(service.api.url)
    const { person, key } = await newReader('salaries')
    const folderOfIt = place(payroll, proxy.url)
    proxy.faults.push(...Array.from({ length: requests - 1 }, () => ({ kind: 'none' }) as const), fault)
    const killed = await inTurn(() => runUntil(folderOfIt, key, proxy, requests))
    expect(killed.code).toBe(null)
    const leave = startPerson(person, () => 'it runs')
    const again = await inTurn(() => runUntil(folderOfIt, key, proxy))
    await leave()
    await proxy.close()
    expect(again.code, again.out).toBe(0)
    expect(again.out).toMatch(/^completed /m)

    const batches = (await person.api.get('/v1/payment-batches')).body.data
    expect(batches.map(({ counts }: { counts: unknown }) => counts)).toEqual([{ succeeded: 2, failed: 1 }])
    expect((await person.api.get('/v1/payments')).body.data).toHaveLength(3)
    const paid = 45_000n + 38_000n
    expect((await person.api.get('/v1/accounts/me')).body.balance).toMatchObject({
      available_minor: (fundedMinor - paid).toString(),
      held_minor: '0',
    })
    // By the provider's own count.
    const orders = await service.deps.db.query<{ reference: string }>(
      'select a.reference from rail_attempts a join payments p on p.id = a.subject_id where p.batch_id = $1',
      [parseId('payment_batch', batches[0].id)],
    )
    const ours = new Set(orders.map(({ reference }) => reference))
    expect(orders).toHaveLength(3)
    const moved = service.sandbox.movements().filter(({ key, reference }) => ours.has(key) || ours.has(reference))
    expect(moved.map(({ amountMinor }) => amountMinor).sort()).toEqual([38_000n, 45_000n])
  })
})

test('the quickstart and the guides for agents have programs in curl, JavaScript or TypeScript, and Python', () => {
  for (const guide of ['quickstart', 'agents', 'idempotency', 'errors', 'permissions', 'key-rotation', 'sandbox', 'events'])
    expect(
      snippets
        .filter((snippet) => snippet.guide === guide)
        .map(({ language }) => (language === 'js' ? 'ts' : language))
        .toSorted(),
      guide,
    ).toEqual(['python', 'sh', 'ts'])
})

test('the TypeScript of the guides compiles with the client’s types', async () => {
  const typed = mkdtempSync(join(tmpdir(), 'guides-types-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(typed, 'node_modules'))
    for (const { guide, language, code } of snippets) if (language === 'ts') writeFileSync(join(typed, `${guide}.ts`), code)
    const options = [
      '--noEmit',
      '--singleThreaded',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--types',
      'node',
    ]
    writeFileSync(join(typed, 'package.json'), '{"type": "module"}')
    const files = snippets.filter(({ language }) => language === 'ts').map(({ guide }) => join(typed, `${guide}.ts`))
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const output = await promisify(execFile)(process.execPath, [tsc, ...options, '--allowImportingTsExtensions', ...files], {
      cwd: typed,
    }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    )
    expect(output).toBe('')
  } finally {
    rmSync(typed, { recursive: true, force: true })
  }
})

describe('the service serves them', () => {
  const page = (path: string) => service.api.get(path, { headers: { accept: 'text/html' } })

  test('as pages with its own address, without scripts, each with links to all others', async () => {
    expect([...guideNames].toSorted()).toEqual(guides)
    for (const name of guideNames) {
      const answer = await page(`/docs/guides/${name}`)
      expect([answer.status, answer.headers.get('content-type')], name).toEqual([200, 'text/html; charset=utf-8'])
      expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
      expect(answer.text).not.toContain(written)
      expect(answer.text).toContain('<a href="/docs/guides/quickstart"')
      for (const [, href = ''] of answer.text.matchAll(/href="((?!https?:|#)[^"]+)"/g)) {
        const target = new URL(href, `${service.api.url}/docs/guides/${name}`)
        expect((await page(target.pathname)).status, `${name} → ${href}`).toBe(200)
      }
    }
  })

  test('as Markdown for a client that does not request HTML, and at its name with .md', async () => {
    for (const answer of [await service.api.get('/docs/guides/quickstart'), await page('/docs/guides/quickstart.md')]) {
      expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
      expect(answer.text).toMatch(/^# Quickstart/)
      expect(answer.text).toContain(service.api.url)
    }
    expect((await service.api.get('/docs/guides/nonsense')).status).toBe(404)
    expect((await service.api.get('/docs/guides/..%2f..%2fpackage.json')).status).toBe(404)
  })

  test('as llms.txt, which has no dead links, and as one text', async () => {
    const index = await service.api.get('/llms.txt')
    expect(index.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const links = [...index.text.matchAll(/\]\((\S+?)\)/g)].map(([, href = '']) => href)
    expect(links.length).toBeGreaterThan(guides.length)
    for (const href of links.filter((link) => !link.endsWith('/mcp'))) expect((await fetch(href)).status, href).toBe(200)
    const full = await service.api.get('/llms-full.txt')
    for (const name of guideNames) expect(full.text, name).toContain((await service.api.get(`/docs/guides/${name}.md`)).text)
  })
})
