import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
let person: Person
let beneficiary: string
beforeAll(async () => {
  service = await startService()
  person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  beneficiary = await newBeneficiary(person.api)
  await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100000' })
})
afterAll(() => service.close())

const script = fileURLToPath(new URL('../../docs/verify-receipt.mjs', import.meta.url))

const verify = (receipt: Json): Promise<{ code: number | null; output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, '-'])
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    child.once('error', reject).once('close', (code) => resolve({ code, output }))
    child.stdin.end(JSON.stringify(receipt))
  })

const approvedBySignature = async (): Promise<Json> => {
  const payment = (await person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '150000' })).body
  const { message } = (await service.api.get(`/v1/approvals/${payment.approval_id}/message`)).body
  const signature = await person.wallet.signMessage({ message })
  await service.api.post(`/v1/approvals/${payment.approval_id}/decide-by-signature`, { decision: 'approve', signature })
  return (await person.api.get(`/v1/payments/${payment.id}/receipt`)).body
}

test('a receipt binds request, policies as they were, signatures and transfers, and verifies offline', async () => {
  const receipt = await approvedBySignature()
  expect(receipt).toMatchObject({
    type: 'payment_receipt',
    payment: { amount_minor: '150000', decision: { outcome: 'require_approval' } },
    policies: [{ version: 1, document: { name: 'Ask', approval_threshold_minor: '100000' } }],
    approval: { status: 'approved', decisions: [{ via: 'signature', signer: person.wallet.address }] },
    ledger_transfers: [{ kind: 'pending', debit: 'customer', credit: 'rail_clearing', amount_minor: '150000' }],
  })
  const { code, output } = await verify(receipt)
  expect([code, output.trim().split('\n').at(-1)]).toEqual([0, 'The receipt holds.'])
})

test.each([
  ['the amount', (receipt: Json) => (receipt.payment.amount_minor = '999900')],
  ['the signer', (receipt: Json) => (receipt.approval.decisions[0].signer = '0x0000000000000000000000000000000000000001')],
  ['a policy', (receipt: Json) => (receipt.policies[0].document.approval_threshold_minor = '1')],
  ['a transfer', (receipt: Json) => receipt.ledger_transfers.pop()],
])('altering %s afterwards is found', async (_what, alter) => {
  const receipt = await approvedBySignature()
  alter(receipt)
  expect((await verify(receipt)).code).toBe(1)
})

test('401 without a credential, 403 without payment.read, 404 for another tenant', async () => {
  const { payment } = await approvedBySignature()
  const path = `/v1/payments/${payment.id}/receipt`
  expect((await service.api.get(path)).status).toBe(401)
  expect((await (await createKey(person, { permissions: ['payment.create'] })).api.get(path)).status).toBe(403)
  expect((await (await signIn(service.api)).api.get(path)).status).toBe(404)
})
