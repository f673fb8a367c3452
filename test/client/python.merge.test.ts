import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Payments } from '#client'
import { workAfterAnswers } from '../harness/at-work.ts'
import type { Json } from '../harness/client.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { startFaultyProxy } from './faulty-proxy.ts'
import { pythons } from './pythons.ts'

const run = promisify(execFile)
const source = fileURLToPath(new URL('../../client/python/payments.py', import.meta.url))
const service = await openService()
const proxy = await startFaultyProxy(service.api.url)
const person = await signIn(service.api)
await fund(service, person, 1_000_000n)
const folder = await mkdtemp(join(tmpdir(), 'payments-python-'))
await writeFile(join(folder, 'payments.py'), await (await fetch(`${service.api.url}/payments.py`)).text())
afterAll(async () => {
  await proxy.close()
  await rm(folder, { recursive: true, force: true })
})

/** The output of a program that begins with a client of the proxy, which may break connections. */
const runPython = async (
  name: string,
  program: string,
  { key, command = 'python3' }: { key?: string; command?: string } = {},
) => {
  const head =
    'import os, random\nfrom payments import *\nclient = Payments(os.environ["PAYMENTS_URL"], os.environ["PAYMENTS_API_KEY"])\n'
  await writeFile(join(folder, name), head + program)
  const apiKey = key ?? (await createKey(person)).key
  const { stdout } = await run(command, [name], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', PAYMENTS_URL: proxy.url, PAYMENTS_API_KEY: apiKey },
  })
  return stdout.trimEnd().split('\n')
}

const typed = [
  'from payments import Payments',
  'client = Payments("http://localhost:3000", "service_live_")',
  'payment = client.payments.create({"beneficiary_id": "ben_1", "amount_minor": "2500", "narrative": "Eggs"})',
  'print(payment["status"].upper(), [p["id"] for p in client.payments.list()], client.topups.wait_for("top_1")["received_minor"])',
]
const mistyped = [
  'client.payments.create({"beneficiary_id": "ben_1", "amount_minor": 2500})',
  'client.payments.create({"beneficiary_id": "ben_1", "amount": "25.00"})',
  'client.payments.pay({"beneficiary_id": "ben_1", "amount_minor": "2500"})',
  'print(payment["state"])',
]
const samples = Object.values<Json>((await service.api.get('/openapi.json')).body.paths).flatMap((item) =>
  Object.values<Json>(item).flatMap((operation) =>
    operation['x-codeSamples'].flatMap(({ label, source: text }: Json) => (label === 'Python' ? [text] : [])),
  ),
)

const pyright = fileURLToPath(new URL('../../node_modules/pyright/index.js', import.meta.url))
/** The lines of each file with an error or a warning. Checks all files at once: loading Python's types is most of a check. */
const found = new Map<string, number[]>()
beforeAll(async () => {
  const files = {
    'typed.py': [...typed, ...mistyped],
    'samples.py': ['base_url = api_key = "x"', ...samples],
    'wrong_sample.py': [samples[0].replace('client.call(', 'client.get(')],
    'pyrightconfig.json': ['{ "extraPaths": ["."], "pythonVersion": "3.9" }'],
  }
  for (const [name, lines] of Object.entries(files)) await writeFile(join(folder, name), lines.join('\n'))
  const { stdout } = await run(process.execPath, [pyright, '--outputjson', '--project', folder], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  )
  const { generalDiagnostics, summary }: Json = JSON.parse(stdout)
  expect(summary.filesAnalyzed).toBe(4)
  for (const { file, range } of generalDiagnostics)
    found.set(basename(file), [...(found.get(basename(file)) ?? []), range.start.line + 1])
})

test('the service serves the file that people copy, and its types hold from Python 3.9 on', async () => {
  expect(await readFile(join(folder, 'payments.py'), 'utf8')).toBe(await readFile(source, 'utf8'))
  expect(found.get('payments.py')).toBeUndefined()
})

test('an editor finds a wrong field, a wrong type and a misspelt method', () => {
  const lines = new Set(found.get('typed.py'))
  expect([...lines]).toEqual(mistyped.map((_, index) => typed.length + index + 1))
})

test('every Python sample of the API document is a call that the file has', () => {
  expect(samples.length).toBeGreaterThan(100)
  expect(found.get('samples.py')).toBeUndefined()
  expect(found.get('wrong_sample.py')).toBeDefined()
})

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
/** The calls of an integration's main journeys: top up, add a payee, pay, wait, list, follow events, pay a batch. */
const journeys = [
  'apiKeys',
  'beneficiaries',
  'payments',
  'batches',
  'topups',
  'notifications',
  'credentials',
  'workspaces',
] as const

describe.skipIf(pythons.length === 0)('payments.py', () => {
  test('has the methods of the TypeScript client', async () => {
    const client = new Payments({ baseUrl: service.api.url })
    const expected = journeys.map((name) => `${snake(name)} ${Object.keys(client[name]).map(snake).sort().join(' ')}`)
    const printed = await runPython(
      'surface.py',
      `for name in ${JSON.stringify(journeys.map(snake))}:
    print(name, *sorted(m for m in dir(getattr(client, name)) if not m.startswith("_")))`,
    )
    expect(printed).toEqual(expected)
  })

  test.each(pythons)(
    'tops up, adds a payee, pays, waits, lists, follows events and pays a list on Python $version',
    async ({ command, version }) => {
      const owner = await signIn(service.api)
      const { key } = await createKey(owner, { spending_controls: { new_payees: 'allow' } })
      const atWork = workAfterAnswers(service)
      const printed = await runPython(
        `journey-${version}.py`,
        `topup = client.topups.initiate({"amount_minor": "100000", "phone_number": "0712345678"})
print(client.topups.wait_for(topup["id"])["status"])
payee = client.beneficiaries.create({
    "type": "person", "display_name": "Wanjiru Kamau", "payment_rail": "MPESA_B2C", "destination": "0722000111"})
print(client.payments.simulate({"beneficiary_id": payee["id"], "amount_minor": "2500"})["outcome"])
payment = client.payments.create(
    {"beneficiary_id": payee["id"], "amount_minor": "2500", "metadata": {"order": "17"}}, idempotency_key="order-17")
for event in client.events(last_event_id=client.notifications.list().page()["data"][-1]["id"], types=["payment.*"]):
    if event["type"] == "payment.succeeded":
        print(event["data"]["id"] == payment["id"])
        break
print(client.payments.wait_for(payment["id"])["status"])
print([one["id"] for one in client.payments.list({"metadata": {"order": "17"}})] == [payment["id"]])
print(len(client.payments.csv({"status": ["succeeded", "failed"]}).splitlines()))
people = "name,phone,amount\\nAchieng,0722000222,12.00\\nOtieno,0722000333,13.00\\n"
print(client.batches.check_csv(people)["items_count"])
batch = client.batches.from_csv(people, {"name": "March"}, idempotency_key="march")
print(client.batches.wait_for(batch["id"])["counts"])
print(client.account.get()["balance"]["available_minor"], client.credentials.current()["permissions"] != [])
made = client.api_keys.create({"name": "Reader", "permissions": ["payment.read"]})
print(client.api_keys.revoke(made["id"])["status"])`,
        { key, command },
      ).finally(atWork.stop)
      expect(printed).toEqual([
        'succeeded',
        'allow',
        'True',
        'succeeded',
        'True',
        '2',
        '2',
        "{'succeeded': 2}",
        '95000 True',
        'revoked',
      ])
    },
  )

  test('pays once though its connection breaks before and after the service acts', async () => {
    const beneficiary = await newBeneficiary(person.api)
    proxy.faults.push({ kind: 'lost' }, { kind: 'answer lost' }, { kind: 'answer cut' })
    const printed = await runPython(
      'pay.py',
      `payment = client.payments.create({"beneficiary_id": "${beneficiary}", "amount_minor": "2500"}, "order-1")
print(payment["status"])
print(client.payments.create({"beneficiary_id": "${beneficiary}", "amount_minor": "2500"}, "order-1")["id"] == payment["id"])
print(len([p for p in client.payments.list({"beneficiary_id": "${beneficiary}", "limit": 1})]))`,
    )
    expect(printed).toEqual(['processing', 'True', '1'])
  })

  test('reads every page of a list', async () => {
    const beneficiary = await newBeneficiary(person.api)
    const printed = await runPython(
      'pages.py',
      `made = {client.payments.create({"beneficiary_id": "${beneficiary}", "amount_minor": str(1000 + 100 * n)})["id"] for n in range(5)}
print(made == {p["id"] for p in client.payments.list({"beneficiary_id": "${beneficiary}", "limit": 2})})`,
    )
    expect(printed).toEqual(['True'])
  })

  test('a refusal has its code, its details and the request’s id; it is not sent again', async () => {
    const before = proxy.seen.length
    const printed = await runPython(
      'refused.py',
      `try:
    client.payments.create({"beneficiary_id": "ben_1", "amount_minor": 250})
except PaymentsError as error:
    print(error.status, error.code, error.details["fields"][0]["path"], error.request_id is not None)`,
    )
    expect(printed).toEqual(['400 invalid_request beneficiary_id True'])
    expect(proxy.seen.length - before).toBe(1)
  })

  test('after the last attempt it says that the outcome is not known, and the key that makes a repeat safe', async () => {
    proxy.faults.push({ kind: 'lost' }, { kind: 'lost' })
    const printed = await runPython(
      'lost.py',
      `client.retries = 1
try:
    client.payments.create({"beneficiary_id": "ben_1", "amount_minor": "250"}, "order-2")
except NoAnswer as error:
    print(error.idempotency_key)`,
    )
    expect(printed).toEqual(['order-2'])
  })

  test('follows events over a broken stream, each once and in order, and resumes where it was told', async () => {
    const beneficiary = await newBeneficiary(person.api)
    const { key } = await createKey(person)
    const printed = await runPython(
      'events.py',
      `newest = client.notifications.list().to_list(1)[0]["id"]
for amount in ("1100", "1200"):
    client.payments.create({"beneficiary_id": "${beneficiary}", "amount_minor": amount})
random.random = lambda: 0.0
seen = []
for event in client.events(newest):
    if event["type"] == "payment.created":
        seen.append(event["data"]["amount_minor"])
    if len(seen) == 2:
        break
print(seen)`,
      { key },
    )
    expect(printed).toEqual(["['1100', '1200']"])
  })

  test('follows events over a connection that breaks before its first event, or after the reset alone, and misses none', async () => {
    const { key } = await createKey(await signIn(service.api), { permissions: ['beneficiary.read', 'beneficiary.manage'] })
    // A connection breaks inside its first event, the first time that this event comes.
    const broken = new Set<string | undefined>()
    let silent = false
    proxy.rewrite((block) => {
      if (block.startsWith('retry:')) silent = false
      if (silent) return ''
      const [name] = /(?<="display_name":")\w+/.exec(block) ?? []
      if (name === undefined || name === 'Two' || broken.has(name)) return block
      broken.add(name)
      silent = true
      setImmediate(proxy.cutStreams)
      return block.slice(0, -20)
    })
    const printed = await runPython(
      'gaps.py',
      `random.random = lambda: 0.0
def add(name):
    client.beneficiaries.create({
        "type": "person", "display_name": name, "payment_rail": "MPESA_B2C", "destination": "0722000111"})
names = ["One", "Two"]
def on_open():
    while names:
        add(names.pop(0))
for event in client.events(on_open=on_open):
    print(event["data"]["display_name"])
    if event["data"]["display_name"] == "Two":
        break
for event in client.events("evt_01h455vb4pex5vsknk084sn02q"):
    if event["id"] is None:
        add("Three")
        continue
    print(event["data"]["display_name"])
    break`,
      { key },
    ).finally(() => proxy.rewrite(undefined))
    expect(printed).toEqual(['One', 'Two', 'Three'])
  })

  test('says that an answer without JSON is no answer', async () => {
    proxy.faults.push({ kind: 'answer', status: 200, body: '<html>Sign in to this network</html>' })
    const printed = await runPython(
      'page.py',
      `client.retries = 0
try:
    client.account.get()
except NoAnswer as error:
    print("no answer")`,
    )
    expect(printed).toEqual(['no answer'])
  })
})
