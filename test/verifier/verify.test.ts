import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createReceiptKeys } from '../../src/auth/receipt-keys.ts'
import { canonicalJson } from '../../src/lib/canonical.ts'
import { parseId } from '../../src/lib/ids.ts'
import { parseKeyRing } from '../../src/lib/key-ring.ts'
import { holds, readJson, verifyReceipt } from '../../verifier/main.ts'
import type { Json } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { approveByPasskey, kinds, newPayer, receiptOf } from './receipts.ts'

let service: TestService
let person: Person
let keys: Json[]
const receipts = new Map<string, Json>()
beforeAll(async () => {
  service = await startService()
  person = await newPayer(service)
  const beneficiary = await newBeneficiary(person.api, { display_name: 'Wanjiru Kamau' })
  for (const [kind, act] of Object.entries(kinds)) {
    const id = await act(service, person, beneficiary)
    receipts.set(kind, await receiptOf(service, person, id))
  }
  keys = (await service.api.get('/.well-known/jwks.json')).body.keys
})
afterAll(() => service.close())

const receipt = (kind: string): Json => structuredClone(receipts.get(kind))
const issuer = () => service.deps.config.publicUrl
const check = (document: unknown) => verifyReceipt(document, { keys, issuer: issuer() })
const said = async (document: unknown) =>
  (await check(document)).filter(({ result }) => result === 'bad').map(({ check: name }) => name)

/** Signed as by the service: only the service itself could forge it. */
const resigned = async ({ jws: _, ...document }: Json): Promise<Json> => {
  const ring = service.deps.config.RECEIPT_KEYS
  if (!ring) throw new Error('a service has receipt keys')
  return { ...document, jws: await createReceiptKeys(ring).sign(canonicalJson(document), 'payment-receipt') }
}

describe.each(Object.keys(kinds))('a receipt of a payment that was %s', (kind) => {
  test('holds, with its decision computed again, its signature, and every audit row proven in the sealed log', async () => {
    const findings = await check(receipt(kind))
    expect(findings.filter(({ result }) => result === 'bad')).toEqual([])
    const checked = findings.filter(({ result }) => result === 'ok').map(({ check: name }) => name)
    expect(checked).toEqual(
      expect.arrayContaining([
        'signature',
        'issuer',
        'payee',
        'policies',
        'decision',
        'approvals',
        'ledger',
        'head of the log',
        'sealed log',
      ]),
    )
  })
})

test('a receipt in which an object has a name twice is refused, whichever of the two was signed', () => {
  const [[, document] = []] = receipts
  const text = JSON.stringify(document)
  expect(readJson(text, 'it')).toEqual(document)
  for (const name of ['payment', 'amount_minor', 'jws']) {
    const twice = text.replace(`"${name}":`, `"${name}":"1","${name}":`)
    expect(() => readJson(twice, 'The receipt')).toThrow(`The receipt gives "${name}" more than once`)
  }
})

/** Every place in a document: its path and its value. */
const placesIn = (value: unknown, way: (string | number)[] = []): { way: (string | number)[]; value: unknown }[] => {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const here = way.length > 0 ? [{ way, value }] : []
  return [...here, ...inner.flatMap(([name, one]) => placesIn(one, [...way, Array.isArray(value) ? Number(name) : name]))]
}
const parentOf = (document: Json, way: (string | number)[]): Json =>
  way.slice(0, -1).reduce((at: Json, step) => at[step], document)
const another = (value: unknown): unknown => {
  if (typeof value === 'string') return /^\d+$/.test(value) ? `${BigInt(value) + 1n}` : `${value}x`
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  return value === null ? 'something' : null
}

const named = (way: (string | number)[]) => way.join('.')

/** Each place once, in the first kind that has it: a signature covers all places alike. */
const placesByKind = () => {
  const seen = new Set<string>()
  return Object.keys(kinds).map((kind) => {
    const places = placesIn(receipt(kind)).filter(({ way }) => !seen.has(named(way)))
    for (const { way } of places) seen.add(named(way))
    return { kind, places }
  })
}

test('no receipt holds with any one field changed, removed, added, or taken from another receipt', async () => {
  const found = placesByKind()
  expect(found.flatMap(({ places }) => places).length).toBeGreaterThan(400)
  const survivors: string[] = []
  for (const { kind, places } of found) {
    const other = receipt(kind === 'approved by a wallet' ? 'approved with a session' : 'approved by a wallet')
    const theirs = new Map(placesIn(other).map(({ way, value }) => [named(way), value]))
    // Hundreds of forgeries: a copy from a text costs half as much.
    const text = JSON.stringify(receipt(kind))
    const canonical = canonicalJson(receipt(kind))
    const tried = async (name: string, way: (string | number)[], alter: (parent: Json, last: string | number) => void) => {
      const forged: Json = JSON.parse(text)
      alter(parentOf(forged, way), way.at(-1) ?? '')
      if (canonicalJson(forged) === canonical) return
      if (holds(await check(forged))) survivors.push(`${kind}: ${name} ${named(way)}`)
    }
    for (const { way, value } of places) {
      await tried('changed', way, (parent, last) => (parent[last] = another(value)))
      await tried('removed', way, (parent, last) =>
        Array.isArray(parent) ? parent.splice(Number(last), 1) : delete parent[last],
      )
      await tried(
        'added',
        way,
        (parent) => void (Array.isArray(parent) ? parent.push('more') : Object.assign(parent, { more: 'more' })),
      )
      if (theirs.has(named(way))) await tried('swapped', way, (parent, last) => (parent[last] = theirs.get(named(way))))
    }
  }
  expect(survivors).toEqual([])
})

test('a row of the log that was changed after a receipt had shown it is in no receipt that holds', async () => {
  const { id } = receipt('allowed for a person').payment
  const { db } = service.deps
  const change = (from: string, to: string) =>
    db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica')
      await tx.query(`update audit_log set action = $3 where action = $2 and subject_id = $1`, [parseId('payment', id), from, to])
    })
  await change('payment.create', 'payment.cancel')
  try {
    expect(await said(await receiptOf(service, person, id))).toContain('sealed log')
  } finally {
    await change('payment.cancel', 'payment.create')
  }
  expect(await said(await receiptOf(service, person, id))).toEqual([])
})

test('the forgery that a digest alone did not find: another amount and another payee', async () => {
  const forged = receipt('allowed for a person')
  forged.payment.amount_minor = '24000000'
  forged.beneficiary.display_name = 'Somebody Else'
  for (const transfer of forged.ledger_transfers) transfer.amount_minor = '24000000'
  expect(await said(forged)).toEqual(['signature'])
})

test('a receipt says what its payment is for, and does not hold with another purpose', async () => {
  const beneficiary_id = await newBeneficiary(person.api, { destination: '254722000477' })
  const paid = await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '1500', purpose_code: 'SALA' })
  const issued = await receiptOf(service, person, paid.body.id)
  expect(issued.payment).toMatchObject({ status: 'succeeded', purpose_code: 'SALA' })
  expect(await said(issued)).toEqual([])
  issued.payment.purpose_code = 'RENT'
  expect(await said(issued)).toEqual(['signature'])
})

test('a forger’s own key does not help, under its own name or ours', async () => {
  const forger = (id: string) => createReceiptKeys(parseKeyRing(`${id}:${Buffer.alloc(32, 7).toString('base64')}`))
  for (const id of ['mine', keys[0].kid]) {
    const { jws: _, ...document } = receipt('allowed for a person')
    document.payment.amount_minor = '1'
    const jws = await forger(id).sign(canonicalJson(document), 'payment-receipt')
    expect(await said({ ...document, jws })).toEqual(['signature'])
  }
})

test('a signature over another kind of document, by another algorithm, or at a time when its key was not in use does not count', async () => {
  const { audit, jws } = receipt('allowed for a person')
  expect(await said({ ...receipt('allowed for a person'), jws: audit.head.jws })).toEqual(['signature'])
  const [, , signature] = jws.split('.')
  // The last letter has unused bits.
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = letters[letters.indexOf(jws.at(-1) ?? '') ^ 1]
  expect(await said({ ...receipt('allowed for a person'), jws: jws.slice(0, -1) + last })).toEqual(['signature'])
  const none = Buffer.from(JSON.stringify({ alg: 'none', kid: keys[0].kid, typ: 'payment-receipt' })).toString('base64url')
  expect(await said({ ...receipt('allowed for a person'), jws: `${none}..${signature}` })).toEqual(['signature'])
  const day = 86_400
  const retired = keys.map((key) => ({ ...key, exp: key.iat - day }))
  const [finding] = await verifyReceipt(receipt('allowed for a person'), { keys: retired, issuer: issuer() })
  expect(finding).toMatchObject({ check: 'signature', result: 'bad', says: expect.stringContaining('was retired before') })
  const younger = keys.map((key) => ({ ...key, iat: key.iat + day }))
  expect((await verifyReceipt(receipt('allowed for a person'), { keys: younger }))[0]).toMatchObject({ result: 'bad' })
})

test('another issuer’s receipt is not ours', async () => {
  const findings = await verifyReceipt(receipt('allowed for a person'), { keys, issuer: 'https://payments.example' })
  expect(findings.find(({ check: name }) => name === 'issuer')).toMatchObject({ result: 'bad' })
})

test('a receipt of a version whose policies had fewer fields, and which put a rule into other words, holds', async () => {
  const document = receipt('approved by a wallet')
  const [policy] = document.policies
  expect(policy.document.payee_verification).toBeNull()
  delete policy.document.payee_verification
  document.payment.decision.explanation = 'It needs an approval.'
  expect(await said(await resigned(document))).toEqual([])
})

describe('what even the service cannot sign without being found', () => {
  const amount = (document: Json, minor: string) => {
    document.payment.amount_minor = minor
    for (const transfer of document.ledger_transfers) transfer.amount_minor = minor
  }
  const alterClientData = (document: Json, alter: (client: Json) => void) => {
    const { passkey } = document.approval.decisions[0]
    const client = JSON.parse(Buffer.from(passkey.client_data, 'base64url').toString())
    alter(client)
    passkey.client_data = Buffer.from(JSON.stringify(client)).toString('base64url')
  }
  const alterBytes = (holder: Json, name: string, index: number, value: number) => {
    const bytes = Buffer.from(holder[name], 'base64url')
    bytes[index] = value
    holder[name] = bytes.toString('base64url')
  }
  const forgeries: readonly (readonly [string, string, string, (document: Json) => void])[] = [
    ['another amount', 'allowed for a person', 'decision', (document) => amount(document, '99900')],
    [
      'a decision without its outcome',
      'approved by a wallet',
      'decision',
      (document) => delete document.payment.decision.outcome,
    ],
    [
      'a rule without its outcome',
      'approved by a wallet',
      'decision',
      (document) => delete document.payment.decision.trace[0].outcome,
    ],
    ['a milder outcome', 'approved by a wallet', 'decision', (document) => (document.payment.decision.outcome = 'allow')],
    [
      'a policy’s other limit',
      'approved by a wallet',
      'decision',
      (document) => (document.policies[0].document.approval_threshold_minor = '1'),
    ],
    [
      'less usage than was read',
      'allowed for a key within its limits',
      'decision',
      (document) => (document.decision_inputs.grants[0].usage.dayMinor = { minor: '7' }),
    ],
    [
      'a grant that was not in its lineage',
      'allowed for a key within its limits',
      'decision',
      (document) => document.decision_inputs.grants.pop(),
    ],
    [
      'another initiator',
      'allowed for a person',
      'decision',
      (document) => (document.payment.initiated_by.account_id = 'acc_01h455vb4pex5vsknk084sn02q'),
    ],
    ['a policy left out', 'approved by a wallet', 'policies', (document) => document.policies.pop()],
    [
      'another signer',
      'approved by a wallet',
      `signature of`,
      (document) => (document.approval.decisions[0].signer = '0x0000000000000000000000000000000000000001'),
    ],
    [
      'a text that was not signed',
      'approved by a wallet',
      'signature of',
      (document) => (document.approval.decisions[0].message += ' '),
    ],
    [
      'a text that the passkey did not sign',
      'approved by a passkey',
      'signature of',
      (document) => {
        document.approval.messages.approve += ' '
        document.approval.decisions[0].message += ' '
      },
    ],
    [
      'another passkey',
      'approved by a passkey',
      'signature of',
      (document) => (document.approval.decisions[0].passkey.public_key.x = document.approval.decisions[0].passkey.public_key.y),
    ],
    [
      'a page of another site',
      'approved by a passkey',
      'signature of',
      (document) => alterClientData(document, (client) => (client.origin = 'https://evil.example')),
    ],
    [
      'an authenticator that did not verify its user',
      'approved by a passkey',
      'signature of',
      (document) => alterBytes(document.approval.decisions[0].passkey, 'authenticator_data', 32, 0x01),
    ],
    [
      'a passkey for another site',
      'approved by a passkey',
      'signature of',
      (document) => alterBytes(document.approval.decisions[0].passkey, 'authenticator_data', 0, 0),
    ],
    [
      'a passkey’s decision as one without a signature',
      'approved by a passkey',
      'decision of',
      (document) => (document.approval.decisions[0].via = 'credential'),
    ],
    [
      'an unsigned approval where signatures were asked for',
      'approved with a session',
      'approvals',
      (document) => (document.approval.approval_proof = 'signature'),
    ],
    ['an approval that is not there', 'approved with a session', 'approvals', (document) => document.approval.decisions.pop()],
    [
      'a voided approval',
      'approved by a wallet',
      'approvals',
      (document) => (document.approval.decisions[0].voided_at = document.issued_at),
    ],
    [
      'a void decision on an earlier text as the second of two',
      'signed by a wallet, and by two after the registered name had renewed the text',
      'approvals',
      (document) => document.approval.decisions.pop(),
    ],
    [
      'a decision on an earlier text that counts again',
      'signed by a wallet, and by two after the registered name had renewed the text',
      'text signed by',
      (document) => (document.approval.decisions[0].voided_at = null),
    ],
    [
      'the mandate’s other terms',
      'approved by a mandate',
      'mandate',
      (document) => (document.mandate.message = document.mandate.message.replace('9,000', '90,000')),
    ],
    [
      'a decision by larger terms than the wallet signed',
      'approved by a mandate',
      'terms of the mandate',
      (document) => (document.decision_inputs.mandate.maxPerPaymentMinor = { minor: '900000' }),
    ],
    [
      'a decision by a mandate for more payees than the wallet signed',
      'approved by a mandate',
      'terms of the mandate',
      (document) => (document.decision_inputs.mandate.beneficiaryIds = []),
    ],
    [
      'a decision by a mandate whose signature is not shown',
      'approved by a mandate',
      'terms of the mandate',
      (document) => (document.mandate = null),
    ],
    [
      'a decision by another mandate than the one that is shown',
      'approved by a mandate',
      'terms of the mandate',
      (document) => (document.decision_inputs.mandate.id = document.decision_inputs.payment.workspaceId),
    ],
    [
      'a batch’s other root',
      'an item of a batch that a wallet approved',
      'batch',
      (document) => (document.batch.merkle_root = '0'.repeat(64)),
    ],
    [
      'another purpose than that of the approved item',
      'an item of a batch that a wallet approved',
      'batch',
      (document) => (document.payment.purpose_code = 'RENT'),
    ],
    [
      'another payee than that of the approved item',
      'an item of a batch that a wallet approved',
      'batch',
      (document) => (document.payment.beneficiary.display_name = 'Somebody Else'),
    ],
    [
      'an account at the payee that the approved text does not name',
      'approved by a wallet',
      'text signed by',
      (document) => (document.payment.account_reference = 'A-17'),
    ],
    [
      'another item’s leaf',
      'an item of a batch that a wallet approved',
      'batch',
      (document) => (document.batch.leaf = document.batch.leaf.replace('40000', '90000')),
    ],
    ['a transfer left out', 'allowed for a person', 'ledger', (document) => document.ledger_transfers.pop()],
    [
      'an audit row’s other line',
      'allowed for a person',
      'sealed log',
      (document) =>
        (document.audit.rows[0].proof.line = document.audit.rows[0].proof.line.replace('payment.create', 'payment.edited')),
    ],
    [
      'an audit row of another payment',
      'approved by a wallet',
      'sealed log',
      (document) => (document.audit.rows[0] = receipt('allowed for a person').audit.rows[0]),
    ],
    ['another head of the log', 'allowed for a person', 'head of the log', (document) => (document.audit.head.size += 1)],
    [
      'no creation in the log',
      'allowed for a person',
      'sealed log',
      (document) => (document.audit.rows = document.audit.rows.slice(1)),
    ],
  ]
  test.each(forgeries)('%s', async (_what, kind, found, alter) => {
    const document = receipt(kind)
    alter(document)
    expect((await said(await resigned(document))).join()).toContain(found)
  })
})

test('a receipt of any length can be read: its policies may name thousands of beneficiaries', async () => {
  const document = receipt('allowed for a person')
  document.policies[0].document.beneficiary_ids = Array.from({ length: 10_000 }, () => 'ben_01h455vb4pex5vsknk084sn02q')
  expect(await said(document)).toContain('signature')
})

test('a passkey with an RSA key is checked as well', async () => {
  const beneficiary = receipt('allowed for a person').beneficiary.id
  const { body } = await person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '190000' })
  await approveByPasskey(service, person, body.approval_id, { kind: 'RSA', count: 0 })
  const document = await receiptOf(service, person, body.id)
  const findings = await check(document)
  expect(findings.filter(({ result }) => result === 'bad')).toEqual([])
  expect(findings.find(({ check: name }) => name.startsWith('signature of'))).toMatchObject({ result: 'ok' })
  document.approval.decisions[0].passkey.public_key.n = `A${document.approval.decisions[0].passkey.public_key.n.slice(1)}`
  expect((await said(await resigned(document))).join()).toContain('signature of')
})

test('a decision on an earlier text is said to be void', async () => {
  const document = receipt('signed by a wallet, and by two after the registered name had renewed the text')
  expect(document.approval.decisions.map((given: Json) => given.voided_at !== null)).toEqual([true, false, false])
  const texts = (await check(document)).filter(({ check: name }) => name.startsWith('text signed by')).map(({ says }) => says)
  const current = 'it names this payment, amount, destination and these policies'
  expect(texts).toEqual(['void: an earlier text', current, current])
})

test('what was not checked is said', async () => {
  const findings = await verifyReceipt(receipt('approved with a session'), { keys })
  const unchecked = findings.filter(({ result }) => result === 'unchecked').map(({ check: name }) => name)
  expect(unchecked).toEqual(['issuer', expect.stringMatching(/^decision of acc_/)])
})

test('anything else than a receipt is refused, whatever its shape', async () => {
  for (const other of [null, 1, 'text', [], {}, { type: 'payment_receipt' }, { type: 'payment_receipt', version: 2 }])
    expect(holds(await check(other))).toBe(false)
})

describe('the file that the service serves', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'verify-receipt-'))
    const file = await fetch(`${service.api.url}/verify-receipt.mjs`)
    const text = await file.text()
    // The engine, the hashes and one curve. A schema library by accident would double it.
    expect(text.length).toBeLessThan(150_000)
    await writeFile(join(folder, 'verify-receipt.mjs'), text)
    await writeFile(join(folder, 'receipt.json'), JSON.stringify(receipts.get('approved by a wallet')))
    await writeFile(join(folder, 'keys.json'), JSON.stringify({ keys }))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const nodes = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter((path) => existsSync(path))
  const run = (node: string, ...args: string[]): Promise<{ status: number; output: string }> =>
    new Promise((resolve) => {
      execFile(node, ['verify-receipt.mjs', ...args], { cwd: folder, env: {} }, (error, stdout, stderr) =>
        resolve({ status: typeof error?.code === 'number' ? error.code : error ? -1 : 0, output: stdout + stderr }),
      )
    })

  test('verifies a receipt in a bare Node, without this repository, offline or asking the issuer for its keys', async () => {
    for (const node of nodes) {
      const offline = await run(node, 'receipt.json', '--jwks', 'keys.json')
      expect([offline.status, offline.output], offline.output).toEqual([0, expect.stringContaining('The receipt is valid.')])
      const asked = await run(node, 'receipt.json', '--issuer', issuer())
      expect([asked.status, asked.output]).toEqual([0, expect.stringContaining(`issued by ${issuer()}`)])
      for (const { output } of [offline, asked])
        expect(/^\? /m.test(output), output).toBe(output.endsWith('The receipt is valid. Checks marked ? were skipped.\n'))
      expect(asked.output).toMatch(/\nThe receipt is valid\.\n$/)
    }
  })

  test('refuses a forged one with status 1, and says with status 2 when nothing could be checked', async () => {
    const forged = receipt('approved by a wallet')
    forged.payment.amount_minor = '1'
    await writeFile(join(folder, 'forged.json'), JSON.stringify(forged))
    const refused = await run(process.execPath, 'forged.json', '--jwks', 'keys.json')
    expect([refused.status, refused.output]).toEqual([1, expect.stringMatching(/BAD {2}signature[\s\S]*is NOT valid/)])
    const why = async (...args: string[]) => {
      const { status, output } = await run(process.execPath, ...args)
      return [status, output.split('\n')[0]]
    }
    expect(await why('receipt.json')).toEqual([2, 'Name whose keys are trusted, by --issuer or by --jwks.'])
    expect(await why('receipt.json', '--issuer', '--jwks')).toEqual([2, '--issuer has no value.'])
    expect(await why('receipt.json', '--jwks')).toEqual([2, '--jwks has no value.'])
    expect(await why('--jwks', 'keys.json')).toEqual([2, 'No file of a receipt is named.'])
    expect(await why('receipt.json', '--jwks', 'keys.json', '--issuer', issuer())).toEqual([
      2,
      'Name --issuer or --jwks, not both.',
    ])
    expect((await run(process.execPath, 'receipt.json', '--jwks', 'receipt.json')).status).toBe(2)
    await copyFile(join(folder, 'keys.json'), join(folder, 'broken.json'))
    await writeFile(join(folder, 'broken.json'), '{')
    expect((await run(process.execPath, 'broken.json', '--jwks', 'keys.json')).status).toBe(2)
  })
})

test('401 without a credential, 403 without payment.read, 404 for another tenant', async () => {
  const path = `/v1/payments/${receipt('allowed for a person').payment.id}/receipt`
  expect((await service.api.get(path)).status).toBe(401)
  expect((await (await createKey(person, { permissions: ['payment.create'] })).api.get(path)).status).toBe(403)
  expect((await (await signIn(service.api)).api.get(path)).status).toBe(404)
})
