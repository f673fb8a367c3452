import type { Hex } from 'viem'
import { afterAll, expect, test } from 'vitest'
import type { Answer } from '../harness/client.ts'
import { mandateTerms } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { newWallet, sessionCookieOf } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { type Chain, startChain } from '../identity/sign-in/chain.ts'

const chain: Chain = await startChain(1)
const base = await startChain(8453)
const service = await openService({ env: { EVM_RPC_URLS: `1=${chain.url},8453=${base.url}` } })
afterAll(async () => {
  await chain.close()
  await base.close()
})

/** A signature by a contract's owner: no key of the address itself made it. */
const signature: Hex = `0x${'ab'.repeat(80)}`
const path = '/v1/intent-mandates'
/** Silence of the chain does not mean that a signature is wrong. */
const notChecked = [503, 'unavailable', expect.stringContaining('could not be checked'), '1']
const answerOf = async (sent: Promise<Answer>) => {
  const { status, body, headers } = await sent
  return [status, body.error, body.message, headers.get('retry-after')]
}
const accept = (address: string, message: string, on = chain) =>
  on.contracts.set(address.toLowerCase(), { message, signature, deployed: true })

test("a contract wallet creates and revokes a mandate with its chain's confirmation, and cannot without it", async () => {
  const { address } = newWallet()
  const { message } = (await service.api.post('/v1/auth/wallet/nonce', { address, chain_id: 1 })).body
  accept(address, message)
  expect((await service.api.post('/v1/auth/wallet/verify', { message, signature })).status).toBe(200)

  const terms = mandateTerms(service)
  const prepared = (await service.api.post(`${path}/prepare`, { address, terms })).body
  const send = () => service.api.post(path, { address, terms, nonce: prepared.nonce, signature })
  expect((await send()).body.error).toBe('invalid_signature')
  accept(address, prepared.message)
  chain.trouble = 'http_500'
  expect(await answerOf(send())).toEqual(notChecked)
  chain.trouble = 'reverts'
  expect((await send()).body.error).toBe('invalid_signature')
  chain.trouble = 'none'
  const made = await send()
  expect([made.status, made.body.signer]).toEqual([201, `eip155:1:${address}`])
  expect((await send()).text).toBe(made.text)

  const revocation = (await service.api.get(`${path}/${made.body.id}/message`)).body.message
  const revoke = () => service.api.post(`${path}/${made.body.id}/revoke`, { signature, address })
  expect((await revoke()).body.error).toBe('invalid_signature')
  accept(address, revocation)
  chain.trouble = 'error'
  expect(await answerOf(revoke())).toEqual(notChecked)
  chain.trouble = 'none'
  expect((await revoke()).body.status).toBe('revoked')
})

/** Signs in the person who controls the contract at this address on a chain. */
const signInOn = async (address: string, chainId: number, on: Chain) => {
  const { message } = (await service.api.post('/v1/auth/wallet/nonce', { address, chain_id: chainId })).body
  accept(address, message, on)
  const answer = await service.api.post('/v1/auth/wallet/verify', { message, signature })
  return { accountId: answer.body.account.id, api: service.api.as({ cookie: sessionCookieOf(answer.headers) }) }
}

const mandateOn = async (address: string, on: Chain) => {
  const terms = mandateTerms(service)
  const { message, nonce } = (await service.api.post(`${path}/prepare`, { address, terms })).body
  accept(address, message, on)
  return service.api.post(path, { address, terms, nonce, signature })
}

test('a contract at the same address on another chain signs for its own account alone', async () => {
  const { address } = newWallet()
  const [owner, other] = [await signInOn(address, 1, chain), await signInOn(address, 8453, base)]
  expect(other.accountId).not.toBe(owner.accountId)
  base.contracts.delete(address.toLowerCase())
  expect((await mandateOn(address, chain)).body.account_id).toBe(owner.accountId)
  chain.contracts.delete(address.toLowerCase())
  expect((await mandateOn(address, base)).body).toMatchObject({
    account_id: other.accountId,
    signer: `eip155:8453:${address}`,
  })
})

test("a contract wallet's mandate is asked of its chain again by each payment: without an answer a person is asked, and after a change of owners it is refused", async () => {
  const { address } = newWallet()
  const owner = await signInOn(address, 1, chain)
  await credit(service, owner.accountId, 1_000_000n)
  const beneficiary = await newBeneficiary(owner.api)
  await owner.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '10000' })
  const { id, message } = (await mandateOn(address, chain)).body
  const request = { beneficiary_id: beneficiary, amount_minor: '10000', mandate_id: id }
  const pay = async () => (await owner.api.post('/v1/payments', request)).body
  const rulesOf = (decision: { trace: { rule: string; decisive?: boolean }[] }) =>
    decision.trace.flatMap(({ rule, decisive }) => (decisive ? [rule] : []))

  expect((await pay()).status).toBe('processing')
  chain.trouble = 'http_500'
  const asked = await pay()
  expect([asked.status, asked.decision.approvals_by_mandate]).toEqual(['pending_approval', 0])
  expect(rulesOf(asked.decision)).toContain('mandate_unconfirmed')
  chain.trouble = 'none'
  chain.contracts.set(address.toLowerCase(), { message, signature: `0x${'cd'.repeat(80)}`, deployed: true })
  const refused = await pay()
  expect([refused.error, rulesOf(refused.details.decision)]).toEqual(['policy_denied', ['mandate_signature']])
  expect((await owner.api.post('/v1/spending-policies/simulate', request)).body.outcome).toBe('deny')
  chain.contracts.delete(address.toLowerCase())
  expect((await pay()).error).toBe('policy_denied')
})
