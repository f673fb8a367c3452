import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { batch } from '../../client/src/cli/batch.ts'
import type { Json } from '../harness/client.ts'
import { credit } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { type ListFile, listFiles } from './list-files.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
const folder = await mkdtemp(join(tmpdir(), 'lists-'))
afterAll(async () => {
  await rm(folder, { recursive: true })
  expect(await findBreaches(service)).toEqual([])
})

const paidAs = (items: Json[]) =>
  items.map(({ display_name, destination_mask, amount_minor }) => [display_name, destination_mask.slice(-4), amount_minor])

/** The command line's output about a file: for programs, and for people. */
const commandLine = async (person: Person, { bytes, contentType }: ListFile) => {
  const path = join(folder, `${person.accountId}.csv`)
  await writeFile(path, bytes)
  const { key } = await createKey(person)
  const charset = /charset="?([^"]+)/i.exec(contentType)?.[1]
  const said: string[] = []
  let out = ''
  const terminal = {
    args: [path, '--dry-run', '--json', ...(charset === undefined ? [] : ['--charset', charset])],
    env: { PAYMENTS_API_KEY: key, PAYMENTS_URL: service.api.url },
    out: (text: string) => {
      out += text
    },
    say: (line: string) => said.push(line),
    progress: () => undefined,
    signal: new AbortController().signal,
  }
  await batch(terminal).catch((error: Error) => said.push(error.message))
  return { items: out === '' ? [] : JSON.parse(out).items, said: said.join('\n') }
}

test.each(listFiles)('as people send it: $name', async (file) => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  const { items, said } = await commandLine(person, file)
  const answer = await person.api.post('/v1/payment-batches', undefined, {
    raw: file.bytes,
    headers: { 'content-type': file.contentType },
  })
  const paid = (await person.api.get('/v1/payments')).body.data.reverse()
  if ('pays' in file) {
    expect([answer.status, answer.body.message]).toEqual([201, undefined])
    expect([said, paidAs(items)]).toEqual(['', file.pays])
    expect(paidAs(paid.map(({ beneficiary, amount_minor }: Json) => ({ ...beneficiary, amount_minor })))).toEqual(file.pays)
    return
  }
  expect(paid).toEqual([])
  if ('says' in file) {
    expect([answer.status, answer.body.message]).toEqual([file.status, expect.stringContaining(file.says)])
    expect(said).toContain(file.says)
    return
  }
  expect(answer.status).toBe(400)
  expect(answer.body.details.items.map(({ row, param, message }: Json) => [row, param, message])).toEqual(
    file.rows.map(([row, param, says]) => [row, param, expect.stringContaining(says)]),
  )
  for (const [row, , says] of file.rows) {
    expect(said).toMatch(new RegExp(`^rows? (?:.*\\D)?${row}\\b`, 'm'))
    // If a message begins with the cell, the cell stands beside the row.
    expect(said).toContain(says.replace(/^"[^"]*" /, ''))
  }
})

test('columns that say nothing about whom or how much are left out with one warning that names them, and a payment keeps its reference', async () => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  const list = 'Payment Type,Name,Phone,Branch Code,Amount,Reference\r\nEFT,Achieng,0722000123,000,900,SAL-E001\r\n'
  const send = (query: string, text = list) =>
    person.api.post(`/v1/payment-batches${query}`, undefined, { raw: Buffer.from(text), headers: { 'content-type': 'text/csv' } })
  const { warnings } = (await send('?dry_run=true')).body
  expect(warnings).toEqual([
    { code: 'columns_ignored', message: expect.stringMatching(/left out: Payment Type, Branch Code\.$/) },
  ])
  expect(
    (await send('?dry_run=true', list.replaceAll(/^\w[\w ]+,/gm, '').replace('Branch Code', 'metadata.x'))).body.warnings,
  ).toEqual([])
  // Limits are by payment type, so a possible type of ours is not ignored.
  expect((await send('?dry_run=true', list.replace('EFT', 'Bonus'))).status).toBe(400)
  const made = await send('')
  expect([made.status, made.body.warnings]).toEqual([201, warnings])
  expect((await person.api.get('/v1/payments')).body.data).toMatchObject([{ account_reference: 'SAL-E001' }])
})

test('no error repeats a phone or account number, in whichever column it is', async () => {
  const person = await signIn(service.api)
  const account = '722000999'
  const answers = await Promise.all(
    [
      'Name,Phone,Amount\r\nAchieng,2.54722000999E+11,900\r\n',
      'Name,Phone,Amount\r\nAchieng,254722000999\uFFFD,900\r\n',
      'Name,Phone,Amount\r\nAchieng,900,0722-000-999\r\n',
      'Name,Bank,Account,Amount\r\nAchieng,0110 722000999,01,900\r\n',
      'Name,Bank,Bank code,Account,Amount\r\nAchieng,Equity,110722000999,01,900\r\n',
      'Name,Phone,Amount,Currency\r\nAchieng,0722000101,900,0722000999\r\n',
      'Achieng,0722000999,900\r\nBaraka,0722000999,900\r\n',
      'Name,Phone,Amount\r\nAchieng,0722000101,900\r\nTotal,,0722000999\r\n',
    ].map((text) =>
      person.api.post('/v1/payment-batches', undefined, { raw: Buffer.from(text), headers: { 'content-type': 'text/csv' } }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400))
  for (const { body } of answers) expect(JSON.stringify(body).replaceAll('-', '')).not.toContain(account)
})
