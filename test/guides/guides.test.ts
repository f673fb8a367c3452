import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { guideNames } from '../../scripts/docs/guides.ts'
import { parseId } from '../../src/lib/ids.ts'
import { nextSteps } from '../../src/mcp/tool.ts'
import { registerAtEmulator } from '../../src/modules/deposits/registration.ts'
import { type FaultyProxy, startFaultyProxy } from '../client/faulty-proxy.ts'
import { pythons } from '../client/pythons.ts'
import { runtimes } from '../client/runtimes.ts'
import { look, workAfterAnswers } from '../harness/at-work.ts'
import { createTestClock } from '../harness/clock.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { authorizationIdOf, decide } from '../harness/oauth.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { compiledOnce } from '../harness/programs.ts'
import { openService, type TestService } from '../harness/service.ts'
import { guides, guidesFolder, type Language, patternOf, type Snippet, snippets, written } from './snippets.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'guides-'))
/** A reader of a new approval waits for the first check of its payee's name, as in a real process. That check runs meanwhile. */
const openAtWork = async () => {
  const atWork: { settle?: () => Promise<void> } = {}
  const clock = { ...createTestClock(), sleep: async () => atWork.settle?.() }
  const opened = await openService({ clock })
  atWork.settle = opened.settle
  return opened
}
const service = await openAtWork()
await registerAtEmulator(service.deps)
// A reader's installation: the client by the quickstart's first line, and the packages of the guides for wallets and MCP.
writeFileSync(join(folder, 'package.json'), '{}')
const install = ['install', '--no-audit', '--no-fund', `${service.api.url}/client.tgz`]
await promisify(execFile)('npm', install, { cwd: folder })
for (const name of ['viem', '@modelcontextprotocol'])
  symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
const paymentsPy = await (await fetch(`${service.api.url}/payments.py`)).text()

type Looks = () => Promise<void>
/** The people beside the programs handle waiting requests after each answer of a service. */
const withPeople = (of: TestService) => {
  const looks = new Set<Looks>()
  const work = workAfterAnswers(of, async () => {
    await Promise.all([...looks].map((act) => act()))
  })
  return { ...work, looks }
}
const people = withPeople(service)
afterAll(async () => {
  await people.stop()
  rmSync(folder, { recursive: true, force: true })
})

const python = pythons.length > 0

/** Node 20 if it is here, because the guides promise that it is enough for their JavaScript. */
const oldestNode = runtimes.find(({ runtime }) => runtime === 'Node 20')?.command ?? process.execPath

const programs: Readonly<Record<Language, { command: string; args: string[]; file: string; before: string }>> = {
  sh: { command: 'bash', args: [], file: 'program.sh', before: 'set -euo pipefail\n' },
  ts: { command: process.execPath, args: [], file: 'program.mts', before: '' },
  js: { command: oldestNode, args: [], file: 'program.mjs', before: '' },
  python: { command: 'python3', args: ['-u'], file: 'program.py', before: '' },
}

type Answer = 'approve' | 'reject' | 'expire'

/**
 * The person beside the program. Decides pending requests in the dashboard or lets them expire. Follows an address that the
 * program asks to open, and pays in under a printed account number.
 */
const personOf = (person: Person, of: TestService, output: () => string, answer: Answer): Looks => {
  const done = new Set<string>()
  const once = (name: string | undefined): name is string => {
    if (name === undefined || done.has(name)) return false
    done.add(name)
    return true
  }
  const open = async () => {
    const [, path] = /^Open \S+?(\/v1\/oauth\/authorize\?\S+)$/m.exec(output()) ?? []
    if (!once(path)) return
    const id = authorizationIdOf(await person.api.get(path))
    await fetch((await decide(person, id)).body.redirect_to)
  }
  const payIn = async () => {
    const [, reference] = /account number (\S+)$/m.exec(output()) ?? []
    if (!once(reference)) return
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ reference, amount_minor: '500000' })
    await fetch(`${of.sandboxUrl}/control/deposits`, { method: 'POST', headers, body })
  }
  const decideAll = async () => {
    // The session has ended with the days that passed.
    if (done.has('expired')) return
    const { data } = (await person.api.get('/v1/approvals?status=pending', { headers: look })).body
    for (const { id } of data) {
      if (!once(id)) continue
      if (answer !== 'expire') await person.api.post(`/v1/approvals/${id}/decide`, { decision: answer })
      else if (once('expired')) {
        of.clock.advance(80 * 3600)
        await of.deps.jobs.sweep()
      }
    }
  }
  return async () => {
    await decideAll()
    await open()
    await payIn()
  }
}

/** A few at a time: programs mostly wait, but an overloaded service refuses requests. */
let free = 8
const queued: (() => void)[] = []
const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
  if (free > 0) free -= 1
  else await new Promise<void>((resolve) => queued.push(resolve))
  try {
    return await work()
  } finally {
    const next = queued.shift()
    if (next) next()
    else free += 1
  }
}

const fundedMinor = 10_000_000n

/** The key of the README and the quickstart: it pays new beneficiaries without asking. */
const readmeKey = { new_payees: 'allow' }
/** The same key, with approvals from KES 200.00 on. */
const askingKey = { ...readmeKey, approval_threshold_minor: '20000' }

/** A reader of a guide, with money and the guide's key. */
const newReader = async (spending_controls: object, of = service): Promise<{ person: Person; key: string }> => {
  const person = await signIn(of.api)
  await credit(of, person.accountId, fundedMinor)
  await newBeneficiary(person.api, { display_name: 'Wanjiru Kamau' })
  const { key } = await createKey(person, { spending_controls })
  return { person, key }
}

/** A guide's program in its own folder, with the service at `url`. */
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

/** The quickstart's payment, under the reader's key. */
const quickstarted = async (person: Person, key: string): Promise<void> => {
  const [payee] = (await person.api.get('/v1/beneficiaries')).body.data
  const order = { beneficiary_id: payee.id, amount_minor: '25000', narrative: 'Groceries' }
  expect((await service.api.as({ bearer: key }).post('/v1/payments', order)).status).toBe(201)
}

type Run = {
  before?: typeof quickstarted
  controls?: object
  bearer?: string
  reader?: { person: Person; key: string }
  answer?: Answer
  of?: typeof people & { service: TestService }
}

const run = async (snippet: Snippet, { before, controls = askingKey, bearer, reader, answer = 'approve', of }: Run = {}) => {
  const host = of?.service ?? service
  const { looks, wake } = of ?? people
  const { person, key } = reader ?? (await newReader(controls, host))
  await before?.(person, key)
  const child = start(snippet.language, place(snippet, host.api.url), bearer ?? key)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk
    wake()
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk))
  const looking = personOf(person, host, () => out, answer)
  looks.add(looking)
  const [code_] = await once(child, 'close')
  looks.delete(looking)
  return { code: code_, out: out.replaceAll(host.api.url, written), err }
}

const runnable = snippets.filter(({ language }) => python || language !== 'python')
const named = (chosen: readonly Snippet[]) => chosen.map((snippet) => [snippet.guide, snippet.language, snippet] as const)

describe.concurrent('every program of the guides runs as it is written, and prints what the guide shows', () => {
  test.each(named(runnable))('%s in %s', async (guide, _language, snippet) => {
    const controls = guide === 'README' ? readmeKey : askingKey
    const before = guide === 'mcp' ? quickstarted : undefined
    const { code, out, err } = await inTurn(() => run(snippet, { controls, ...(before && { before }) }))
    expect(code, out + err).toBe(0)
    expect(snippet.printed.length).toBeGreaterThan(0)
    expect(out).toMatch(patternOf(snippet.printed))
  })
})

const withKey = runnable.filter(({ code }) => code.includes('PAYMENTS_API_KEY'))
/** Output that shows a missing field of an answer. */
const absent = /undefined|(?<!:)\bnull\b|\bNone\b|NaN|Traceback|approve\/(\s|$)/m

describe.concurrent('with the key of the README, one reader can run every program of a guide, and each of them again', () => {
  test.each([...Map.groupBy(withKey, ({ guide }) => guide)])('%s', async (_guide, programsOfGuide) => {
    const reader = await newReader(readmeKey)
    for (const snippet of [...programsOfGuide, ...programsOfGuide]) {
      const { code, out, err } = await inTurn(() => run(snippet, { reader }))
      expect(code, snippet.language + out + err).toBe(0)
      expect(out + err).not.toMatch(absent)
      // Nothing waits for a person, so the guide's lines about an approval are not printed.
      const shown = snippet.printed.filter((line) => !/approv/.test(line) || /allow/.test(line))
      expect(out).toMatch(patternOf(shown.filter((line) => !/ask_a_person|A person decides/.test(line))))
    }
  })
})

describe.concurrent('with a key that is not known, every program ends and prints the sentence', () => {
  test.each(named(withKey))('%s in %s', async (_guide, _language, snippet) => {
    const { out, err } = await inTurn(() => run(snippet, { bearer: `service_live_${'0'.repeat(64)}` }))
    expect(out + err).toContain('The API key is not known.')
    expect(out + err).not.toMatch(/TypeError|KeyError/)
  })
})

const waiting = withKey.filter(
  ({ code, printed }) => /wait|while/.test(code) && printed.some((line) => /\/approve\/|pending_approval/.test(line)),
)

describe.concurrent('every program that waits for a person ends when the person rejects it, and says so', () => {
  test.each(named(waiting))('%s in %s', async (_guide, _language, snippet) => {
    const { code, out, err } = await inTurn(() => run(snippet, { answer: 'reject' }))
    expect([code, out + err]).toEqual([0, expect.stringMatching(/rejected|stop/)])
    expect(out + err).not.toMatch(absent)
  })
})

describe('every program that waits for a person ends when nobody decides in time, and says so', async () => {
  const other = await openAtWork()
  const of = { ...withPeople(other), service: other }
  afterAll(() => of.stop())
  test.each(named(waiting))('%s in %s', async (_guide, _language, snippet) => {
    const { code, out, err } = await run(snippet, { answer: 'expire', of })
    expect([code, out + err]).toEqual([0, expect.stringMatching(/expired|stop/)])
    expect(out + err).not.toMatch(absent)
  })
})

describe.concurrent('the payroll of the guide, killed in the middle and run again', () => {
  const payroll = snippets.find(({ guide, language }) => guide === 'salaries' && language === 'ts')
  if (!payroll) throw new Error('the guide has no payroll')

  /** Runs it until it has sent this many requests, and kills it. Without a number, runs it to its end. */
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
    const { person, key } = await newReader(askingKey)
    const folderOfIt = place(payroll, proxy.url)
    proxy.faults.push(...Array.from({ length: requests - 1 }, () => ({ kind: 'none' }) as const), fault)
    const killed = await inTurn(() => runUntil(folderOfIt, key, proxy, requests))
    expect(killed.code).toBe(null)
    const looking = personOf(person, service, () => '', 'approve')
    people.looks.add(looking)
    const again = await inTurn(() => runUntil(folderOfIt, key, proxy))
    people.looks.delete(looking)
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
    // Uses the provider's own count.
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

test('every guide with TypeScript says how to run it, as a file that a test runs', () => {
  for (const { guide } of snippets.filter(({ language }) => language === 'ts'))
    expect(readFileSync(join(guidesFolder, `${guide}.md`), 'utf8'), guide).toContain(
      `as \`${programs.ts.file}\` and [run it](quickstart.md#javascript-and-typescript) with \`npx tsx ${programs.ts.file}\`.\n\n\`\`\`ts\n`,
    )
})

test('the quickstart and the guides for agents have programs in curl, JavaScript or TypeScript, and Python', () => {
  for (const guide of ['quickstart', 'agents', 'idempotency', 'errors', 'permissions', 'key-rotation', 'sandbox', 'events'])
    expect(
      new Set(snippets.filter((snippet) => snippet.guide === guide).map(({ language }) => (language === 'js' ? 'ts' : language))),
      guide,
    ).toEqual(new Set(['python', 'sh', 'ts']))
})

/** TypeScript's sentence about a built-in that its target lacks. */
const tooNew = 'Do you need to change your target library?'

test('the TypeScript of the guides compiles with the client’s types, and no program needs a built-in newer than Node 20', async () => {
  // Below `folder`, where the client is installed as a reader has it.
  const typed = mkdtempSync(join(folder, 'types-'))
  writeFileSync(join(typed, 'package.json'), '{"type": "module"}')
  const files = snippets
    .filter(({ language }) => language === 'ts' || language === 'js')
    .map(({ guide, language, code }) => {
      const file = join(typed, `${guide}.${language}`)
      writeFileSync(file, code)
      return file
    })
  const options = [
    ...['--noEmit', '--singleThreaded', '--allowJs', '--checkJs', '--strict', '--skipLibCheck', '--module', 'nodenext'],
    // The edition that Node 20 has whole.
    ...['--target', 'es2023', '--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')],
  ]
  const tsc = join(root, 'node_modules', '.bin', 'tsc')
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [tsc, ...options, ...files], { cwd: typed }).catch(
    (error: { stdout: string; stderr: string }) => error,
  )
  expect(stderr).toBe('')
  // JavaScript has no type annotations, so only its built-ins are checked.
  const problems = stdout.split('\n').filter((line) => !/^ |\.js\(/.test(line) || line.includes(tooNew))
  expect(problems.join('\n')).toBe('')
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
    const skill = await service.api.get('/skill.md')
    expect(links).toContain(`${service.api.url}/skill.md`)
    expect(skill.text).toMatch(/^---\nname: [a-z-]+\ndescription: .+\n---\n/)
    expect([...skill.text.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name).sort()).toEqual(nextSteps.toSorted())
    const full = await service.api.get('/llms-full.txt')
    for (const name of guideNames) expect(full.text, name).toContain((await service.api.get(`/docs/guides/${name}.md`)).text)
  })
})
