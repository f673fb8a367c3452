import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { startFaultyProxy } from './faulty-proxy.ts'

const run = promisify(execFile)
const source = fileURLToPath(new URL('../../client/python/payments.py', import.meta.url))
const python = (() => {
  try {
    execFileSync('python3', ['--version'])
    return true
  } catch {
    console.warn('There is no python3 here: payments.py is NOT run.')
    return false
  }
})()
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

/** What a program prints that begins with a client of the proxy, which may break connections. */
const runPython = async (name: string, program: string, key?: string): Promise<string[]> => {
  const head =
    'import os, random\nfrom payments import *\nclient = Payments(os.environ["PAYMENTS_URL"], os.environ["PAYMENTS_API_KEY"])\n'
  await writeFile(join(folder, name), head + program)
  const apiKey = key ?? (await createKey(person)).key
  const { stdout } = await run('python3', [name], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', PAYMENTS_URL: proxy.url, PAYMENTS_API_KEY: apiKey },
  })
  return stdout.trimEnd().split('\n')
}

test('the service serves the file that people copy, and its types hold from Python 3.9 on', async () => {
  expect(await readFile(join(folder, 'payments.py'), 'utf8')).toBe(await readFile(source, 'utf8'))
  const pyright = fileURLToPath(new URL('../../node_modules/pyright/index.js', import.meta.url))
  const { stdout } = await run(process.execPath, [pyright, '--pythonversion', '3.9', source])
  expect(stdout).toMatch(/^0 errors, 0 warnings/m)
})

describe.skipIf(!python)('payments.py', () => {
  test('pays once though its connection breaks before and after the service acts', async () => {
    const beneficiary = await newBeneficiary(person.api)
    proxy.faults.push({ kind: 'lost' }, { kind: 'answer lost' }, { kind: 'answer cut' })
    const printed = await runPython(
      'pay.py',
      `payment = client.post("/v1/payments", {"beneficiary_id": "${beneficiary}", "amount_minor": "2500"}, key="order-1")
print(payment["status"])
print(client.post("/v1/payments", {"beneficiary_id": "${beneficiary}", "amount_minor": "2500"}, key="order-1")["id"] == payment["id"])
print(len([p for p in client.items("/v1/payments", {"beneficiary_id": "${beneficiary}", "limit": 1})]))`,
    )
    expect(printed).toEqual(['processing', 'True', '1'])
  })

  test('reads every page of a list', async () => {
    const beneficiary = await newBeneficiary(person.api)
    const printed = await runPython(
      'pages.py',
      `made = {client.post("/v1/payments", {"beneficiary_id": "${beneficiary}", "amount_minor": str(1000 + 100 * n)})["id"] for n in range(5)}
print(made == {p["id"] for p in client.items("/v1/payments", {"beneficiary_id": "${beneficiary}", "limit": 2})})`,
    )
    expect(printed).toEqual(['True'])
  })

  test('a refusal has its code, its details and the request’s id; it is not sent again', async () => {
    const before = proxy.seen.length
    const printed = await runPython(
      'refused.py',
      `try:
    client.post("/v1/payments", {"beneficiary_id": "ben_1", "amount_minor": 250})
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
    client.post("/v1/payments", {"beneficiary_id": "ben_1", "amount_minor": "250"}, key="order-2")
except NoAnswer as error:
    print(error.key)`,
    )
    expect(printed).toEqual(['order-2'])
  })

  test('follows events over a broken stream, each once and in order, and resumes where it was told', async () => {
    const beneficiary = await newBeneficiary(person.api)
    const { key } = await createKey(person)
    const printed = await runPython(
      'events.py',
      `newest = client.get("/v1/notifications", {"limit": 1})["data"][0]["id"]
for amount in ("1100", "1200"):
    client.post("/v1/payments", {"beneficiary_id": "${beneficiary}", "amount_minor": amount})
random.random = lambda: 0.0
seen = []
for event in client.events(after=newest):
    if event["type"] == "payment.created":
        seen.append(event["data"]["amount_minor"])
    if len(seen) == 2:
        break
print(seen)`,
      key,
    )
    expect(printed).toEqual(["['1100', '1200']"])
  })
})
